//! The second half of a pass of a worker's loop: handles what completes on a connection.

use crate::accounts::BEHIND;
use crate::connection::{Flight, Phase};
use crate::error::ran_out;
use crate::reader::{Read, Reading};
use crate::request_end::LossCause;
use crate::worker::Worker;
use model::{Agreed, Loss};
use net::{Completion, Errno, Event, Handshake, Io, Operation, Slot};
use std::sync::atomic::Ordering;
use wire::{ClientSession, Missing, WireError};

/// The size of the rest of a body from which on the kernel drops it, if it is not verified.
const SKIP_BYTES: u64 = 8 * 1024;

/// The time that a server has to close a connection after its last answer. Servers that close do so within a fraction of a millisecond,
/// under load within a few; see [`Io::retire`] for what happens to others.
const CLOSING_NS: u64 = 10_000_000;

/// The cause where a server has TLS and not the protocol that was asked for.
const NOT_AGREED: &str =
    "the server does not speak HTTP/2 on this port (ALPN): leave --http2 out for HTTP/1.1; gRPC needs HTTP/2";

/// The cause where a connection takes no more requests before it has answered one.
const TAKES_NONE: &str = "the server took no request on the connection and is about to close it";

/// The cause of a TLS connection's cut: a body that ends with the close is whole only if the close was announced (RFC 9112 section 9.8).
const CUT: &str =
    "the TLS connection was cut (no close_notify): a body that ends with the connection may be incomplete";

/// The reading of what came on a connection of a worker, of which it borrows everything but the back end that has the bytes.
macro_rules! reading {
    ($worker:ident, $slot:ident, $now_ns:ident) => {
        Reading {
            plan: $worker.plan,
            accounts: &mut $worker.accounts,
            reader: &mut $worker.reader,
            connection: &mut $worker.connections[$slot as usize],
            session: &mut $worker.sessions[$slot as usize],
            shared: &mut $worker.shared,
            out: &mut $worker.out,
            now_ns: $now_ns,
        }
    };
}

