//! One thread of the server: accept, read, answer, and let go of who has been idle. Answers to a pipeline leave
//! in one send.

use crate::out::Out;
use crate::responder::{Next, Responder};
use crate::{Config, fault::Stall};
use net::{Completion, Epoll, Event, Io, LISTENER, Slot};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wire::RequestParser;

/// How long a stop may go unseen by a thread that has nothing to do.
const LOOK_UP: Duration = Duration::from_millis(100);

/// After a failed accept (no descriptors left) the thread answers others before it tries again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A peer that asks on without reading its answers is let go when so many bytes of questions wait.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

/// Idle connections are looked for so often, or more often where the timeout is short.
const SWEEP_NS: u64 = 1_000_000_000;

/// A peer that has been sent its last answer has so long to read it and close.
const LINGER_NS: u64 = 2_000_000_000;

/// At a stop: what has connected by then is accepted, for no longer than this.
const LAST_CALL_NS: u64 = 100_000_000;

/// At a stop: who has been answered in part has so long to read it.
const GRACE_NS: u64 = 5_000_000_000;

#[derive(Default)]
struct Connection {
    parser: RequestParser,
    /// Questions that arrived while the peer did not read its answers.
    waiting: Vec<u8>,
    is_open: bool,
    /// The peer does not read: answers wait in the back end.
    is_blocked: bool,
    /// The peer asks nothing more.
    has_ended: bool,
    /// What comes after the last answer, once all is sent; nothing more is answered.
    last: Option<Next>,
    /// By the coarse clock: when it was accepted or last sent something.
    stamp_ns: u64,
    /// Only known where it is logged.
    peer: Option<IpAddr>,
}

struct Worker<'s> {
    responder: Responder,
    stall: Option<Stall>,
    origin_ns: u64,
    idle_ns: u64,
    swept_ns: u64,
    stop: &'s AtomicBool,
    io: Epoll,
    connections: Vec<Connection>,
    out: Out,
}

/// Answers until `stop` is set, then answers what has arrived and ends.
pub fn run(
    config: &Config,
    responder: Responder,
    listener: OwnedFd,
    stop: &AtomicBool,
    origin_ns: u64,
) -> std::io::Result<()> {
    let mut io = Epoll::new()?;
    io.listen(listener)?;
    let mut worker = Worker {
        responder,
        stall: config.stall,
        origin_ns,
        idle_ns: config.idle_timeout.as_nanos().try_into().unwrap_or(u64::MAX),
        swept_ns: 0,
        stop,
        io,
        connections: Vec::new(),
        out: Out::new(),
    };
    worker.responder.tick();
    while !worker.stop.load(Ordering::Relaxed) {
        worker.turn(LOOK_UP)?;
        worker.sweep();
    }
    worker.end()
}

