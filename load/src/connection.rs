//! One connection of the load: where it stands, and the requests on it. No buffer of its own. Its state only changes
//! by the methods here, so that its times and its requests always fit it.

use crate::check::Check;
use std::collections::VecDeque;
use wire::ResponseParser;

/// A server that said it would close has so long to do it.
const DRAIN_NS: u64 = 1_000_000_000;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not open. It is opened when a request needs it, not before: a connection that says nothing
    /// would block a server that handles one at a time.
    Closed,
    /// Waits for its turn to be opened, where connections are opened at a rate.
    Queued,
    /// On its way, with requests waiting for it.
    Connecting,
    /// Open, and the TLS handshake is under way.
    Securing,
    /// Open for requests.
    Open,
    /// The last answer is whole and the server has said that it will close: it goes first, so that its
    /// side, not ours, keeps the port busy afterwards.
    Draining,
}

/// A request that was begun and has no whole answer yet. Times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// When it was due (open load) or sent (closed load).
    pub due_ns: u64,
    /// When it was sent; 0: not yet.
    pub sent_ns: u64,
    /// Which of the plan's requests it is.
    pub ask: u32,
}

/// A connection and the requests on it.
#[derive(Debug)]
pub struct Connection {
    phase: Phase,
    /// Since when it stands there.
    phase_since_ns: u64,
    /// When it was last begun.
    began_ns: u64,
    /// Its place among all that were begun; the worker's index is in the upper half.
    number: u64,
    /// When it was open and its handshake over; 0: not yet.
    opened_ns: u64,
    /// The requests on it, the oldest first; answers come in this order.
    flights: VecDeque<Flight>,
    /// How many of them, the last ones, are not sent yet. None where it is open.
    unsent: usize,
    /// When the first bytes of the oldest one's answer came; 0: not yet.
    first_byte_ns: u64,
    /// Requests begun on the connection as it is now open.
    asked: usize,
    /// Whole answers on the connection as it is now open.
    answered: usize,
    /// An answer has begun on it, at any time.
    has_heard: bool,
    /// Whole answers within the window, over all times that it was opened.
    served: u64,
    /// Requests lost within the window, over all times that it was opened.
    lost: u64,
    /// Reads the answers.
    pub parser: ResponseParser,
    /// Judges the answer.
    pub check: Check,
    /// Closed load: it was answered and has not thought about it yet, however the connection fares meanwhile.
    pub has_to_think: bool,
    /// Closed load: it waits before it asks again.
    pub is_thinking: bool,
    /// Slices: it was answered in its last one, so that the next one's counted part waits for its first answer.
    pub is_awaited: bool,
}

impl Connection {
    /// Not yet open, with room for so many requests at once.
    pub fn new(pipeline: usize, has_digest: bool) -> Self {
        Self {
            phase: Phase::Closed,
            phase_since_ns: 0,
            began_ns: 0,
            number: 0,
            opened_ns: 0,
            flights: VecDeque::with_capacity(pipeline),
            unsent: 0,
            first_byte_ns: 0,
            asked: 0,
            answered: 0,
            has_heard: false,
            served: 0,
            lost: 0,
            parser: ResponseParser::new(),
            check: Check::new(has_digest),
            has_to_think: false,
            is_thinking: false,
            is_awaited: true,
        }
    }

