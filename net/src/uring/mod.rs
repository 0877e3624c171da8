//! The `io_uring` back end. What is asked for is written to a ring and handed over in one system call a turn;
//! what happened is read from another. A connection is received from by one request for all its life, into
//! buffers that all connections share; a send that went well says nothing.

mod entries;
mod outbox;
mod pool;
mod sends;
mod take;

use crate::socket::Peer;
use crate::unsent::{FilePiece, Unsent};
use crate::{Completion, Endpoint, Event, Io, Operation, Slot, socket};
use entries::{Op, Token};
use io_uring::types::{CancelBuilder, Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use outbox::{Outbox, Parcel};
use pool::Pool;
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Entries that can wait to be handed over; more only cost a system call earlier.
const ENTRIES: u32 = 1024;

/// Completions that can wait to be read before the kernel has to keep them elsewhere.
const COMPLETIONS: u32 = 8192;

/// Buffers for what arrives in one turn; with fewer, receives pause until some are given back.
const BUFFERS: u16 = 256;

/// Slots with a place in the ring's own table of files.
const FILES: u32 = 16 * 1024;

/// Sends of more bytes go to the kernel directly instead of being copied.
const DIRECT_BYTES: usize = 8 * 1024;

/// A ring that is dropped waits no longer for what it cancels.
const LONGEST_CANCEL: Duration = Duration::from_secs(1);

/// Where bodies are large and dropped, a head is received with so many bytes at once.
const HEAD_BYTES: u32 = 1024;

/// The back end. It belongs to the thread that made it. (Fields drop in order: the ring before its memory.)
pub struct Uring {
    ring: IoUring,
    pool: Pool,
    outbox: Outbox,
    connections: Vec<Connection>,
    /// Completions that were known at once, without the ring.
    at_once: VecDeque<Completion>,
    peers: Vec<(Endpoint, Box<Peer>)>,
    listener: Option<OwnedFd>,
    accepting: bool,
    /// Its connections are accepted ones, whether it still listens or not.
    is_server: bool,
    /// Slots of accepted connections that have been closed.
    free: Vec<Slot>,
    /// Connections with bytes to send, or to close, once it is known whether this turn's send was taken whole.
    late: Vec<Slot>,
    /// Those of the last turn, for which it is known now.
    ripe: Vec<Slot>,
    /// A connection whose last receive is being looked at and which needs another one afterwards.
    to_arm: Option<Slot>,
    /// The buffer that is being looked at, and how many bytes are in it.
    held: Option<(u16, usize)>,
}

#[derive(Default)]
struct Connection {
    socket: Option<OwnedFd>,
    /// Tells a slot's connections apart, so that a completion of a closed one is not taken for its successor's.
    generation: u32,
    place: Place,
    /// The operation that waits in the kernel for this connection to be opened or to bring bytes.
    armed: Option<Op>,
    /// Its bodies are large and dropped: receives are asked for one by one.
    drops: bool,
    /// So many of the next bytes nobody looks at.
    skip: u64,
    /// The last send.
    parcel: Parcel,
    /// What the kernel did not take yet; no memory until then.
    unsent: Unsent,
    /// `unsent` waits for room in the kernel.
    is_blocked: bool,
    /// What becomes of it when `unsent` is empty.
    then: Then,
}

/// What becomes of a connection when all that was to be sent is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Then {
    #[default]
    GoOn,
    /// The peer is told that this is the end.
    ShutDown,
    Close,
}

/// Whether a connection has a place in the ring's own table of files, which spares a look-up a send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Nothing was sent: it may not last.
    #[default]
    Unknown,
    /// One send: the next makes a place worth its price.
    SentOnce,
    Taken,
    /// The table is full.
    Refused,
}

impl Connection {
    /// Its completions are the caller's.
    fn is_open(&self) -> bool {
        self.socket.is_some() && self.then != Then::Close
    }