impl Worker<'_> {
    /// Waits and takes what completed. False: nothing did.
    #[inline]
    fn turn(&mut self, longest: Duration) -> std::io::Result<bool> {
        let is_busy = self.io.wait(Some(longest))?;
        self.responder.tick();
        while let Some(completion) = self.io.next() {
            if let Some(stall) = &self.stall {
                stall.sleep(self.origin_ns);
            }
            self.take(completion);
        }
        Ok(is_busy)
    }

    #[inline]
    fn take(&mut self, completion: Completion) {
        let Completion { slot, event } = completion;
        match event {
            Event::Received => self.received(slot),
            Event::Accepted => self.accepted(slot),
            Event::Drained => self.drained(slot),
            Event::Ended => self.ended(slot),
            Event::Failed(..) if slot == LISTENER => std::thread::sleep(ACCEPT_PAUSE),
            Event::Failed(..) => self.close(slot),
            Event::Connected => {}
        }
    }

    fn accepted(&mut self, slot: Slot) {
        let index = slot as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, Connection::default);
        }
        let peer = self.responder.log.as_ref().and_then(|_| self.io.peer(slot));
        let stamp_ns = self.responder.clock.now_ns();
        self.connections[index] = Connection { is_open: true, stamp_ns, peer, ..Connection::default() };
    }

    #[inline]
    fn received(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if connection.last.is_some() {
            return; // What comes after the last answer is not looked at.
        }
        let bytes = self.io.bytes();
        if connection.is_blocked {
            connection.waiting.extend_from_slice(bytes);
            if connection.waiting.len() > MAX_WAITING_BYTES {
                self.close(slot);
            }
            return;
        }
        let mut input = bytes;
        let next = self.responder.answer(&mut connection.parser, connection.peer, &mut input, &mut self.out);
        if !input.is_empty() {
            connection.waiting.extend_from_slice(input);
        }
        if self.send(slot, next) {
            self.go_on(slot);
        }
    }

    /// Sends what was gathered. False: the connection has had its last answer, or its peer has to read first.
    #[inline]
    fn send(&mut self, slot: Slot, next: Next) -> bool {
        let connection = &mut self.connections[slot as usize];
        if !self.out.is_empty() {
            connection.is_blocked = !self.out.send(&mut self.io, slot);
            connection.stamp_ns = self.responder.clock.now_ns();
        }
        let goes_on = next == Next::GoOn;
        if !goes_on {
            connection.last = Some(next);
        }
        if connection.is_blocked {
            return false;
        }
        if !goes_on {
            self.finish(slot, next);
        }
        goes_on
    }

    /// Answers the questions that had to wait: the peer reads again, or a full gathering was sent.
    fn go_on(&mut self, slot: Slot) {
        loop {
            let connection = &mut self.connections[slot as usize];
            if connection.waiting.is_empty() {
                if connection.has_ended {
                    self.close(slot);
                }
                return;
            }
            let waiting = std::mem::take(&mut connection.waiting);
            let mut input = &waiting[..];
            let next =
                self.responder.answer(&mut connection.parser, connection.peer, &mut input, &mut self.out);
            connection.waiting.extend_from_slice(input);
            if !self.send(slot, next) {
                return;
            }
        }
    }

    fn drained(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.is_blocked = false;
        connection.stamp_ns = self.responder.clock.now_ns();
        match connection.last {
            Some(next) => self.finish(slot, next),
            None => self.go_on(slot),
        }
    }

    /// The peer asks nothing more; what it has asked it still gets.
    fn ended(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.has_ended = true;
        if !connection.is_blocked {
            self.close(slot);
        }
    }

    /// After the last answer.
    fn finish(&mut self, slot: Slot, next: Next) {
        if next == Next::Linger && !self.connections[slot as usize].has_ended {
            self.io.shut_down(slot);
        } else {
            self.close(slot);
        }
    }

    fn close(&mut self, slot: Slot) {
        self.connections[slot as usize].is_open = false;
        self.io.close(slot);
    }

    /// Now and then: closes who has not been answered anything for too long. A peer that does not read is not
    /// idle; when it stops reading for good, its connection fails by itself.
    fn sweep(&mut self) {
        let now_ns = self.responder.clock.now_ns();
        if now_ns - self.swept_ns < SWEEP_NS.min(self.idle_ns / 4) {
            return;
        }
        self.swept_ns = now_ns;
        let idle_ns = self.idle_ns;
        self.close_those(|connection| {
            let longest_ns = if connection.last.is_some() { LINGER_NS.min(idle_ns) } else { idle_ns };
            !connection.is_blocked && now_ns.saturating_sub(connection.stamp_ns) > longest_ns
        });
    }

    /// Closes the open connections of which this is true. Returns how many others there are.
    fn close_those(&mut self, is_over: impl Fn(&Connection) -> bool) -> usize {
        let mut others = 0;
        for slot in 0..self.connections.len() {
            let connection = &self.connections[slot];
            match connection.is_open {
                true if is_over(connection) => self.close(slot as Slot),
                true => others += 1,
                false => {}
            }
        }
        others
    }

    /// Stops without breaking off: who has connected is accepted, what has arrived is answered, who waits for
    /// nothing is closed, and the rest gets a little time.
    fn end(&mut self) -> std::io::Result<()> {
        self.responder.is_stopping = true;
        let start_ns = self.responder.clock.now_ns();
        while self.turn(Duration::ZERO)? && self.responder.clock.now_ns() - start_ns < LAST_CALL_NS {}
        self.io.stop_listening();
        while self.turn(Duration::ZERO)? && self.responder.clock.now_ns() - start_ns < GRACE_NS {}
        let waits_for_nothing =
            |c: &Connection| !c.is_blocked && c.last.is_none() && c.waiting.is_empty() && c.parser.is_idle();
        while self.close_those(waits_for_nothing) > 0 {
            if self.responder.clock.now_ns() - start_ns > GRACE_NS {
                break;
            }
            self.turn(LOOK_UP)?;
            self.sweep();
        }
        Ok(())
    }
}
