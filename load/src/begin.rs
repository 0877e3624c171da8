//! The first half of a worker's turn: requests that become due are begun on connections that have room, and
//! connections are opened for them.

use crate::connection::{Flight, Phase};
use crate::worker::Worker;
use net::{Io, Slot, clock};

/// A server that said it would close has so long to do it.
pub const DRAIN_NS: u64 = 1_000_000_000;

impl<I: Io> Worker<'_, I> {
    /// At the start, puts connections to work.
    pub(crate) fn enlist(&mut self, now: u64) {
        for slot in self.opening.enlist(self.origin_ns, now, self.wanted()) {
            self.next(slot as Slot, now);
        }
    }

    /// How many connections may be put to work by now.
    pub(crate) fn wanted(&self) -> usize {
        let waits = self.plan.connecting.one_first && self.window.answers() == 0;
        if waits { self.connections.len().min(1) } else { self.connections.len() }
    }

    /// Open load: gives requests that are due to connections that have room, in order of both.
    pub(crate) fn begin_due(&mut self, now: u64) {
        while let Some(slot) = self.line.front().copied() {
            let Some(due_ns) = self.take_due(now) else { return };
            self.line.pop_front();
            let connection = &mut self.connections[slot as usize];
            connection.is_in_line = false;
            // The lag is the generator's own: a request that waited for a connection waited for the server.
            self.window.tally.schedule_lag.record(now - due_ns.max(connection.since_ns).min(now));
            self.begin(slot, due_ns);
            self.launch(slot, now);
            self.offer(slot, now);
        }
    }

    /// Open load: takes the next request if it is due.
    pub(crate) fn take_due(&mut self, now: u64) -> Option<u64> {
        let pace = self.share.pace.as_mut()?;
        let due_ns = self.origin_ns + pace.due_ns();
        if due_ns > now {
            return None;
        }
        pace.advance();
        if due_ns >= self.window.start_ns {
            *self.window.tally.due.get_or_insert(0) += 1;
        }
        Some(due_ns)
    }

    /// A connection has room: gives it what it is to do next.
    #[inline]
    pub(crate) fn next(&mut self, slot: Slot, now: u64) {
        if self.share.pace.is_some() {
            self.offer(slot, now);
            return;
        }
        let connection = &mut self.connections[slot as usize];
        if connection.is_thinking {
            // The server closed the connection meanwhile; that is no reason to hurry.
            return;
        }
        if std::mem::take(&mut connection.has_to_think) && self.thinkers.wait(slot, now) {
            connection.is_thinking = true;
            return;
        }
        self.fill(slot, now);
    }

    /// Open load: takes requests that have waited for a connection, else stands in line for one.
    fn offer(&mut self, slot: Slot, now: u64) {
        while self.line.is_empty() && self.room(slot) > 0 {
            let Some(due_ns) = self.take_due(now) else { break };
            self.begin(slot, due_ns);
        }
        self.launch(slot, now);
        let has_room = self.room(slot) > 0;
        let connection = &mut self.connections[slot as usize];
        if has_room && !connection.is_in_line {
            connection.is_in_line = true;
            connection.since_ns = now;
            self.line.push_back(slot);
        }
    }

    /// Closed load: asks as much as there is room for.
    #[inline]
    pub(crate) fn fill(&mut self, slot: Slot, now: u64) {
        for _ in 0..self.room(slot) {
            if !self.begin(slot, now) {
                break;
            }
        }
        self.launch(slot, now);
    }

    /// How many more requests this connection can be given.
    #[inline]
    fn room(&self, slot: Slot) -> usize {
        let connection = &self.connections[slot as usize];
        if connection.phase == Phase::Draining || (self.plan.bursts && connection.in_flight() > 0) {
            return 0;
        }
        let room = self.plan.pipeline - connection.flights.len();
        match self.plan.load.per_connection() {
            None => room,
            Some(most) => room.min(most.saturating_sub(connection.asked)),
        }
    }

    /// Puts a request on a connection. False: all that were to be begun have been.
    #[inline]
    fn begin(&mut self, slot: Slot, due_ns: u64) -> bool {
        if self.window.is_open && self.share.answers.is_some_and(|n| self.window.begun >= n) {
            return false;
        }
        let connection = &mut self.connections[slot as usize];
        if connection.phase == Phase::Closed && connection.flights.is_empty() {
            if !self.opening.allot() {
                return false;
            }
            self.live += 1;
        }
        self.window.begun += 1;
        let ask = self.picker.next();
        connection.flights.push_back(Flight { due_ns, sent_ns: 0, ask });
        connection.unsent += 1;
        connection.asked += 1;
        true
    }

    /// Sends what was begun on this connection; opens it if need be.
    #[inline]
    fn launch(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.unsent == 0 {
            return;
        }
        match connection.phase {
            Phase::Open => self.send(slot, now),
            Phase::Closed if self.opening.is_paced() => {
                connection.phase = Phase::Queued;
                self.opening.line_up(slot);
            }
            Phase::Closed => self.open(slot),
            Phase::Queued | Phase::Connecting | Phase::Securing | Phase::Draining => {}
        }
    }

    pub(crate) fn open(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Connecting;
        connection.since_ns = clock::now_ns();
        connection.began_ns = connection.since_ns;
        connection.number = self.opening.number();
        self.io.connect(slot, self.opening.endpoint());
    }

    /// Sends all that is not sent yet, in one piece.
    #[inline]
    pub(crate) fn send(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        let unsent = std::mem::take(&mut connection.unsent);
        let first = connection.flights.len() - unsent;
        let most = self.plan.load.per_connection().unwrap_or(usize::MAX);
        let is_closed_load = self.share.pace.is_none();
        self.out.clear();
        for (at, flight) in connection.flights.range_mut(first..).enumerate() {
            flight.sent_ns = now;
            if is_closed_load {
                flight.due_ns = now;
            }
            let ask = &self.plan.asks[flight.ask as usize];
            let is_last = connection.asked - unsent + at + 1 == most;
            self.out.extend_from_slice(if is_last { &ask.last } else { &ask.request });
        }
        self.window.tally.sent += unsent as u64;
        self.window.tally.sent_bytes += self.out.len() as u64;
        self.io.send(slot, &self.out);
    }
}
