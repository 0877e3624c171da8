//! What completes on a connection, and what follows from it: the second half of a worker's turn.

use crate::check::Wrong;
use crate::connection::Phase;
use crate::worker::Worker;
use model::Tally;
use net::{Completion, Event, Io, Operation, Slot, clock};

impl<I: Io> Worker<'_, I> {
    /// Takes one completion.
    #[inline]
    pub(crate) fn take(&mut self, completion: Completion) {
        let Completion { slot, event } = completion;
        match event {
            Event::Received => self.received(slot),
            Event::Connected => self.connected(slot),
            Event::Ended => self.ended(slot),
            Event::Failed(operation, errno) => self.broke(slot, operation, errno),
            Event::Accepted | Event::Drained | Event::Secured => {}
        }
    }

    fn connected(&mut self, slot: Slot) {
        let now = clock::now_ns();
        self.window.tally.connections_opened += 1;
        self.window.tally.connect.record(now - self.connections[slot as usize].since_ns);
        self.ask(slot, now);
    }

    #[inline]
    fn received(&mut self, slot: Slot) {
        let now = clock::now_ns();
        if now >= self.window.end_ns {
            return;
        }
        let connection = &mut self.connections[slot as usize];
        let mut input = self.io.bytes();
        self.window.tally.received_bytes += input.len() as u64;
        if connection.phase != Phase::Waiting {
            return self.unasked(slot, now);
        }
        if connection.first_byte_ns == 0 {
            connection.first_byte_ns = now;
        }
        let ended = loop {
            match connection.parser.next(&mut input, self.plan.head_only) {
                Ok(Some(wire::Event::Head(head))) => connection.check.head(head.status),
                Ok(Some(wire::Event::Body(bytes))) => {
                    self.window.tally.body_bytes += bytes.len() as u64;
                    connection.check.body(&self.plan.expect, bytes);
                }
                Ok(Some(wire::Event::End { keep_alive })) => break Ok(Some(keep_alive)),
                Ok(None) => break Ok(None),
                Err(error) => break Err(error),
            }
        };
        let left_over = !input.is_empty();
        match ended {
            Ok(None) => {}
            Ok(Some(keep_alive)) => {
                self.answered(slot, now, keep_alive);
                if left_over {
                    self.unasked(slot, now);
                } else {
                    self.after_answer(slot, now, keep_alive);
                }
            }
            Err(error) => {
                self.window.tally.errors.protocol += 1;
                self.give_up(slot, now, &format!("protocol: {error}"));
            }
        }
    }

    /// An answer is whole.
    #[inline]
    fn answered(&mut self, slot: Slot, now: u64, keep_alive: bool) {
        let connection = &mut self.connections[slot as usize];
        let tally = &mut self.window.tally;
        let (status, wrong) = connection.check.end(&self.plan.expect);
        self.window.status[usize::from(status).min(self.window.status.len() - 1)] += 1;
        connection.served += 1;
        connection.phase = if keep_alive { Phase::Idle } else { Phase::Draining };
        connection.since_ns = now;
        match wrong {
            None => tally.completed += 1,
            Some(Wrong::Status) => {
                tally.errors.status += 1;
                blame(tally, &format!("status: {status} was not expected"));
            }
            Some(Wrong::Body) => {
                tally.errors.body += 1;
                blame(tally, "body: not the bytes that were expected");
            }
        }
        if wrong.is_none() {
            tally.latency.record(now - connection.due_ns);
            tally.first_byte.record(connection.first_byte_ns - connection.sent_ns);
            if self.share.pace.is_some() {
                tally.service.record(now - connection.sent_ns);
            }
        }
    }

    #[inline]
    fn after_answer(&mut self, slot: Slot, now: u64, keep_alive: bool) {
        let connection = &mut self.connections[slot as usize];
        if !keep_alive {
            return; // The server closes; `ended` goes on from there.
        }
        if self.plan.load.per_connection().is_some_and(|most| connection.asked >= most) {
            self.shut(slot);
        }
        self.next(slot, now);
    }

    fn ended(&mut self, slot: Slot) {
        let now = clock::now_ns();
        if now >= self.window.end_ns {
            return;
        }
        match self.connections[slot as usize].phase {
            Phase::Waiting => match self.connections[slot as usize].parser.closed() {
                Ok(Some(_)) => {
                    self.answered(slot, now, false);
                    self.shut(slot);
                    self.next(slot, now);
                }
                Ok(None) => {
                    self.window.tally.errors.receive += 1;
                    self.give_up(slot, now, "receive: the server closed the connection without an answer");
                }
                Err(error) => {
                    self.window.tally.errors.receive += 1;
                    self.give_up(slot, now, &format!("receive: {error}"));
                }
            },
            Phase::Draining => {
                self.shut(slot);
                self.next(slot, now);
            }
            // Open load: the connection stood free; its next request opens it again.
            Phase::Idle => self.shut(slot),
            Phase::Closed | Phase::Connecting => {}
        }
    }

    fn broke(&mut self, slot: Slot, operation: Operation, errno: net::Errno) {
        let now = clock::now_ns();
        if now >= self.window.end_ns {
            return;
        }
        let phase = self.connections[slot as usize].phase;
        match phase {
            Phase::Waiting | Phase::Connecting => {
                if phase == Phase::Waiting && operation == Operation::Local {
                    self.window.tally.sent -= 1; // It never left this machine.
                }
                let errors = &mut self.window.tally.errors;
                let (count, what) = match operation {
                    Operation::Connect => (&mut errors.connect, "connect"),
                    Operation::Handshake => (&mut errors.connect, "handshake"),
                    Operation::Send => (&mut errors.send, "send"),
                    Operation::Local => (&mut errors.local, "local"),
                    Operation::Receive | Operation::Accept => (&mut errors.receive, "receive"),
                };
                *count += 1;
                self.give_up(slot, now, &format!("{what}: {errno}"));
            }
            Phase::Draining => {
                self.shut(slot);
                self.next(slot, now);
            }
            Phase::Idle | Phase::Closed => self.shut(slot),
        }
    }

    /// Bytes came that no request asked for.
    fn unasked(&mut self, slot: Slot, now: u64) {
        let free = self.free.iter().any(|s| *s == slot);
        self.window.tally.errors.unasked += 1;
        blame(&mut self.window.tally, "protocol: bytes that no request had asked for");
        self.shut(slot);
        if !free {
            self.fail_slot(slot, now);
        }
    }

    /// The request on this connection came to nothing.
    pub(crate) fn give_up(&mut self, slot: Slot, now: u64, cause: &str) {
        blame(&mut self.window.tally, cause);
        self.fail_slot(slot, now);
    }

    /// A connection that brought answers is opened again at once, another one only after a pause, so that a
    /// server that refuses is not hammered.
    fn fail_slot(&mut self, slot: Slot, now: u64) {
        let fruitful = self.connections[slot as usize].asked > 1;
        self.shut(slot);
        if fruitful {
            self.next(slot, now);
        } else {
            self.failed.push(slot);
        }
    }

    pub(crate) fn shut(&mut self, slot: Slot) {
        self.io.close(slot);
        self.connections[slot as usize].reset();
    }
}

fn blame(tally: &mut Tally, cause: &str) {
    *tally.error_causes.entry(cause.to_owned()).or_default() += 1;
}
