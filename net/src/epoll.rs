//! The `epoll` back end, edge-triggered: one registration a connection, then one receive and one send a
//! request. An edge is only forgotten when a receive came back short or empty, so none is ever lost.

mod coarse;

use crate::buffer::Buffer;
use crate::retired::Retired;
use crate::unsent::{FilePiece, More, Sent, Unsent};
use crate::wanted::{HEAD_BYTES, MAX_DROP_BYTES, Wanted};
use crate::{Completion, Endpoint, Event, Io, LISTENER, Operation, Ports, Slot, failed, place, socket};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, SocketFlags};
use rustix::time::Timespec;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The largest number of connections that one wait reports; it bounds the length of a turn.
const BATCH: usize = 256;

/// The largest number of receives from one connection before the others have their turn and the caller reads the clock.
const MOST_RECEIVES: u32 = 16;

/// The events of a connection, registered once for its life. With edges, "writable" costs nothing until a send had to wait.
const INTEREST: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// The `epoll` back end.
pub struct Epoll {
    poll: OwnedFd,
    ready: Vec<epoll::Event>,
    /// The index of the next of `ready`.
    at: usize,
    /// The number of receives from that connection so far.
    receives: u32,
    connections: Vec<Connection>,
    /// They stay registered with the tokens that they had.
    retired: Retired<OwnedFd>,
    /// Completions that were known at once, without a wait.
    at_once: VecDeque<Completion>,
    listener: Option<OwnedFd>,
    /// Whether its connections are accepted ones, even if it no longer listens.
    is_server: bool,
    /// Slots of accepted connections that have been closed.
    free: Vec<Slot>,
    ports: Option<Ports>,
    buffer: Buffer,
    /// Whether the kernel knows timeouts of nanoseconds: `epoll_pwait2`, since Linux 5.11; user-mode emulators lack it.
    has_fine_timeouts: bool,
}

#[derive(Default)]
struct Connection {
    socket: Option<OwnedFd>,
    /// Distinguishes a slot's connections, so that an event of a closed one is not taken for its successor's.
    generation: u32,
    connecting: bool,
    /// Whether the peer's end has come, or an error: nothing more will.
    has_ended: bool,
    /// What the kernel did not take yet; without memory until then.
    unsent: Unsent,
    /// How the next bytes are received.
    wanted: Wanted,
}

