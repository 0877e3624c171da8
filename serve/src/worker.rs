//! One thread of the server: accept, read, answer. Answers to a pipeline leave in one send.

use crate::fault::Spin;
use crate::{Config, Site};
use net::{Completion, Epoll, Event, Io, LISTENER, Slot};
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
    /// The peer does not read: answers wait in the back end.
    is_blocked: bool,
    /// Close it once all is sent.
    is_last: bool,
}

struct Worker<'s> {
    site: &'s Site,
    spin: Option<Spin>,
    io: Epoll,
    connections: Vec<Connection>,
    out: Vec<u8>,
}

/// Answers until `stop` is set.
pub fn run(
    config: &Config,
    site: &Site,
    listener: OwnedFd,
    stop: &AtomicBool,
    origin_ns: u64,
) -> std::io::Result<()> {
    let mut io = Epoll::new()?;
    io.listen(listener)?;
    let spin = Spin::calibrated(config.spin.as_nanos() as u64);
    let mut worker =
        Worker { site, spin, io, connections: Vec::new(), out: Vec::with_capacity(GATHER_BYTES) };
    while !stop.load(Ordering::Relaxed) {
        worker.io.wait(Some(LOOK_UP))?;
        while let Some(completion) = worker.io.next() {
            if let Some(stall) = &config.stall {
                stall.sleep(origin_ns);
            }
            worker.take(completion);
        }
    }
    Ok(())
}

impl Worker<'_> {
    #[inline]
    fn take(&mut self, completion: Completion) {
        let Completion { slot, event } = completion;
        match event {
            Event::Received => self.received(slot),
            Event::Accepted => self.accepted(slot),
            Event::Drained => self.drained(slot),
            Event::Ended => self.ended(slot),
            Event::Failed(..) if slot == LISTENER => std::thread::sleep(ACCEPT_PAUSE),
            Event::Failed(..) => self.io.close(slot),
            Event::Connected => {}
        }
    }

    fn accepted(&mut self, slot: Slot) {
        let index = slot as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, Connection::default);
        }
        self.connections[index] = Connection::default();
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
                self.io.close(slot);
            }
            return;
        }
        let mut input = bytes;
        let goes_on = gather(connection, self.site, &mut self.spin, &mut input, &mut self.out);
        if !input.is_empty() {
            connection.waiting.extend_from_slice(input);
        }
        if self.send(slot, goes_on) {
            self.go_on(slot);
        }
    }

    /// Sends what was gathered. False: the connection is closed, or its peer has to read first.
    #[inline]
    fn send(&mut self, slot: Slot, goes_on: bool) -> bool {
        let sent = self.out.is_empty() || self.io.send(slot, &self.out);
        self.out.clear();
        let connection = &mut self.connections[slot as usize];
        connection.is_last = !goes_on;
        connection.is_blocked = !sent;
        if sent && !goes_on {
            self.io.close(slot);
        }
        sent && goes_on
    }

    /// Answers the questions that had to wait: the peer reads again, or a full gathering was sent.
    fn go_on(&mut self, slot: Slot) {
        loop {
            let connection = &mut self.connections[slot as usize];
            if connection.waiting.is_empty() {
                return;
            }
            let waiting = std::mem::take(&mut connection.waiting);
            let mut input = &waiting[..];
            let goes_on = gather(connection, self.site, &mut self.spin, &mut input, &mut self.out);
            connection.waiting.extend_from_slice(input);
            if !self.send(slot, goes_on) {
                return;
            }
        }
    }

    fn drained(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.is_blocked = false;
        if connection.is_last {
            self.io.close(slot);
        } else {
            self.go_on(slot);
        }
    }

    /// The peer asks nothing more; what it has asked it still gets.
    fn ended(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if connection.is_blocked {
            connection.is_last = true;
        } else {
            self.io.close(slot);
        }
    }
}

/// Answers the requests of `input` into `out`, until either is exhausted. False: the connection is to be closed.
#[inline]
fn gather(
    connection: &mut Connection,
    site: &Site,
    spin: &mut Option<Spin>,
    input: &mut &[u8],
    out: &mut Vec<u8>,
) -> bool {
    while out.len() < GATHER_BYTES {
        match connection.parser.next(input, |head| site.route(head.method, head.target)) {
            Ok(Some(request)) => {
                if let Some(spin) = spin {
                    spin.run();
                }
                out.extend_from_slice(site.answer(request.route, request.keep_alive, request.http10));
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