    /// Where it stands.
    #[inline]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How long it has stood there.
    pub fn phase_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.phase_since_ns)
    }

    /// When what it waits for takes too long, if a connection or an answer may take so long; none: it waits for nothing.
    pub fn overdue_ns(&self, timeout_ns: u64) -> Option<u64> {
        match self.phase {
            Phase::Closed | Phase::Queued => None,
            Phase::Connecting | Phase::Securing => Some(self.phase_since_ns.saturating_add(timeout_ns)),
            Phase::Open => self.in_flight().next().map(|oldest| oldest.sent_ns.saturating_add(timeout_ns)),
            Phase::Draining => Some(self.phase_since_ns + DRAIN_NS),
        }
    }

    /// Its number among all that were begun.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// When it was begun, and when it was open with its handshake over; 0: not yet.
    pub fn times_ns(&self) -> (u64, u64) {
        (self.began_ns, self.opened_ns)
    }

    /// When the first bytes of the oldest request's answer came; 0: not yet.
    pub fn first_byte_ns(&self) -> u64 {
        self.first_byte_ns
    }

    /// It stands open, whether or not the server has said that it will close it.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Draining)
    }

    /// Requests on it, the oldest first, sent or not.
    pub fn flights(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter()
    }

    /// Those that were sent.
    pub fn in_flight(&self) -> impl Iterator<Item = &Flight> {
        self.flights.iter().take(self.sent())
    }

    /// How many requests are on it.
    #[inline]
    pub fn begun(&self) -> usize {
        self.flights.len()
    }

    /// How many of them were sent.
    #[inline]
    pub fn sent(&self) -> usize {
        self.flights.len() - self.unsent
    }

    /// How many of them were not.
    #[inline]
    pub fn unsent(&self) -> usize {
        self.unsent
    }

    /// The oldest one.
    #[inline]
    pub fn oldest(&self) -> Option<&Flight> {
        self.flights.front()
    }

    /// Requests begun on the connection as it is now open.
    #[inline]
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// Whole answers on the connection as it is now open.
    #[inline]
    pub fn answered(&self) -> usize {
        self.answered
    }

    /// Whole answers within the window.
    pub fn served(&self) -> u64 {
        self.served
    }

    /// Requests lost within the window.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Puts a request on it.
    #[inline]
    pub fn begin(&mut self, due_ns: u64, ask: u32) {
        self.flights.push_back(Flight { due_ns, sent_ns: 0, ask });
        self.unsent += 1;
        self.asked += 1;
    }

    /// All requests are sent now: shows each that was not before, with its place among those that were asked on this
    /// connection. Returns how many they are.
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

    /// Bytes of the oldest request's answer have come.
    #[inline]
    pub fn hear(&mut self, now_ns: u64) {
        if self.first_byte_ns == 0 {
            self.first_byte_ns = now_ns;
        }
    }

    /// An answer begins. True: it is the first, however often the connection was opened.
    #[inline]
    pub fn hears_first(&mut self) -> bool {
        !std::mem::replace(&mut self.has_heard, true)
    }

    /// The oldest request's answer is whole.
    #[inline]
    pub fn finish_oldest(&mut self) -> Option<Flight> {
        debug_assert!(self.sent() > 0, "only a request that was sent is answered");
        let flight = self.flights.pop_front()?;
        self.served += 1;
        self.answered += 1;
        self.has_to_think = true;
        Some(flight)
    }

    /// What is known of the answer that came last is forgotten.
    #[inline]
    pub fn forget_answer(&mut self) {
        self.first_byte_ns = 0;
        self.check.clear();
    }

    /// Waits for its turn to be opened.
    pub fn queue(&mut self, now_ns: u64) {
        debug_assert_eq!(self.phase, Phase::Closed);
        self.enter(Phase::Queued, now_ns);
    }

    /// Is on its way.
    pub fn connect(&mut self, now_ns: u64, number: u64) {
        debug_assert!(matches!(self.phase, Phase::Closed | Phase::Queued));
        self.enter(Phase::Connecting, now_ns);
        (self.began_ns, self.number) = (now_ns, number);
    }

    /// The TLS handshake begins.
    pub fn secure(&mut self, now_ns: u64) {
        debug_assert_eq!(self.phase, Phase::Connecting);
        self.enter(Phase::Securing, now_ns);
    }

    /// Is open for requests.
    pub fn open(&mut self, now_ns: u64) {
        debug_assert!(matches!(self.phase, Phase::Connecting | Phase::Securing));
        self.enter(Phase::Open, now_ns);
        self.opened_ns = now_ns;
    }

    /// The server has said that it will close.
    pub fn drain(&mut self, now_ns: u64) {
        debug_assert!(self.phase == Phase::Open && self.flights.is_empty(), "nothing waits for it any more");
        self.enter(Phase::Draining, now_ns);
    }

    /// The requests on it are lost.
    pub fn lose_all(&mut self) {
        self.lost += self.flights.len() as u64;
        self.flights.clear();
        self.unsent = 0;
    }

    /// The requests on it are taken back.
    pub fn withdraw_all(&mut self) {
        self.flights.clear();
        self.unsent = 0;
    }

    /// Is closed.
    pub fn close(&mut self, now_ns: u64) {
        debug_assert!(
            self.flights.is_empty(),
            "requests are answered or lost before their connection is closed"
        );
        self.enter(Phase::Closed, now_ns);
        self.opened_ns = 0;
        self.forget_answer();
        self.parser = ResponseParser::new();
        self.asked = 0;
        self.answered = 0;
    }

    /// The window opens.
    pub fn open_window(&mut self) {
        (self.served, self.lost) = (0, 0);
    }

    fn enter(&mut self, phase: Phase, now_ns: u64) {
        self.phase = phase;
        self.phase_since_ns = now_ns;
    }
}

/// How many of them are open.
pub fn open(connections: &[Connection]) -> u64 {
    connections.iter().filter(|connection| connection.is_open()).count() as u64
}
