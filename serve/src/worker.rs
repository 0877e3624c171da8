//! One thread of the server: accept, read, answer. Answers to a pipeline leave in one send.

use crate::fault::{Draft, Outbox, Spin};
use crate::{BackEnd, Config, Site};
use net::{Completion, Epoll, Event, Io, LISTENER, Slot, Uring, clock, cpu};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wire::RequestParser;

/// How long a stop may go unseen by a thread that has nothing to do.
const LOOK_UP: Duration = Duration::from_millis(100);

/// After a failed accept (no descriptors left) the thread answers others before it tries again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Answers are gathered up to so many bytes before they are sent.
const GATHER_BYTES: usize = 64 * 1024;

/// A peer that asks on without reading its answers is let go when so many bytes of questions wait.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

#[derive(Default)]
struct Connection {
    parser: RequestParser,
    /// Questions that arrived while the peer did not read its answers.
    waiting: Vec<u8>,
    /// Answers wait, in the back end for a peer that does not read or in the outbox for their time.
    is_blocked: bool,
    /// The peer asks nothing more.
    has_ended: bool,
    /// Close it once all is sent.
    is_last: bool,
    /// The last request was HTTP/1.0.
    is_http10: bool,
}

struct Worker<'s, I> {
    site: &'s Site,
    spin: Option<Spin>,
    io: I,
    connections: Vec<Connection>,
    out: Vec<u8>,
    /// Answers are gathered up to so many bytes.
    gather_bytes: usize,
    /// Where answers go that something becomes of before they are sent.
    outbox: Option<Outbox<'s>>,
}

/// Answers until `stop` is set.
pub fn run(
    config: &Config,
    site: &Site,
    listener: OwnedFd,
    stop: &AtomicBool,
    origin_ns: u64,
    outbox: Option<Outbox<'_>>,
) -> std::io::Result<()> {
    match config.io {
        Some(BackEnd::Uring) => run_on(Uring::new()?, config, site, listener, stop, origin_ns, outbox),
        // A fifth less CPU time a request than with epoll, measured, and never more.
        None if Uring::is_available() => {
            run_on(Uring::new()?, config, site, listener, stop, origin_ns, outbox)
        }
        _ => run_on(Epoll::new()?, config, site, listener, stop, origin_ns, outbox),
    }
}

fn run_on<I: Io>(
    mut io: I,
    config: &Config,
    site: &Site,
    listener: OwnedFd,
    stop: &AtomicBool,
    origin_ns: u64,
    outbox: Option<Outbox<'_>>,
) -> std::io::Result<()> {
    io.listen(listener)?;
    let spin = Spin::calibrated(config.spin.as_nanos() as u64);
    if outbox.is_some() {
        cpu::wake_precisely();
    }
    // What becomes of an answer is decided for each on its own.
    let gather_bytes = if outbox.is_some() { 1 } else { GATHER_BYTES };
    let out = Vec::with_capacity(GATHER_BYTES);
    let mut worker = Worker { site, spin, io, connections: Vec::new(), out, gather_bytes, outbox };
    while !stop.load(Ordering::Relaxed) {
        let longest = worker.outbox.as_ref().map_or(LOOK_UP, |outbox| outbox.wait(clock::now_ns(), LOOK_UP));
        worker.io.wait(Some(longest))?;
        if worker.outbox.is_some() {
            if let Some(stall) = &config.faults.stall {
                stall.sleep(origin_ns);
            }
            worker.send_due(clock::now_ns());
        }
        while let Some(completion) = worker.io.next() {
            if let Some(stall) = &config.faults.stall {
                stall.sleep(origin_ns);
            }
            worker.take(completion);
        }
    }
    Ok(())
}

impl<I: Io> Worker<'_, I> {
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
            Event::Connected | Event::Secured | Event::Skipped(_) => {}
        }
    }

    fn accepted(&mut self, slot: Slot) {
        let index = slot as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, Connection::default);
        }
        self.connections[index] = Connection::default();
        if let Some(outbox) = &mut self.outbox {
            outbox.forget(slot);
        }
    }

    fn close(&mut self, slot: Slot) {
        self.io.close(slot);
        if let Some(outbox) = &mut self.outbox {
            outbox.forget(slot);
        }
    }

    #[inline]
    fn received(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if connection.is_last {
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
        let goes_on =
            gather(connection, self.site, &mut self.spin, &mut input, &mut self.out, self.gather_bytes);
        if !input.is_empty() {
            connection.waiting.extend_from_slice(input);
        }
        if self.send(slot, goes_on) {
            self.go_on(slot);
        }
    }

    /// Sends what was gathered. False: the connection is closed, or it has to wait.
    #[inline]
    fn send(&mut self, slot: Slot, mut goes_on: bool) -> bool {
        let connection = &mut self.connections[slot as usize];
        let sent = match &mut self.outbox {
            _ if self.out.is_empty() => true,
            None => self.io.send(slot, &self.out),
            Some(outbox) => {
                let draft = Draft { bytes: &self.out, goes_on, http10: connection.is_http10 };
                let (is_out, still_goes_on) = outbox.send(&mut self.io, slot, draft, clock::now_ns());
                goes_on = still_goes_on;
                is_out
            }
        };
        self.out.clear();
        connection.is_last = !goes_on;
        connection.is_blocked = !sent;
        if sent && !goes_on {
            self.close(slot);
        }
        sent && goes_on
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
            let goes_on =
                gather(connection, self.site, &mut self.spin, &mut input, &mut self.out, self.gather_bytes);
            connection.waiting.extend_from_slice(input);
            if !self.send(slot, goes_on) {
                return;
            }
        }
    }

    /// Sends the answers whose time has come.
    fn send_due(&mut self, now_ns: u64) {
        while let Some(slot) = self.outbox.as_mut().and_then(|o| o.send_due(&mut self.io, now_ns)) {
            self.drained(slot);
        }
    }

    fn drained(&mut self, slot: Slot) {
        if self.outbox.as_ref().is_some_and(|outbox| outbox.holds(slot)) {
            return; // A part of an answer; the rest is not due yet.
        }
        let connection = &mut self.connections[slot as usize];
        connection.is_blocked = false;
        if connection.is_last {
            self.close(slot);
        } else {
            self.go_on(slot);
        }
    }

    /// The peer asks nothing more; what it has asked it still gets.
    fn ended(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if connection.is_blocked {
            connection.has_ended = true;
        } else {
            self.close(slot);
        }
    }
}

/// Answers the requests of `input` into `out`, until it is exhausted or there are `most_bytes`. False: the
/// connection is to be closed.
#[inline]
fn gather(
    connection: &mut Connection,
    site: &Site,
    spin: &mut Option<Spin>,
    input: &mut &[u8],
    out: &mut Vec<u8>,
    most_bytes: usize,
) -> bool {
    while out.len() < most_bytes {
        match connection.parser.next(input, |method, target| site.route(method, target)) {
            Ok(Some(request)) => {
                if let Some(spin) = spin {
                    spin.run();
                }
                out.extend_from_slice(site.answer(request.route, request.keep_alive, request.http10));
                connection.is_http10 = request.http10;
                if !request.keep_alive {
                    return false;
                }
            }
            Ok(None) => return true,
            Err(_) => {
                out.extend_from_slice(BAD_REQUEST);
                return false;
            }
        }
    }
    true
}

const BAD_REQUEST: &[u8] = b"HTTP/1.1 400 Bad Request\r\nServer: drome\r\nContent-Type: text/plain\r\n\
    Content-Length: 12\r\nConnection: close\r\n\r\nBad Request\n";