impl Epoll {
    /// A back end without connections.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            poll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            ready: Vec::with_capacity(BATCH),
            at: 0,
            receives: 0,
            connections: Vec::new(),
            retired: Retired::new(),
            at_once: VecDeque::new(),
            listener: None,
            is_server: false,
            free: Vec::new(),
            ports: None,
            buffer: Buffer::new(),
            has_fine_timeouts: true,
        })
    }

    fn open(&mut self, slot: Slot, socket: OwnedFd, connecting: bool) -> Result<(), Errno> {
        let connection = place(&mut self.connections, slot);
        connection.generation = connection.generation.wrapping_add(1);
        let token = token(slot, connection.generation);
        epoll::add(&self.poll, &socket, token, INTEREST)?;
        (connection.connecting, connection.has_ended) = (connecting, false);
        connection.socket = Some(socket);
        Ok(())
    }

    fn fail(&mut self, slot: Slot, operation: Operation, errno: Errno) {
        self.at_once.push_back(Completion { slot, event: failed(operation, errno) });
    }

    /// Returns the next completion of the current event, if there is one more.
    fn look(&mut self) -> Option<Completion> {
        let event = self.ready[self.at];
        let (token, flags) = (event.data.u64(), event.flags);
        let slot = (token >> 32) as Slot;
        if slot == LISTENER {
            return self.accept();
        }
        let connection = self.connections.get_mut(slot as usize)?;
        let Some(socket) = connection.socket.as_ref().filter(|_| connection.generation == token as u32)
        else {
            self.look_at_retired(slot, token as u32);
            return None;
        };
        if connection.connecting {
            let event = opened(socket, flags)?;
            connection.connecting = false;
            return Some(Completion { slot, event });
        }
        let mut send_error = None;
        if flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP)
            && !connection.unsent.is_empty()
        {
            match connection.unsent.flush(socket) {
                Ok(Sent::All) => {
                    return Some(Completion { slot, event: Event::Drained });
                }
                Ok(Sent::Full) => {}
                Ok(Sent::Paused) => ask_again(&self.poll, socket, event.data),
                // A peer that answers before it has read everything, and closes, is heard first.
                Err(errno) => send_error = Some(errno),
            }
        }
        if send_error.is_none()
            && !flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::ERR | EventFlags::HUP)
        {
            return None;
        }
        let (asked, received) = receive(socket, connection.wanted, &mut self.buffer);
        if let Some(errno) = send_error.filter(|_| !matches!(received, Ok(1..))) {
            self.look_further(); // Looked at again, it would fail again, without end.
            return Some(Completion { slot, event: failed(Operation::Send, errno) });
        }
        let event = match received {
            Ok(0) => Event::Ended,
            Ok(n) if matches!(connection.wanted, Wanted::Drop(_)) => {
                connection.wanted.dropped(n as u64);
                Event::Skipped(n as u64)
            }
            Ok(n) => {
                connection.wanted.received(n as u64);
                self.buffer.fill(n);
                Event::Received
            }
            Err(Errno::AGAIN) => return None,
            Err(errno) => failed(Operation::Receive, errno),
        };
        connection.has_ended = matches!(event, Event::Ended | Event::Failed(..));
        // After a short receive the socket is empty and the next bytes bring a new edge, but an end that
        // came with this edge brings no other.
        let ends = send_error.is_some() || flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
        let more = received.is_ok_and(|n| n == asked || (n > 0 && ends));
        self.receives += 1;
        if more && self.receives >= MOST_RECEIVES {
            ask_again(&self.poll, socket, self.ready[self.at].data);
        }
        if !more || self.receives >= MOST_RECEIVES {
            self.look_further();
        }
        Some(Completion { slot, event })
    }

    /// Closes a retired connection if its peer has; drops what else the peer has sent.
    #[cold]
    fn look_at_retired(&mut self, slot: Slot, generation: u32) {
        let Some(socket) = self.retired.find(slot, |other| other == generation) else { return };
        let has_ended = |_: &u32| match socket::drop_some(&*socket, MAX_DROP_BYTES as usize) {
            Ok(n) => n == 0,
            Err(errno) => errno != Errno::AGAIN,
        };
        // A peer that goes on sending is not read without end: its time will be up.
        if (0..MOST_RECEIVES).any(|n| has_ended(&n)) {
            drop(self.retired.take(slot, |other| other == generation));
        }
    }

    /// Ends the current event.
    #[inline]
    fn look_further(&mut self) {
        self.at += 1;
        self.receives = 0;
    }

    fn accept(&mut self) -> Option<Completion> {
        let listener = self.listener.as_ref()?;
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        match rustix::net::accept_with(listener, flags) {
            Ok(socket) => {
                let slot = self.free.pop().unwrap_or(self.connections.len() as Slot);
                let event = match self.open(slot, socket, false) {
                    Ok(()) => Event::Accepted,
                    Err(errno) => {
                        self.free.push(slot);
                        failed(Operation::Accept, errno)
                    }
                };
                Some(Completion { slot, event })
            }
            Err(Errno::AGAIN) => None,
            // A peer that went away again is no failure of ours.
            Err(Errno::CONNABORTED | Errno::INTR | Errno::PROTO) => self.accept(),
            Err(errno) => {
                self.look_further();
                Some(Completion { slot: LISTENER, event: failed(Operation::Accept, errno) })
            }
        }
    }
}

impl Epoll {
    /// Hands it to the kernel; what is not taken waits. True: all was taken.
    #[inline]
    fn hand_over(&mut self, slot: Slot, more: More<'_>, flags: SendFlags) -> bool {
        let Some(connection) = self.connections.get_mut(slot as usize) else { return true };
        let Some(socket) = connection.socket.as_ref() else { return true };
        match connection.unsent.send(socket, more, flags) {
            Ok(Sent::All) => true,
            Ok(Sent::Full) => false,
            Ok(Sent::Paused) => {
                ask_again(&self.poll, socket, token(slot, connection.generation));
                false
            }
            Err(errno) => {
                self.fail(slot, Operation::Send, errno);
                true
            }
        }
    }
}

impl Io for Epoll {
    fn connect(&mut self, slot: Slot, to: &Endpoint) {
        let opened = socket::connecting(to, self.ports.as_ref().map(|ports| ports.range(slot)))
            .and_then(|socket| self.open(slot, socket, true));
        if let Err(errno) = opened {
            self.fail(slot, Operation::Connect, errno);
        }
    }

    fn choose_ports(&mut self, ports: Ports) {
        self.ports = Some(ports);
    }

    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()> {
        // Level-triggered: a connection that could not be accepted for want of descriptors is reported again.
        epoll::add(&self.poll, &listener, EventData::new_u64(u64::from(LISTENER) << 32), EventFlags::IN)?;
        self.listener = Some(listener);
        self.is_server = true;
        Ok(())
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.hand_over(slot, More::Bytes(bytes), SendFlags::empty())
    }

    #[inline]
    fn send_more(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.hand_over(slot, More::Bytes(bytes), SendFlags::MORE)
    }

    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool {
        let piece = FilePiece { file: Arc::clone(file), offset, left: length };
        self.hand_over(slot, More::File(piece), SendFlags::empty())
    }

    fn peer(&self, slot: Slot) -> Option<IpAddr> {
        socket::peer(self.connections.get(slot as usize)?.socket.as_ref()?)
    }