impl<'p, I: Io, S: ClientSession<'p>> Worker<'p, I, S> {
    /// Handles one completion.
    #[inline]
    pub(crate) fn take(&mut self, completion: Completion) {
        let Completion { slot, event } = completion;
        match event {
            Event::Received => self.received(slot),
            Event::Skipped(bytes) => self.skipped(slot, bytes),
            Event::Connected => self.connected(slot),
            Event::Ended => self.ended(slot),
            Event::Failed(operation, errno) => self.broke(slot, operation, errno),
            Event::Secured => self.secured(slot),
            Event::Drained => {
                let connection = &mut self.connections[slot as usize];
                (connection.is_sending, connection.unsent_bytes) = (false, 0);
            }
            Event::Accepted => {}
        }
    }

    fn connected(&mut self, slot: Slot) {
        let now = self.io.now_ns();
        let connection = &mut self.connections[slot as usize];
        self.accounts.connected(connection.phase_ns(now));
        if self.plan.target.tls {
            connection.secure(now);
            return;
        }
        connection.open(now);
        self.begin_session(slot, now);
    }

    fn secured(&mut self, slot: Slot) {
        let now = self.io.now_ns();
        let connection = &mut self.connections[slot as usize];
        let handshake = self.io.handshake(slot);
        let is_resumed = handshake.is_some_and(|handshake| handshake.is_resumed);
        let agreed = || {
            handshake.map(|Handshake { protocol, cipher_suite, group, .. }| Agreed {
                protocol,
                cipher_suite,
                group,
            })
        };
        self.accounts.secured(connection.phase_ns(now), is_resumed, agreed);
        if S::IS_AGREED_ON && handshake.is_none_or(|handshake| !handshake.is_http2) {
            self.halt(|| NOT_AGREED.to_owned());
            return self.give_up(slot, now, LossCause::of_all(Loss::Handshake, NOT_AGREED));
        }
        if !self.progress.secured.load(Ordering::Relaxed) {
            self.progress.secured.store(true, Ordering::Relaxed);
        }
        connection.open(now);
        self.begin_session(slot, now);
    }

    /// Notes how much of the requests of a connection has not been sent, before its bytes are read.
    #[inline]
    fn note_unsent(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if connection.is_sending {
            connection.unsent_bytes = self.io.unsent(slot);
            connection.record_bytes = self.io.record_bytes(slot);
        }
    }

    #[inline]
    fn received(&mut self, slot: Slot) {
        let now = self.io.now_ns();
        if self.window.is_over(now) {
            return;
        }
        self.note_unsent(slot);
        let bytes = self.io.bytes();
        self.accounts.received(self.connections[slot as usize].number(), now, bytes);
        let read = reading!(self, slot, now).read(bytes);
        self.go_on(slot, now, read);
    }

    fn skipped(&mut self, slot: Slot, bytes: u64) {
        let now = self.io.now_ns();
        if self.window.is_over(now) {
            return;
        }
        self.note_unsent(slot);
        self.accounts.skipped(now, bytes);
        self.sessions[slot as usize].skip(bytes);
        if let Some(flight) = self.connections[slot as usize].flight(0) {
            flight.check.skip(bytes);
        }
        let read = match self.sessions[slot as usize].skippable() {
            Some(0) => reading!(self, slot, now).read(&[]),
            _ => Read::On(0),
        };
        self.go_on(slot, now, read);
    }

    #[inline]
    fn go_on(&mut self, slot: Slot, now: u64, read: Read) {
        if !self.out.is_empty() {
            self.accounts.sent(0, self.out.len());
            self.send_written(slot);
        }
        match read {
            // The server may take more requests than before, or again those that it refused.
            Read::On(0) if !S::IN_ORDER || self.connections[slot as usize].unsent() > 0 => {
                self.next(slot, now);
            }
            Read::On(0) => self.skip_rest(slot),
            Read::On(_) => {
                self.after_answer(slot, now);
                self.skip_rest(slot);
            }
            Read::Last => self.after_last(slot, now),
            Read::Excess => self.ask_anew(slot, now),
            Read::Malformed(error) => self.malformed(slot, now, error),
        }
    }

    #[cold]
    fn malformed(&mut self, slot: Slot, now: u64, error: WireError) {
        let why = error.to_string();
        let connection = &mut self.connections[slot as usize];
        let never_asked = connection.sent() == 0;
        // Where answers come in any order, the server may have looked at all of them.
        if !S::IN_ORDER || never_asked || (connection.answered() == 0 && self.offered.is_some()) {
            let behind = S::IN_ORDER.then_some("the answer before it was not HTTP");
            let cause = LossCause { behind, ..LossCause::of_all(Loss::Protocol, &why) };
            return self.give_up(slot, now, cause);
        }
        // How many are behind it depends on how the bytes were cut; nothing is known against them.
        self.accounts.lose_one(connection, 0, now, Loss::Protocol, &why);
        self.ask_anew(slot, now);
    }

    /// Lets the kernel drop the rest of a large body that is not verified.
    #[inline]
    fn skip_rest(&mut self, slot: Slot) {
        let connection = &self.connections[slot as usize];
        let is_unread = |flight: &Flight| !flight.check.looks();
        let is_dropped = self.can_skip && connection.oldest().is_some_and(is_unread);
        let session = &self.sessions[slot as usize];
        let left = session.skippable().filter(|left| is_dropped && *left >= SKIP_BYTES);
        if let Some(left) = left {
            self.io.skip(slot, left);
        }
    }

    #[inline]
    fn after_answer(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        let is_full = self.plan.load.per_connection().is_some_and(|most| connection.asked() >= most);
        if is_full && connection.begun() == 0 {
            if self.says_last {
                self.retire(slot, now);
            } else {
                // The server does not know that this was the last request.
                self.shut(slot, now);
            }
        }
        self.next(slot, now);
    }

    /// Handles the last answer on a connection, which the server closes now. Requests behind this answer are lost, unless the server said
    /// that it has not looked at them.
    fn after_last(&mut self, slot: Slot, now: u64) {
        let is_used = self.connections[slot as usize].answered() > 0 || self.was_closed_idle(slot);
        if !S::IN_ORDER && is_used {
            return self.ask_anew(slot, now);
        }
        let connection = &mut self.connections[slot as usize];
        if !S::IN_ORDER && connection.begun() > 0 {
            return self.give_up(slot, now, LossCause::of_all(Loss::Ended, TAKES_NONE));
        }
        if connection.begun() > 0 {
            self.accounts.lost(connection, now, LossCause::of_all(Loss::Ended, BEHIND));
        }
        self.open_anew(slot, now);
    }

    fn ended(&mut self, slot: Slot) {
        let now = self.io.now_ns();
        if self.window.is_over(now) {
            return;
        }
        if self.connections[slot as usize].begun() == 0 {
            return self.open_anew(slot, now);
        }
        if self.was_closed_idle(slot) {
            return self.ask_anew(slot, now);
        }
        self.note_unsent(slot);
        let error = match self.sessions[slot as usize].closed() {
            Ok(Some(_)) if self.io.ended_cleanly(slot) == Some(false) => CUT.to_owned(),
            Ok(Some(_)) => {
                reading!(self, slot, now).whole(0, false, false, None);
                let connection = &mut self.connections[slot as usize];
                if connection.begun() > 0 {
                    self.accounts.lost(connection, now, LossCause::of_all(Loss::Ended, BEHIND));
                }
                return self.open_anew(slot, now);
            }
            Ok(None) => "the server closed the connection without an answer".to_owned(),
            Err(WireError::Truncated) => self.unfinished(slot) + " when the server closed the connection",
            Err(error) => error.to_string(),
        };
        let behind = S::IN_ORDER.then_some(BEHIND);
        self.give_up(slot, now, LossCause { behind, ..LossCause::of_all(Loss::Ended, &error) });
    }

    fn broke(&mut self, slot: Slot, operation: Operation, errno: Errno) {
        let now = self.io.now_ns();
        if self.window.is_over(now) {
            return;
        }
        if self.connections[slot as usize].begun() == 0 {
            return self.open_anew(slot, now);
        }
        if matches!(operation, Operation::Send | Operation::Receive) && self.was_closed_idle(slot) {
            return self.ask_anew(slot, now);
        }
        let loss = match operation {
            Operation::Connect => Loss::Connect,
            Operation::Handshake => Loss::Handshake,
            Operation::Send => Loss::Send,
            Operation::Local => Loss::Local,
            Operation::Receive | Operation::Accept => Loss::Receive,
        };
        if loss == Loss::Local && self.may_find_resources(slot, now) {
            return self.wait_for_resources(slot, now);
        }
        let mut why = self.io.reason(slot).map_or_else(|| errno.to_string(), str::to_owned);
        if loss == Loss::Receive && self.sessions[slot as usize].missing() != Missing::All {
            why = format!("{why}: {}", self.unfinished(slot));
        }
        match loss {
            Loss::Local => self.halt(|| ran_out(errno)),
            // If no connection has ever completed a handshake, no other one will.
            Loss::Handshake if !self.progress.secured.load(Ordering::Relaxed) => {
                self.halt(|| format!("the TLS handshake failed: {why}"));
            }
            _ => {}
        }
        self.give_up(slot, now, LossCause::of_all(loss, &why));
    }

    /// Whether the server closed this connection while it was idle between two slices, and the next slice's first request was
    /// already on its way (RFC 9112 section 9.3.1: a client has to expect that, and may ask again).
    #[cold]
    fn was_closed_idle(&self, slot: Slot) -> bool {
        let began_ns = self.renews_before_ns;
        let connection = &self.connections[slot as usize];
        let (_, opened_ns) = connection.times_ns();
        let is_old = opened_ns > 0 && opened_ns < began_ns;
        let is_new = |flight: &Flight| flight.sent_ns >= began_ns && flight.first_byte_ns == 0;
        is_old && connection.served() == 0 && connection.in_flight().all(is_new)
    }

    /// Whether this connection can't be opened because those that were given up hold what it needs: ports, descriptors.
    #[cold]
    fn may_find_resources(&mut self, slot: Slot, now: u64) -> bool {
        if self.io.retired_until_ns().is_some() {
            self.io.close_retired(u64::MAX);
            // The kernel takes them back in its own time.
            self.scarce_until_ns = now + CLOSING_NS;
        }
        now < self.scarce_until_ns && self.connections[slot as usize].phase() == Phase::Connecting
    }

    /// Opens a connection at the next housekeeping instead of now.
    #[cold]
    fn wait_for_resources(&mut self, slot: Slot, now: u64) {
        self.io.close(slot);
        self.connections[slot as usize].queue(now);
        if self.opening.is_paced() {
            self.opening.line_up(slot);
        } else {
            self.failed.push(slot);
        }
    }

    /// Sends the requests of a connection, if any, again on a new one.
    #[cold]
    pub(crate) fn ask_anew(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        let brought_none = connection.answered() == 0 && !self.was_closed_idle(slot);
        let connection = &mut self.connections[slot as usize];
        if brought_none {
            // A server that says nothing right is not hammered.
            self.accounts.take_back(connection);
            self.shut(slot, now);
            self.failed.push(slot);
        } else if connection.begun() > 0 && self.is_asking && self.opening.may_open() {
            self.opening.allot();
            self.accounts.unsend_all(connection);
            self.retire(slot, now);
            self.launch(slot, now);
        } else {
            self.accounts.take_back(connection);
            self.open_anew(slot, now);
        }
    }

    /// Ends the measurement before its time, on all threads.
    #[cold]
    pub(crate) fn halt(&mut self, why: impl FnOnce() -> String) {
        self.accounts.halt(why);
        self.progress.halted.store(true, Ordering::Relaxed);
    }

    /// Counts the requests on this connection as lost. A connection that brought answers is opened again at once, another one only
    /// after a pause, so that a server that refuses is not hammered.
    #[cold]
    pub(crate) fn give_up(&mut self, slot: Slot, now: u64, cause: LossCause<'_>) {
        let connection = &mut self.connections[slot as usize];
        self.accounts.lost(connection, now, cause);
        let fruitful = connection.answered() > 0;
        if cause.loss == Loss::Ended {
            self.retire(slot, now);
        } else {
            self.shut(slot, now);
        }
        if fruitful {
            self.next(slot, now);
        } else {
            self.failed.push(slot);
        }
    }

    /// Gives up a connection that has no requests left, and gives its slot the next task.
    fn open_anew(&mut self, slot: Slot, now: u64) {
        self.retire(slot, now);
        self.next(slot, now);
    }

    /// Gives up a connection that the server has closed or is about to: over TLS, it announces that first.
    fn retire(&mut self, slot: Slot, now: u64) {
        self.take_unsent_back(slot);
        self.io.retire(slot, now + CLOSING_NS);
        self.vacate(slot, now);
    }

    /// Closes a connection that has no requests left.
    fn shut(&mut self, slot: Slot, now: u64) {
        self.take_unsent_back(slot);
        self.io.close(slot);
        self.vacate(slot, now);
    }

    fn take_unsent_back(&mut self, slot: Slot) {
        if self.connections[slot as usize].is_sending {
            self.accounts.not_taken(self.io.unsent(slot));
        }
    }

    fn vacate(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        if connection.phase() != Phase::Closed {
            self.opening.closed();
        }
        connection.close(now);
        self.sessions[slot as usize] = S::default();
    }

    /// What has arrived of the oldest request's answer.
    #[cold]
    pub(crate) fn unfinished(&self, slot: Slot) -> String {
        let (connection, session) = (&self.connections[slot as usize], &self.sessions[slot as usize]);
        connection.unfinished(session.missing())
    }
}
