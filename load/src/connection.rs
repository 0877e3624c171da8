//! One connection of the load: its phase, and the requests on it. It has no buffer of its own. Its state only changes
//! by the methods here, so that its times and its requests always fit it.

use crate::check::Check;
use crate::outage::Outage;
use model::Plan;
use std::collections::VecDeque;
use wire::{Missing, ResponseParser};

/// The phase of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Not open. It is opened when a request needs it, not before: a connection that says nothing
    /// would block a server that handles one at a time.
    #[default]
    Closed,
    /// Waiting for its turn to be opened, where connections are opened at a rate.
    Queued,
    /// Being opened, with requests waiting for it.
    Connecting,
    /// Open, with the TLS handshake in progress.
    Securing,
    /// Open for requests.
    Open,
}

/// A request that was begun and has no whole answer yet, and everything that is known of its answer. Times are nanoseconds of the
/// monotonic clock.
#[derive(Debug)]
pub struct Flight {
    /// When it was due (open load) or sent (closed load).
    pub due_ns: u64,
    /// When it was sent; 0: not yet.
    pub sent_ns: u64,
    /// When the first bytes of its answer came; 0: not yet.
    pub first_byte_ns: u64,
    /// The index of the request among the plan's.
    pub ask: u32,
    /// The check of its answer.
    pub check: Check,
}

impl Flight {
    #[inline]
    fn new(due_ns: u64, ask: u32) -> Self {
        Self { due_ns, sent_ns: 0, first_byte_ns: 0, ask, check: Check::default() }
    }

    /// Records that bytes of its answer have come.
    #[inline]
    pub fn hear(&mut self, now_ns: u64) {
        if self.first_byte_ns == 0 {
            self.first_byte_ns = now_ns;
        }
    }
}

/// What was counted for a whole answer, so that it can be taken back when more bytes follow it than belong to it.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// In which of the accounts' periods it was counted.
    pub period: u32,
    /// Whether it was as expected.
    pub is_right: bool,
    /// The recorded latency, if it was recorded.
    pub latency_ns: Option<u64>,
    /// The recorded times from the send to the first bytes and to the last.
    pub first_byte_ns: u64,
    pub service_ns: u64,
    /// Open load: whether the request was due before the window.
    pub is_carried_in: bool,
}

/// A connection and the requests on it.
#[derive(Debug, Default)]
pub struct Connection {
    phase: Phase,
    /// Since when it has been in this phase.
    phase_since_ns: u64,
    /// When its opening last began.
    began_ns: u64,
    /// Its number among all that were begun; the worker's index is in the upper half.
    number: u64,
    /// When it was open and its handshake complete; 0: not yet.
    opened_ns: u64,
    /// The requests on it, the oldest first; answers come in this order.
    flights: VecDeque<Flight>,
    /// The number of requests, the last ones, that are not sent yet; 0 on an open connection.
    unsent: usize,
    /// The number of requests, the last ones that were sent, that are not in the kernel's hands yet.
    queued: usize,
    /// The number of requests begun on the connection since it was last opened.
    asked: usize,
    /// The number of whole answers on the connection since it was last opened.
    answered: usize,
    /// Whether an answer has ever begun on it.
    has_heard: bool,
    /// The number of whole answers within the window, over all times that it was opened.
    served: u64,
    /// The number of whole answers that came after the counted part of the slice before this one.
    late: u64,
    /// The number of requests lost within the window, over all times that it was opened.
    lost: u64,
    /// How long it has been without service.
    pub outage: Outage,
    /// The parser of the answers.
    pub parser: ResponseParser,
    /// Whether a part of its requests has to wait until the kernel takes it.
    pub is_sending: bool,
    /// The number of bytes of that part when the last bytes came; encrypted, where there is TLS.
    pub unsent_bytes: u64,
    /// How many bytes more TLS makes of each request that was handed over by itself.
    pub record_bytes: u64,
    /// The last whole answer since it was opened, as it was counted.
    pub last: Option<Answered>,
    /// Closed load: whether it was answered and its think time has not begun yet, whatever happens to the connection meanwhile.
    pub has_to_think: bool,
    /// Closed load: whether it waits (thinks) before its next request.
    pub is_thinking: bool,
    /// Slices: whether it was answered in its last slice, so that the next one's counted part waits for its first answer.
    pub is_awaited: bool,
}

