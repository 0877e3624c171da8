//! What completes on a connection, and what follows from it: the second half of a worker's turn.

use crate::check::Wrong;
use crate::connection::{Connection, Phase};
use crate::window::Window;
use crate::worker::Worker;
use model::{Agreed, End, Expect, Loss, Plan, Tally, Verify};
use net::{Completion, Errno, Event, Handshake, Io, Operation, Slot, clock};

/// A body of which at least so much is still to come, and at which nobody looks, is dropped by the kernel.
const SKIP_BYTES: u64 = 8 * 1024;

/// Bytes that belong to no request.
const UNASKED: &str = "bytes that no request had asked for (an answer too many, or a body longer than its \
                       Content-Length)";

/// Where a sample of bodies is verified, every so many of them.
const SAMPLE: u64 = 64;

/// What the bytes at hand came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    /// Everything was read, and the connection goes on; so many answers came whole.
    On(usize),
    /// The last answer was whole; the server closes.
    Last,
    /// Bytes came that no request had asked for.
    Unasked,
    /// They are no HTTP.
    Malformed(wire::WireError),
}

impl<I: Io> Worker<'_, I> {
    /// Takes one completion.
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
            Event::Accepted | Event::Drained => {}
        }
    }

    fn connected(&mut self, slot: Slot) {
        let now = clock::now_ns();
        let connection = &mut self.connections[slot as usize];
        self.window.tally.connections_opened += 1;
        self.window.tally.connect.record(now - connection.since_ns);
        if self.plan.target.tls {
            connection.phase = Phase::Securing;
            connection.since_ns = now;
            return;
        }
        connection.phase = Phase::Open;
        connection.opened_ns = now;
        self.send(slot, now);
    }

    fn secured(&mut self, slot: Slot) {
        let now = clock::now_ns();
        let connection = &mut self.connections[slot as usize];
        let handshake = self.io.handshake(slot);
        let is_resumed = handshake.is_some_and(|handshake| handshake.is_resumed);
        self.window.tally.handshake.record(now - connection.since_ns);
        self.window.tally.handshakes_resumed += u64::from(is_resumed);
        if self.window.tally.agreed.is_none() {
            let key_bits = self.io.peer_key_bits(slot);
            self.window.tally.agreed =
                handshake.map(|Handshake { protocol, cipher_suite, group, .. }| Agreed {
                    protocol,
                    cipher_suite,
                    group,
                    key_bits,
                });
        }
        connection.phase = Phase::Open;
        connection.opened_ns = now;
        self.send(slot, now);
    }

    #[inline]
    fn received(&mut self, slot: Slot) {
        let now = clock::now_ns();
        if now >= self.window.end_ns {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        let bytes = self.io.bytes();
        self.window.tally.received_bytes += bytes.len() as u64;
        if self.window.wants_first {
            self.window.keep_first(connection.number, bytes);
        }
        let read = read(self.plan, &mut self.window, connection, now, bytes);
        self.go_on(slot, now, read);
    }

    fn skipped(&mut self, slot: Slot, bytes: u64) {
        let now = clock::now_ns();
        if now >= self.window.end_ns {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        self.window.tally.received_bytes += bytes;
        self.window.tally.body_bytes += bytes;
        connection.parser.skip(bytes);
        connection.check.skip(bytes);
        let read = match connection.parser.body_left() {
            Some(0) => read(self.plan, &mut self.window, connection, now, &[]),
            _ => Read::On(0),
        };
        self.go_on(slot, now, read);
    }

    #[inline]
    fn go_on(&mut self, slot: Slot, now: u64, read: Read) {
        match read {
            Read::On(0) => self.skip_rest(slot),
            Read::On(_) => {
                self.after_answer(slot, now);
                self.skip_rest(slot);
            }
            Read::Last => self.after_last(slot, now),
            Read::Unasked => self.unasked(slot, now),
            Read::Malformed(_) if net::tls::looks_like_tls(self.io.bytes()) && !self.plan.target.tls => {
                self.window.tally.errors.protocol += 1;
                self.give_up(slot, now, Loss::Protocol, "the server speaks TLS: write https:// in the URL");
            }
            Read::Malformed(error) => {
                self.window.tally.errors.protocol += 1;
                self.lose_others(slot, "receive: the answer before it was no HTTP");
                self.give_up(slot, now, Loss::Protocol, &error.to_string());
            }
        }
    }

    /// What is left of a large body that nobody looks at need not be copied.
    #[inline]
    fn skip_rest(&mut self, slot: Slot) {
        let connection = &self.connections[slot as usize];
        let is_dropped = self.can_skip && !connection.check.looks();
        let left = connection.parser.body_left().filter(|left| is_dropped && *left >= SKIP_BYTES);
        if let Some(left) = left {
            self.io.skip(slot, left);
        }
    }

    #[inline]
    fn after_answer(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        let is_full = self.plan.load.per_connection().is_some_and(|most| connection.asked >= most);
        if is_full && connection.flights.is_empty() {
            // The server was told that this was the last one, and stays all the same.
            self.shut(slot);
        }
        self.next(slot, now);
    }

    /// The server closes; `ended` goes on from there. What was asked behind this answer is lost.
    fn after_last(&mut self, slot: Slot, now: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.phase = Phase::Draining;
        connection.since_ns = now;
        self.lose_others(slot, "receive: the server closed before it answered all that was pipelined");
        self.log_lost(slot, now, Loss::Ended);
        // A lost one has its place in `lose_others` already, so that nothing waits on this connection.
        let connection = &mut self.connections[slot as usize];
        connection.flights.clear();
        connection.unsent = 0;
    }

    /// Counts the requests behind the oldest one, or all where the oldest is answered, as lost.
    fn lose_others(&mut self, slot: Slot, cause: &str) {
        let connection = &self.connections[slot as usize];
        let behind = usize::from(connection.phase != Phase::Draining);
        let lost = connection.in_flight().saturating_sub(behind) as u64;
        if lost > 0 {
            self.window.tally.errors.receive += lost;
            *self.window.tally.error_causes.entry(cause.to_owned()).or_default() += lost;
        }
    }

    fn ended(&mut self, slot: Slot) {
        let now = clock::now_ns();
        if now >= self.window.end_ns {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        if connection.phase != Phase::Open || connection.flights.is_empty() {
            self.shut(slot);
            return self.next(slot, now);
        }
        match connection.parser.closed() {
            Ok(Some(_)) => {
                whole(self.plan, &mut self.window, connection, now, false);
                self.after_last(slot, now);
                self.shut(slot);
                self.next(slot, now);
            }
            Ok(None) => {
                self.lose_all(slot, now, "the server closed the connection without an answer");
            }
            Err(error) => self.lose_all(slot, now, &error.to_string()),
        }
    }

    fn lose_all(&mut self, slot: Slot, now: u64, cause: &str) {
        self.window.tally.errors.receive += 1;
        self.lose_others(slot, "receive: the server closed before it answered all that was pipelined");
        self.give_up(slot, now, Loss::Ended, cause);
    }

    fn broke(&mut self, slot: Slot, operation: Operation, errno: Errno) {
        let now = clock::now_ns();
        if now >= self.window.end_ns {
            return;
        }
        let connection = &self.connections[slot as usize];
        let (sent, unsent) = (connection.in_flight() as u64, connection.unsent as u64);
        match connection.phase {
            Phase::Open if sent == 0 => {
                self.shut(slot);
                self.next(slot, now);
            }
            Phase::Open | Phase::Connecting | Phase::Securing => {
                let tally = &mut self.window.tally;
                if operation == Operation::Local {
                    tally.sent -= sent; // They never left this machine.
                    tally.halted.get_or_insert_with(|| crate::ran_out(errno));
                    self.progress.stop.store(true, std::sync::atomic::Ordering::Relaxed);
                }
                let errors = &mut tally.errors;
                let (count, loss) = match operation {
                    Operation::Connect => (&mut errors.connect, Loss::Connect),
                    Operation::Handshake => (&mut errors.connect, Loss::Handshake),
                    Operation::Send => (&mut errors.send, Loss::Send),
                    Operation::Local => (&mut errors.local, Loss::Local),
                    Operation::Receive | Operation::Accept => (&mut errors.receive, Loss::Receive),
                };
                *count += (sent + unsent).max(1);
                let why = self.io.reason(slot).map_or_else(|| errno.to_string(), str::to_owned);
                if operation == Operation::Handshake && tally.handshake.count() == 0 {
                    // What no connection got past, no other one will.
                    tally.halted.get_or_insert_with(|| format!("the TLS handshake failed: {why}"));
                    self.progress.stop.store(true, std::sync::atomic::Ordering::Relaxed);
                }
                self.give_up(slot, now, loss, &why);
            }
            Phase::Draining => {
                self.shut(slot);
                self.next(slot, now);
            }
            Phase::Queued | Phase::Closed => self.shut(slot),
        }
    }

    /// Bytes came that no request asked for.
    fn unasked(&mut self, slot: Slot, now: u64) {
        self.window.tally.errors.unasked += 1;
        self.give_up(slot, now, Loss::Protocol, UNASKED);
    }

    /// The requests on this connection came to nothing. A connection that brought answers is opened again at
    /// once, another one only after a pause, so that a server that refuses is not hammered.
    pub(crate) fn give_up(&mut self, slot: Slot, now: u64, loss: Loss, why: &str) {
        blame(&mut self.window.tally, &format!("{}: {why}", loss.word()));
        self.log_lost(slot, now, loss);
        let fruitful = self.connections[slot as usize].answered > 0;
        self.shut(slot);
        if fruitful {
            self.next(slot, now);
        } else {
            self.failed.push(slot);
        }
    }

    /// What is still on this connection will have no answer.
    fn log_lost(&mut self, slot: Slot, now: u64, loss: Loss) {
        if let Some(log) = &mut self.window.log {
            let connection = &self.connections[slot as usize];
            connection.flights.iter().for_each(|flight| log.write(connection, flight, now, End::Lost(loss)));
        }
    }

    pub(crate) fn shut(&mut self, slot: Slot) {
        if self.connections[slot as usize].phase != Phase::Closed {
            self.live -= 1;
        }
        self.io.close(slot);
        self.connections[slot as usize].reset();
    }
}

/// Reads what arrived: answers that came whole are counted, the last one may be left unfinished.
#[inline]
fn read(plan: &Plan, window: &mut Window, connection: &mut Connection, now: u64, mut bytes: &[u8]) -> Read {
    let mut answers = 0;
    if connection.in_flight() == 0 {
        return if connection.phase == Phase::Draining { Read::On(0) } else { Read::Unasked };
    }
    if connection.first_byte_ns == 0 {
        connection.first_byte_ns = now;
    }
    loop {
        let ask = &plan.asks[connection.flights[0].ask as usize];
        match connection.parser.next_after(&mut bytes, ask.head_only, &mut window.last_head) {
            Ok(Some(wire::Event::Body(body))) => {
                window.tally.body_bytes += body.len() as u64;
                connection.check.body(&ask.expect, body);
            }
            Ok(Some(wire::Event::Head(head))) => {
                let looks = looks(plan.verify, &ask.expect, connection.answered, window.tally.completed);
                connection.check.head(head.status, looks);
            }
            Ok(Some(wire::Event::End { keep_alive })) => {
                answers += 1;
                whole(plan, window, connection, now, keep_alive);
                if !keep_alive {
                    let is_over = bytes.is_empty() || connection.in_flight() > 0;
                    return if is_over { Read::Last } else { Read::Unasked };
                }
                if bytes.is_empty() {
                    return Read::On(answers);
                }
                if connection.in_flight() == 0 {
                    return Read::Unasked;
                }
                connection.first_byte_ns = now;
            }
            Ok(None) => return Read::On(answers),
            Err(error) => return Read::Malformed(error),
        }
    }
}

/// Whether this answer's body is compared with what was expected.
#[inline]
fn looks(verify: Verify, expect: &Expect, answered: usize, completed: u64) -> bool {
    expect.looks_at_body()
        && match verify {
            Verify::All => true,
            Verify::First => answered == 0,
            Verify::Sample => answered == 0 || completed.is_multiple_of(SAMPLE),
        }
}

/// The oldest request's answer is whole.
#[inline]
fn whole(plan: &Plan, window: &mut Window, connection: &mut Connection, now: u64, keeps_alive: bool) {
    let Some(flight) = connection.flights.pop_front() else { return };
    let (status, wrong) = connection.check.end(&plan.asks[flight.ask as usize].expect);
    window.status[usize::from(status).min(window.status.len() - 1)] += 1;
    connection.served += 1;
    connection.answered += 1;
    connection.has_to_think = true;
    let tally = &mut window.tally;
    tally.verified += u64::from(connection.check.looks());
    match wrong {
        None => {
            tally.completed += 1;
            if !plan.burst_latency || connection.flights.is_empty() {
                tally.latency.record(now - flight.due_ns);
            }
            tally.first_byte.record(connection.first_byte_ns - flight.sent_ns);
            if plan.load.rate_per_s().is_some() {
                tally.service.record(now - flight.sent_ns);
            }
        }
        Some(Wrong::Status) => {
            tally.errors.status += 1;
            blame(tally, &format!("status: {status} was not expected"));
        }
        Some(Wrong::Body) => {
            tally.errors.body += 1;
            blame(tally, "body: not the bytes that were expected");
        }
    }
    if let Some(log) = &mut window.log {
        log.write(connection, &flight, now, End::Answered { status, keeps_alive });
    }
    connection.first_byte_ns = 0;
    connection.check.clear();
}

fn blame(tally: &mut Tally, cause: &str) {
    *tally.error_causes.entry(cause.to_owned()).or_default() += 1;
}