    /// More bytes come after some that the kernel may not have taken yet.
    fn is_behind(&self, turn: u64) -> bool {
        self.parcel.is_of(turn) || !self.unsent.is_empty()
    }
}

impl Uring {
    /// A back end without connections. An error where the kernel has no such rings, or forbids them.
    pub fn new() -> std::io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)?;
        let pool = Pool::new(&ring, BUFFERS)?;
        ring.submitter().register_files_sparse(FILES)?;
        Ok(Self {
            ring,
            pool,
            outbox: Outbox::new(),
            connections: Vec::new(),
            at_once: VecDeque::new(),
            peers: Vec::new(),
            listener: None,
            accepting: false,
            is_server: false,
            free: Vec::new(),
            late: Vec::new(),
            ripe: Vec::new(),
            to_arm: None,
            held: None,
        })
    }

    /// Whether this kernel has all that the back end needs, and allows it.
    pub fn is_available() -> bool {
        Self::new().is_ok()
    }

    fn connection(&mut self, slot: Slot) -> &mut Connection {
        let index = slot as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, Connection::default);
        }
        &mut self.connections[index]
    }

    /// Writes an entry; hands over what waits when there is no room. What it points to must stay until then.
    #[allow(unsafe_code)]
    #[inline]
    fn push(&mut self, entry: &squeue::Entry) {
        loop {
            // SAFETY: callers pass entries whose memory is the pool's, the outbox's or a peer's, none of which
            // moves or goes before the kernel has read it.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return;
            }
            if self.ring.submit().is_err() {
                std::thread::yield_now(); // The kernel is short of memory for a moment.
            }
        }
    }

    /// Makes sure that bytes of this connection will be received.
    fn arm(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.as_ref() else { return };
        let fd = Fd(socket.as_raw_fd());
        let op = match (connection.drops, connection.skip) {
            (false, _) => Op::Receive,
            (true, 0) => Op::Head,
            (true, _) => Op::Drop,
        };
        let (generation, skip) = (connection.generation, connection.skip);
        connection.armed = Some(op);
        self.push(&entries::receive(op, fd, skip, Token { op, generation, slot }));
    }

    fn fail(&mut self, slot: Slot, operation: Operation, errno: Errno) {
        self.at_once.push_back(Completion { slot, event: crate::failed(operation, errno) });
    }

    /// Gives the socket up; the ring does it in its turn, after all that was asked before.
    fn shut(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.take() else { return };
        let generation = connection.generation;
        let armed = connection.armed.take();
        let has_place = connection.place == Place::Taken;
        *connection = Connection { generation: generation.wrapping_add(1), ..Connection::default() };
        if let Some(op) = armed {
            let token = Token { op, generation, slot };
            self.push(&entries::silent(opcode::AsyncCancel::new(token.into()).build()));
        }
        if has_place {
            self.push(&entries::silent(opcode::Close::new(Fixed(slot)).build()));
        }
        self.push(&entries::silent(opcode::Close::new(Fd(socket.into_raw_fd())).build()));
        if self.is_server {
            self.free.push(slot);
        }
    }

    /// Hands over what was asked for and lets the kernel do what waits; does not sleep.
    #[allow(unsafe_code)]
    fn hand_over(&mut self) -> std::io::Result<()> {
        let submission = self.ring.submission();
        let (waiting, has_work) = (submission.len(), submission.taskrun() || submission.cq_overflow());
        drop(submission);
        if waiting == 0 && !has_work {
            return Ok(());
        }
        // SAFETY: no argument is passed; the entries' memory stays, see `push`.
        let entered = unsafe {
            self.ring.submitter().enter::<libc::sigset_t>(waiting as u32, 0, entries::GET_EVENTS, None)
        };
        entries::unless_harmless(entered)
    }

    fn sleep(&mut self, longest: Option<Duration>) -> std::io::Result<()> {
        let entered = match longest {
            None => self.ring.submit_and_wait(1),
            Some(longest) => {
                let time = Timespec::from(longest);
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        entries::unless_harmless(entered)
    }

    /// Before a turn ends: what could not be done in it before.
    fn end_turn(&mut self) {
        self.give_back();
        if let Some(slot) = self.to_arm.take() {
            self.arm(slot);
        }
        while let Some(slot) = self.ripe.pop() {
            self.settle(slot);
        }
        std::mem::swap(&mut self.ripe, &mut self.late);
        if self.listener.is_some() && !self.accepting {
            self.accept();
        }
    }

    /// Sends what had to wait for the last turn's send, and closes what was to be closed after it.
    fn settle(&mut self, slot: Slot) {
        let connection = &self.connections[slot as usize];
        if connection.socket.is_none() || connection.is_blocked {
            return;
        }
        let has_waited = !connection.unsent.is_empty();
        if has_waited && !self.flush(slot) {
            return;
        }
        if self.is_closed_now(slot) {
            return;
        }
        if has_waited {
            self.at_once.push_back(Completion { slot, event: Event::Drained });
        }
    }

    fn accept(&mut self) {
        let Some(listener) = self.listener.as_ref() else { return };
        self.accepting = true;
        let entry = opcode::AcceptMulti::new(Fd(listener.as_raw_fd())).flags(libc::SOCK_CLOEXEC).build();
        self.push(&entry.user_data(Token { op: Op::Accept, generation: 0, slot: crate::LISTENER }.into()));
    }

    #[inline]
    fn give_back(&mut self) {
        if let Some((id, _)) = self.held.take() {
            self.pool.give_back(id);
        }
    }
}

impl Drop for Uring {
    /// The kernel takes a ring down in its own time: what still waits in it would hold ports until then.
    fn drop(&mut self) {
        let longest = Timespec::from(LONGEST_CANCEL);
        let _ = self.ring.submit();
        let _ = self.ring.submitter().register_sync_cancel(Some(longest), CancelBuilder::any());
        let _ = self.hand_over(); // What was cancelled lets go of its socket only now.
    }
}

impl Io for Uring {
    fn connect(&mut self, slot: Slot, to: &Endpoint) {
        let socket = match socket::unconnected(to, socket::Blocking::Yes) {
            Ok(socket) => socket,
            Err(errno) => return self.fail(slot, Operation::Connect, errno),
        };
        let at = match self.peers.iter().position(|(known, _)| known == to) {
            Some(at) => at,
            None => match Peer::of(to) {
                Ok(peer) => {
                    self.peers.push((to.clone(), Box::new(peer)));
                    self.peers.len() - 1
                }
                Err(errno) => return self.fail(slot, Operation::Connect, errno),
            },
        };
        let peer = &self.peers[at].1;
        let entry = opcode::Connect::new(Fd(socket.as_raw_fd()), peer.as_ptr(), peer.length()).build();
        let connection = self.connection(slot);
        connection.generation = connection.generation.wrapping_add(1);
        connection.socket = Some(socket);
        connection.armed = Some(Op::Connect);
        let token = Token { op: Op::Connect, generation: connection.generation, slot };
        self.push(&entry.user_data(token.into()));
    }

    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()> {
        self.listener = Some(listener);
        self.is_server = true;
        self.accept();
        Ok(())
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        let turn = self.outbox.turn();
        let Some(connection) = self.connections.get_mut(slot as usize) else { return true };
        let Some(socket) = connection.socket.as_ref() else { return true };
        if connection.is_behind(turn) {
            if connection.unsent.is_empty() {
                self.late.push(slot);
            }
            connection.unsent.push_bytes(bytes);
            return false;
        }
        let parcel = if bytes.len() > DIRECT_BYTES { None } else { self.outbox.put(bytes) };
        let Some((parcel, memory)) = parcel else {
            return self.send_directly(slot, bytes, SendFlags::empty());
        };
        connection.parcel = parcel;
        let fd = socket.as_raw_fd();
        let token = Token { op: Op::Send, generation: connection.generation, slot };
        connection.place = match connection.place {
            Place::Unknown => Place::SentOnce,
            Place::SentOnce if slot < FILES => {
                match self.ring.submitter().register_files_update(slot, &[fd]) {
                    Ok(_) => Place::Taken,
                    Err(_) => Place::Refused,
                }
            }
            other => other,
        };
        let length = bytes.len() as u32;
        let send = if connection.place == Place::Taken {
            opcode::Send::new(Fixed(slot), memory, length)
        } else {
            opcode::Send::new(Fd(fd), memory, length)
        };
        self.push(&entries::send(send, token));
        true
    }

    /// Directly, as what follows will be: only so do both leave together.
    fn send_more(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        let turn = self.outbox.turn();
        match self.connections.get(slot as usize) {
            Some(connection) if connection.is_behind(turn) => self.send(slot, bytes),
            Some(_) => self.send_directly(slot, bytes, SendFlags::MORE),
            None => true,
        }
    }

    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool {
        self.send_piece(slot, FilePiece { file: Arc::clone(file), offset, left: length })
    }

    fn shut_down(&mut self, slot: Slot) {
        let turn = self.outbox.turn();
        let Some(connection) = self.connections.get_mut(slot as usize) else { return };
        connection.then = Then::ShutDown;
        if connection.is_behind(turn) {
            self.late.push(slot);
        } else {
            self.is_closed_now(slot);
        }
    }

    fn stop_listening(&mut self) {
        if self.listener.take().is_some() {
            let token = Token { op: Op::Accept, generation: 0, slot: crate::LISTENER };
            self.push(&entries::silent(opcode::AsyncCancel::new(token.into()).build()));
        }
    }

    fn peer(&self, slot: Slot) -> Option<IpAddr> {
        socket::peer(self.connections.get(slot as usize)?.socket.as_ref()?)
    }

    fn skip(&mut self, slot: Slot, bytes: u64) {
        let connection = &mut self.connections[slot as usize];
        connection.skip = bytes;
        if !connection.drops {
            connection.drops = true;
            if let Some(op) = connection.armed {
                let token = Token { op, generation: connection.generation, slot };
                self.push(&entries::silent(opcode::AsyncCancel::new(token.into()).build()));
            }
        }
    }

    fn close(&mut self, slot: Slot) {
        let turn = self.outbox.turn();
        if !self.at_once.is_empty() {
            self.at_once.retain(|completion| completion.slot != slot);
        }
        let Some(connection) = self.connections.get_mut(slot as usize) else { return };
        // A server's last bytes must be the kernel's before it closes; a client that closes wants no answer.
        if self.is_server && connection.is_behind(turn) {
            connection.then = Then::Close;
            self.late.push(slot);
        } else {
            self.shut(slot);
        }
    }

    fn reset(&mut self, slot: Slot) {
        self.at_once.retain(|completion| completion.slot != slot);
        let Some(connection) = self.connections.get_mut(slot as usize) else { return };
        if let Some(socket) = &connection.socket {
            let _ = rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO));
            self.shut(slot);
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.hand_over()
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        self.end_turn();
        let is_known = !self.at_once.is_empty() || !self.ring.completion().is_empty();
        if is_known || !self.ripe.is_empty() || longest == Some(Duration::ZERO) {
            self.hand_over()?;
        } else {
            self.sleep(longest)?;
        }
        self.outbox.next_turn();
        Ok(!self.at_once.is_empty() || !self.ring.completion().is_empty())
    }

    #[inline]
    fn next(&mut self) -> Option<Completion> {
        self.give_back();
        if let Some(slot) = self.to_arm.take() {
            self.arm(slot);
        }
        if let Some(completion) = self.at_once.pop_front() {
            return Some(completion);
        }
        loop {
            let entry = self.ring.completion().next()?;
            if let Some(completion) = self.take(&entry) {
                return Some(completion);
            }
        }
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.held.map_or(&[], |(id, n)| self.pool.bytes(id, n))
    }
}