impl Connection {
    /// A connection that is not open yet, with room for `pipeline` requests at once.
    pub fn new(pipeline: usize) -> Self {
        Self { flights: VecDeque::with_capacity(pipeline), is_awaited: true, ..Self::default() }
    }

    /// Its phase.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How long it has been in this phase.
    pub fn phase_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.phase_since_ns)
    }

    /// When its current wait exceeds `timeout_ns`, the longest time that a connection or an answer may take; `None`: it waits for nothing.
    pub fn overdue_ns(&self, timeout_ns: u64) -> Option<u64> {
        match self.phase {
            Phase::Closed | Phase::Queued => None,
            Phase::Connecting | Phase::Securing => Some(self.phase_since_ns.saturating_add(timeout_ns)),
            Phase::Open => self.in_flight().next().map(|oldest| oldest.sent_ns.saturating_add(timeout_ns)),
        }
    }

    /// Its number among all that were begun.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When it was begun, and when it was open with its handshake complete; 0: not yet.
    pub fn times_ns(&self) -> (u64, u64) {
        (self.began_ns, self.opened_ns)
    }

    /// Whether an answer has ever begun on it, however often it was opened.
    pub fn has_heard(&self) -> bool {
        self.has_heard
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// The requests on it, the oldest first, sent or not.
    pub fn flights(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter()
    }

    /// The requests that were sent.
    pub fn in_flight(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter().take(self.sent())
    }

    /// The requests that were sent, as the bytes of each, by the plan's asks.
    pub fn sent_requests<'p>(&self, plan: &'p Plan) -> impl Iterator<Item = &'p [u8]> {
        let most = plan.load.per_connection();
        let places = self.asked.saturating_sub(self.flights.len()) + 1..;
        places
            .zip(self.in_flight())
            .map(move |(nth, flight)| plan.asks[flight.ask as usize].bytes(Some(nth) == most))
    }

    /// The number of requests on it.
    #[inline]
    pub fn begun(&self) -> usize {
        self.flights.len()
    }

    /// The number of requests that were sent.
    #[inline]
    pub fn sent(&self) -> usize {
        self.flights.len() - self.unsent
    }

    /// The number of requests that were not sent.
    #[inline]
    pub fn unsent(&self) -> usize {
        self.unsent
    }

    /// The oldest request.
    #[inline]
    pub fn oldest(&self) -> Option<&Flight> {
        self.flights.front()
    }

    /// The oldest request, the parser that reads its answer, and whether an answer has ever begun on the connection.
    #[inline]
    pub fn reading(&mut self) -> Option<(&mut Flight, &mut ResponseParser, &mut bool)> {
        let Self { flights, parser, has_heard, .. } = self;
        Some((flights.front_mut()?, parser, has_heard))
    }

    /// The number of requests begun on the connection since it was last opened.
    #[inline]
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// The number of whole answers on the connection since it was last opened.
    #[inline]
    pub fn answered(&self) -> usize {
        self.answered
    }

    /// The number of whole answers within the window.
    pub fn served(&self) -> u64 {
        self.served
    }

    /// The same, with the late answers to the slice before.
    pub fn served_or_late(&self) -> u64 {
        self.served + self.late
    }

    /// The number of requests lost within the window.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Puts a request on it.
    #[inline]
    pub fn begin(&mut self, due_ns: u64, ask: u32) {
        self.flights.push_back(Flight::new(due_ns, ask));
        self.unsent += 1;
        self.asked += 1;
    }

    /// Marks all requests as sent: calls `each` for every one that was not sent before, with its place, from 1, among all that were sent on
    /// this connection. Returns their number.
    #[inline]
    pub fn send(&mut self, now_ns: u64, mut each: impl FnMut(&mut Flight, usize)) -> usize {
        debug_assert_eq!(self.phase, Phase::Open, "requests are sent on open connections");
        let unsent = std::mem::take(&mut self.unsent);
        let first = self.flights.len() - unsent;
        for (at, flight) in self.flights.range_mut(first..).enumerate() {
            flight.sent_ns = now_ns;
            each(flight, self.asked - unsent + at + 1);
        }
        unsent
    }

    /// Records that the last requests that were sent are not in the kernel's hands yet.
    #[inline]
    pub fn wait_for_kernel(&mut self, requests: usize) {
        self.queued += requests;
    }

    /// Records that all requests that were sent are in the kernel's hands at `now_ns`; calls `each` for those that were not before.
    #[inline]
    pub fn hand_over(&mut self, now_ns: u64, mut each: impl FnMut(&mut Flight)) {
        let sent = self.sent();
        // A request can't be answered before it is handed over, but its connection can be lost.
        let first = sent - std::mem::take(&mut self.queued).min(sent);
        for flight in self.flights.range_mut(first..sent) {
            each(flight);
            flight.sent_ns = now_ns;
        }
    }

    /// What has arrived of the oldest request's answer, which stays unfinished.
    #[cold]
    pub fn unfinished(&self) -> String {
        let received = self.oldest().map_or(0, |oldest| oldest.check.length());
        match self.parser.missing() {
            Missing::All => "no answer".to_owned(),
            Missing::Head => "an unfinished head".to_owned(),
            Missing::Length { announced } => format!("{announced} bytes announced, {received} received"),
            Missing::LastChunk => format!("{received} bytes in chunks, without the last chunk,"),
            Missing::Close => format!("{received} bytes of a body that ends with the connection"),
            Missing::EndOfStream => format!("{received} bytes, without the end of the stream,"),
        }
    }

    /// Removes the oldest request, whose answer is whole.
    #[inline]
    pub fn finish_oldest(&mut self) -> Option<Flight> {
        debug_assert!(self.sent() > 0, "only a request that was sent is answered");
        let flight = self.flights.pop_front()?;
        self.served += 1;
        self.answered += 1;
        self.has_to_think = true;
        Some(flight)
    }

    /// Lets it wait to be opened: for its turn, or for another time because it could not be opened, through no fault of its peer.
    pub fn queue(&mut self, now_ns: u64) {
        debug_assert!(matches!(self.phase, Phase::Closed | Phase::Connecting));
        self.enter(Phase::Queued, now_ns);
    }

    /// Begins to open it.
    pub fn connect(&mut self, now_ns: u64, number: u64) {
        debug_assert!(matches!(self.phase, Phase::Closed | Phase::Queued));
        self.enter(Phase::Connecting, now_ns);
        (self.began_ns, self.number) = (now_ns, number);
    }

    /// Begins the TLS handshake.
    pub fn secure(&mut self, now_ns: u64) {
        debug_assert_eq!(self.phase, Phase::Connecting);
        self.enter(Phase::Securing, now_ns);
    }

    /// Opens it for requests.
    pub fn open(&mut self, now_ns: u64) {
        debug_assert!(matches!(self.phase, Phase::Connecting | Phase::Securing));
        self.enter(Phase::Open, now_ns);
        self.opened_ns = now_ns;
    }

    /// Counts the oldest request as lost.
    pub fn lose_oldest(&mut self) -> Option<Flight> {
        let flight = self.flights.pop_front()?;
        self.lost += 1;
        Some(flight)
    }

    /// Counts the requests on it as lost.
    pub fn lose_all(&mut self) {
        self.lost += self.flights.len() as u64;
        self.withdraw_all();
    }

    /// Takes the requests on it back.
    pub fn withdraw_all(&mut self) {
        self.flights.clear();
        (self.unsent, self.queued) = (0, 0);
    }

    /// Takes all sends back: its requests are to be sent again when it has been closed and opened again.
    pub fn unsend_all(&mut self) {
        (self.unsent, self.queued) = (self.flights.len(), 0);
        self.flights.iter_mut().for_each(|flight| *flight = Flight::new(flight.due_ns, flight.ask));
    }

    /// Closes it.
    pub fn close(&mut self, now_ns: u64) {
        debug_assert!(
            self.sent() == 0,
            "requests that were sent are answered, lost or taken back before their connection is closed"
        );
        self.enter(Phase::Closed, now_ns);
        self.opened_ns = 0;
        self.parser = ResponseParser::new();
        self.last = None;
        (self.is_sending, self.unsent_bytes) = (false, 0);
        self.asked = self.flights.len();
        self.answered = 0;
    }

    /// Clears its counts when the window opens.
    pub fn open_window(&mut self) {
        (self.served, self.late, self.lost) = (0, 0, 0);
    }

    /// Clears its counts when a slice begins. What was answered since the counted part of the slice before is late.
    pub fn begin_slice(&mut self) {
        (self.late, self.served, self.lost) = (self.served, 0, 0);
        self.outage = Outage::default();
    }

    fn enter(&mut self, phase: Phase, now_ns: u64) {
        self.phase = phase;
        self.phase_since_ns = now_ns;
    }
}

/// The number of open connections.
pub fn open(connections: &[Connection]) -> u64 {
    connections.iter().filter(|connection| connection.is_open()).count() as u64
}