    fn stop_listening(&mut self) {
        if let Some(listener) = self.listener.take() {
            // A listener that threads share lives on after its descriptor is closed here.
            let _ = epoll::delete(&self.poll, &listener);
        }
    }

    fn unsent(&self, slot: Slot) -> u64 {
        self.connections.get(slot as usize).map_or(0, |connection| connection.unsent.bytes())
    }

    fn shut_down(&mut self, slot: Slot) {
        if let Some(socket) = self.connections.get(slot as usize).and_then(|c| c.socket.as_ref()) {
            let _ = rustix::net::shutdown(socket, Shutdown::Write);
        }
    }

    fn skip(&mut self, slot: Slot, bytes: u64) {
        if let Some(connection) = self.connections.get_mut(slot as usize) {
            connection.wanted.skip(bytes);
        }
    }

    fn close(&mut self, slot: Slot) {
        if let Some(connection) = self.connections.get_mut(slot as usize) {
            let was_open = connection.socket.take().is_some();
            connection.connecting = false;
            connection.unsent = Unsent::default();
            connection.wanted = Wanted::default();
            if was_open && self.is_server {
                self.free.push(slot);
            }
        }
        if !self.at_once.is_empty() {
            self.at_once.retain(|completion| completion.slot != slot);
        }
    }

    fn reset(&mut self, slot: Slot) {
        if let Some(socket) = self.connections.get(slot as usize).and_then(|c| c.socket.as_ref()) {
            let _ = rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO));
        }
        self.close(slot);
    }

    fn retire(&mut self, slot: Slot, until_ns: u64) {
        let Some(connection) = self.connections.get_mut(slot as usize) else { return };
        let generation = connection.generation;
        if !connection.has_ended
            && let Some(socket) = connection.socket.take()
        {
            self.retired.push(slot, generation, until_ns, socket);
        }
        self.close(slot);
    }

    fn retired_until_ns(&self) -> Option<u64> {
        self.retired.until_ns()
    }

    fn close_retired(&mut self, now_ns: u64) {
        while let Some((_, _, socket)) = self.retired.take_overdue(now_ns) {
            let _ = rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::ZERO));
        }
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        let longest = if self.at_once.is_empty() { longest } else { Some(Duration::ZERO) };
        self.ready.clear();
        (self.at, self.receives) = (0, 0);
        let waited = if self.has_fine_timeouts {
            let timeout =
                longest.map(|d| Timespec { tv_sec: d.as_secs() as i64, tv_nsec: d.subsec_nanos().into() });
            epoll::wait(&self.poll, rustix::buffer::spare_capacity(&mut self.ready), timeout.as_ref())
        } else {
            coarse::wait_coarsely(&self.poll, &mut self.ready, longest)
        };
        match waited {
            Ok(_) | Err(Errno::INTR) => Ok(!self.ready.is_empty() || !self.at_once.is_empty()),
            Err(Errno::NOSYS) if self.has_fine_timeouts => {
                self.has_fine_timeouts = false;
                self.wait(longest)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<Completion> {
        if let Some(completion) = self.at_once.pop_front() {
            return Some(completion);
        }
        while self.at < self.ready.len() {
            if let Some(completion) = self.look() {
                return Some(completion);
            }
            self.look_further();
        }
        None
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }
}

/// How the opening of a connection ended; `None`: it goes on.
fn opened(socket: &OwnedFd, flags: EventFlags) -> Option<Event> {
    if !flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP) {
        return None;
    }
    let broke = flags.intersects(EventFlags::ERR | EventFlags::HUP);
    Some(match broke.then(|| rustix::net::sockopt::socket_error(socket)) {
        None | Some(Ok(Ok(()))) => Event::Connected,
        Some(Ok(Err(errno)) | Err(errno)) => failed(Operation::Connect, errno),
    })
}

fn token(slot: Slot, generation: u32) -> EventData {
    EventData::new_u64(u64::from(slot) << 32 | u64::from(generation))
}

/// Receives in the wanted way; returns how many bytes were asked for, and how many came.
#[inline]
fn receive(socket: &OwnedFd, wanted: Wanted, buffer: &mut Buffer) -> (usize, Result<usize, Errno>) {
    let memory = buffer.memory();
    let asked = match wanted {
        Wanted::Drop(bytes) => bytes.min(MAX_DROP_BYTES) as usize,
        Wanted::Head => HEAD_BYTES,
        Wanted::All => memory.len(),
    };
    let received = match wanted {
        Wanted::Drop(_) => socket::drop_some(socket, asked),
        Wanted::Head | Wanted::All => socket::receive_some(socket, &mut memory[..asked]),
    };
    (asked, received)
}

/// Registers again what is registered, so that the kernel reports room again, if there is any.
fn ask_again(poll: &OwnedFd, socket: &OwnedFd, token: EventData) {
    let _ = epoll::modify(poll, socket, token, INTEREST);
}
