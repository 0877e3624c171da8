//! The first half of a pass of a worker's loop: begins requests that become due on connections that have room, and opens connections for
//! them.

use crate::connection::{Connection, Phase};
use crate::offered::Offered;
use crate::worker::Worker;
use net::{Io, Slot};
use wire::ClientSession;

/// Closed load: the number of sends after which they are handed to the kernel although the pass goes on. A system call costs
/// a request an eighth of its price then, and the kernel takes a few microseconds for so many sends, which the last of them waits.
const SENDS_AT_ONCE: usize = 8;

impl<'p, I: Io, S: ClientSession<'p>> Worker<'p, I, S> {
    /// Puts connections to work, at the start.
    pub(crate) fn enlist(&mut self, now: u64) {
        for slot in self.opening.enlist(self.origin_ns, now, self.wanted()) {
            self.next(slot as Slot, now);
        }
    }

    /// The number of connections that may be put to work by now.
    pub(crate) fn wanted(&self) -> usize {
        let waits = self.plan.connecting.one_first && self.accounts.answers() == 0;
        if waits { self.connections.len().min(1) } else { self.connections.len() }
    }

    /// Open load: gives requests that are due to connections that have room, in order of both.
    pub(crate) fn begin_due(&mut self, now: u64) {
        let mut since_ns = None;
        while let Some(free) = self.offered.as_ref().and_then(Offered::first) {
            if self.room(free.slot) > 0 {
                let Some(due_ns) = self.take_due(now) else { return };
                self.begin(free.slot, due_ns);
                if let Some(offered) = &mut self.offered {
                    since_ns.get_or_insert(due_ns.max(free.since_ns()));
                    offered.given(due_ns, free);
                    offered.leave();
                }
                self.launch(free.slot, now);
                self.offer(free.slot, now);
            } else if let Some(offered) = &mut self.offered {
                // It had room, and has none any more: no connection may be opened.
                offered.leave();
            }
        }
        if let (Some(since_ns), Some(offered)) = (since_ns, &mut self.offered) {
            offered.was_late(since_ns, now);
        }
    }

    /// The number of further requests that the measurement may have.
    #[inline]
    pub(crate) fn requests_left(&self) -> u64 {
        let most = self.share.answers.filter(|_| self.window.is_open());
        most.map_or(u64::MAX, |most| most.saturating_sub(self.accounts.begun_in_window()))
    }

    /// Open load: takes the next request if it is due. Beyond the last request of the measurement none becomes due.
    pub(crate) fn take_due(&mut self, now: u64) -> Option<u64> {
        if self.requests_left() == 0 {
            return None;
        }
        let due_ns = self.offered.as_mut()?.take_due(now)?;
        self.accounts.due(due_ns);
        Some(due_ns)
    }

    /// Gives a connection that has room its next task.
    #[inline]
    pub(crate) fn next(&mut self, slot: Slot, now: u64) {
        if self.offered.is_some() {
            self.offer(slot, now);
            return;
        }
        let connection = &mut self.connections[slot as usize];
        if connection.is_thinking {
            // The server closed the connection meanwhile; the wait goes on all the same.
            return;
        }
        if std::mem::take(&mut connection.has_to_think) && self.thinkers.wait(slot, now) {
            connection.is_thinking = true;
            return;
        }
        self.fill(slot, now);
    }

    /// Open load: records the lag of a request that has waited for a connection, if it waited for the load generator before that.
    #[inline]
    fn waited(&mut self, due_ns: u64, now: u64) {
        let late_ns = self.offered.as_ref().map_or(0, |offered| offered.late_ns(due_ns));
        if late_ns > 0 {
            self.accounts.left(now - late_ns, now);
        }
    }

    /// Open load: takes requests that have waited for a connection, or else puts the connection in line.
    fn offer(&mut self, slot: Slot, now: u64) {
        while self.room(slot) > 0 && self.offered.as_ref().is_some_and(Offered::is_line_empty) {
            let Some(due_ns) = self.take_due(now) else { break };
            self.begin(slot, due_ns);
            self.waited(due_ns, now);
        }
        self.launch(slot, now);
        if self.room(slot) > 0
            && let Some(offered) = &mut self.offered
        {
            offered.line_up(slot, now);
        }
    }

    /// Closed load: begins as many requests as there is room for.
    #[inline]
    pub(crate) fn fill(&mut self, slot: Slot, now: u64) {
        for _ in 0..self.room(slot) {
            if !self.begin(slot, now) {
                break;
            }
        }
        self.launch(slot, now);
    }

    /// The number of further requests that this connection can be given.
    #[inline]
    fn room(&self, slot: Slot) -> usize {
        let connection = &self.connections[slot as usize];
        if !self.is_asking
            || (self.plan.bursts && connection.sent() > 0)
            || self.has_no_opening_left(connection)
        {
            return 0;
        }
        let takes = self.sessions[slot as usize].room().saturating_sub(connection.unsent());
        let room = takes.min(self.plan.pipeline - connection.begun());
        match self.plan.load.per_connection() {
            None => room,
            Some(most) => room.min(most.saturating_sub(connection.asked())),
        }
    }

    /// Whether this connection would have to be opened and may not be.
    #[inline]
    fn has_no_opening_left(&self, connection: &Connection) -> bool {
        connection.phase() == Phase::Closed && connection.begun() == 0 && !self.opening.may_open()
    }

    /// Puts a request on a connection, which has room. False: all requests of the measurement have been begun.
    #[inline]
    fn begin(&mut self, slot: Slot, due_ns: u64) -> bool {
        if self.requests_left() == 0 {
            return false;
        }
        let connection = &mut self.connections[slot as usize];
        if connection.phase() == Phase::Closed && connection.begun() == 0 {
            self.opening.allot();
        }
        connection.begin(due_ns, self.picker.next());
        self.accounts.begun();
        true
    }

    /// Sends the requests that were begun on this connection; opens it if necessary.
    #[inline]
    pub(crate) fn launch(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.unsent() == 0 {
            return;
        }
        match connection.phase() {
            Phase::Open => self.send(slot, now),
            Phase::Closed if self.opening.is_paced() => {
                connection.queue(now);
                self.opening.line_up(slot);
            }
            Phase::Closed => self.open(slot),
            Phase::Queued | Phase::Connecting | Phase::Securing => {}
        }
    }

    pub(crate) fn open(&mut self, slot: Slot) {
        let number = self.opening.number();
        let now = self.io.now_ns();
        self.connections[slot as usize].connect(now, number);
        self.deadlines.watch(slot, now + self.look_ns);
        self.io.connect(slot, self.opening.endpoint());
    }

    /// Opens the session of a connection that has just been opened, and sends its requests.
    pub(crate) fn begin_session(&mut self, slot: Slot, now: u64) {
        self.sessions[slot as usize].open(&mut self.shared, &mut self.out);
        self.send(slot, now);
    }

    /// Sends everything that is not sent yet and that the server takes, in one piece.
    #[inline]
    pub(crate) fn send(&mut self, slot: Slot, now: u64) {
        let Self { connections, sessions, shared, out, .. } = self;
        let (connection, session) = (&mut connections[slot as usize], &mut sessions[slot as usize]);
        let most = self.plan.load.per_connection().unwrap_or(usize::MAX);
        let is_closed_load = self.offered.is_none();
        let requests = connection.send(now, session.room(), |flight, nth| {
            if is_closed_load && flight.refusals == 0 {
                flight.due_ns = now;
            }
            let before = out.len();
            session.begin(shared, flight.ask as usize, nth == most, out);
            flight.request_bytes = (out.len() - before) as u64;
        });
        if out.is_empty() {
            return;
        }
        // A back end that sends at once does so at the reading that the request counts from: there is no wait to tell.
        let waits = is_closed_load && !self.io.sends_at_once();
        if waits {
            connection.wait_for_kernel(requests);
            self.queued.push(slot);
        }
        self.accounts.sent(requests, self.out.len());
        self.deadlines.watch(slot, now + self.look_ns);
        self.send_written(slot);
        if waits && self.queued.len() >= SENDS_AT_ONCE {
            self.hand_over(now);
            // A failure here comes again when the pass ends, where it can be told.
            let _ = self.io.flush();
        }
    }

    /// Hands over what was written for this connection.
    #[inline]
    pub(crate) fn send_written(&mut self, slot: Slot) {
        if self.out.is_empty() {
            return;
        }
        if !self.io.send(slot, &self.out) {
            self.connections[slot as usize].is_sending = true;
        }
        self.out.clear();
    }

    /// Closed load: records that what was sent since the last call is handed to the kernel now. A request counts from then; how long it
    /// waited for that is the load generator's lag. `now`: the last reading of the clock before.
    #[inline]
    pub(crate) fn hand_over(&mut self, now: u64) {
        let Self { queued, connections, accounts, .. } = self;
        for slot in queued.drain(..) {
            connections[slot as usize].hand_over(now, |flight| {
                accounts.left(flight.sent_ns, now);
                if flight.refusals == 0 {
                    flight.due_ns = now;
                }
            });
        }
    }
}
