//! The `io_uring` back end. Requests are written to a ring and handed over in one system call per turn; completions are read from
//! another ring. One request receives everything on a connection for all its life, into buffers that all connections share; a successful
//! send is not reported.

mod connection;
mod entries;
mod outbox;
mod pool;
mod receives;
mod retiring;
mod ring;
mod sends;
mod sizes;
mod take;

use crate::retired::Retired;
use crate::socket::Peer;
use crate::unsent::{FilePiece, More};
use crate::{Completion, Endpoint, Io, Operation, Ports, Slot, socket};
use connection::{AfterSends, Connection, Place, Receiving, Sending, Then};
use entries::{Op, Token};
use io_uring::opcode;
use io_uring::types::{Fd, Fixed};
use outbox::Outbox;
use pool::Pool;
use retiring::Retiree;
use ring::Ring;
use rustix::io::Errno;
use rustix::net::SendFlags;
pub use sizes::Sizes;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// The `io_uring` back end. It belongs to the thread that made it. (Fields drop in order: the ring before its memory.)
pub struct Uring {
    ring: Ring,
    pool: Pool,
    outbox: Outbox,
    /// Slots below this one have a place in the ring's own table of files.
    files: u32,
    connections: Vec<Connection>,
    retired: Retired<Retiree>,
    /// Completions that were known at once, without the ring.
    at_once: VecDeque<Completion>,
    peers: Vec<(Endpoint, Box<Peer>)>,
    ports: Option<Ports>,
    listener: Option<OwnedFd>,
    accepting: bool,
    /// Whether its connections are accepted ones, even if it no longer listens.
    is_server: bool,
    /// Slots of accepted connections that have been closed.
    free: Vec<Slot>,
    after_sends: AfterSends,
    /// The connection whose last bytes are being read, and which receives on afterwards.
    due: Option<Slot>,
    /// The buffer that is being read, and the number of bytes in it.
    held: Option<(u16, usize)>,
    /// The turn, as the outbox counts them, in which there were last too few buffers.
    grown: u64,
}

impl Uring {
    /// A back end with these sizes, without any connections yet. An error where the kernel has no such rings, or forbids them. The limit of
    /// descriptors must be raised before: the ring's table of files is no longer than that.
    pub fn of(sizes: Sizes) -> std::io::Result<Self> {
        let ring = Ring::new(sizes.entries, sizes.completions)?;
        let pool = Pool::new(&ring.submitter(), sizes.buffers, sizes.first_buffers, sizes.buffer_bytes)?;
        ring.submitter().register_files_sparse(sizes.files)?;
        Ok(Self {
            ring,
            pool,
            outbox: Outbox::new(sizes.outbox_bytes as usize),
            files: sizes.files,
            // A list that grows leaves a copy of itself behind at each step.
            connections: Vec::with_capacity(sizes.files as usize),
            retired: Retired::new(),
            at_once: VecDeque::new(),
            peers: Vec::new(),
            ports: None,
            listener: None,
            accepting: false,
            is_server: false,
            free: Vec::new(),
            after_sends: AfterSends::default(),
            due: None,
            held: None,
            grown: 0,
        })
    }

    fn fail(&mut self, slot: Slot, operation: Operation, errno: Errno) {
        self.at_once.push_back(Completion { slot, event: crate::failed(operation, errno) });
    }

    /// Drops further completions of this connection, whose slot may soon be another one's.
    fn forget(&mut self, slot: Slot) {
        if !self.at_once.is_empty() {
            self.at_once.retain(|completion| completion.slot != slot);
        }
    }

    /// Gives the socket up; the ring closes it in its turn, after everything that was requested before. What waits in the kernel for this
    /// connection is cancelled, because it would keep the socket open.
    fn shut(&mut self, slot: Slot) {
        let Some((socket, generation, waits)) = self.empty(slot) else { return };
        self.cancel(Token { op: waits.unwrap_or(Op::Silent), generation, slot });
        self.close_socket(socket);
        if self.is_server {
            self.free.push(slot);
        }
    }

    /// Empties the slot, whose socket is the caller's now: returns it with its generation, and what waits in the kernel to open it or to
    /// receive.
    fn empty(&mut self, slot: Slot) -> Option<(OwnedFd, u32, Option<Op>)> {
        let connection = &mut self.connections[slot as usize];
        let generation = connection.generation.wrapping_add(1);
        let old = std::mem::replace(connection, Connection { generation, ..Connection::default() });
        let socket = old.socket?;
        let generation = old.generation;
        self.due.take_if(|due| *due == slot);
        self.forget(slot);
        if matches!(old.sending, Sending::Blocked(_)) {
            self.cancel(Token { op: Op::Room, generation, slot });
        }
        if old.place == Place::Taken {
            self.ring.push(&entries::silent(opcode::Close::new(Fixed(slot)).build()));
        }
        Some((socket, generation, old.receiving.waits()))
    }

    /// Cancels what waits in the kernel with this token, if anything.
    fn cancel(&mut self, token: Token) {
        if token.op != Op::Silent {
            self.ring.push(&entries::silent(opcode::AsyncCancel::new(token.into()).build()));
        }
    }

    /// Lets the ring close this socket in its turn.
    fn close_socket(&mut self, socket: OwnedFd) {
        self.ring.push(&entries::silent(opcode::Close::new(Fd(socket.into_raw_fd())).build()));
    }

    /// Does, before a turn ends, what could not be done in it before.
    fn end_turn(&mut self) {
        self.give_back();
        self.arm_due();
        while let Some(of) = self.after_sends.take_known() {
            self.settle(of);
        }
        self.after_sends.end_turn();
        if self.listener.is_some() && !self.accepting {
            self.accept();
        }
    }

    fn accept(&mut self) {
        let Some(listener) = self.listener.as_ref() else { return };
        self.accepting = true;
        let entry = opcode::AcceptMulti::new(Fd(listener.as_raw_fd())).flags(libc::SOCK_CLOEXEC).build();
        self.ring
            .push(&entry.user_data(Token { op: Op::Accept, generation: 0, slot: crate::LISTENER }.into()));
    }

    /// Handles failed sends before anything is sent in the next turn, which must not overtake what the kernel did not take of this one's.
    #[inline]
    fn hear_of_failed_sends(&mut self) {
        self.ring.drain();
        while let Some(entry) = self.ring.failed_send() {
            let told = self.take(&entry);
            self.at_once.extend(told);
        }
    }

    #[inline]
    fn give_back(&mut self) {
        if let Some((id, _)) = self.held.take() {
            self.pool.give_back(id);
        }
    }
}

impl Drop for Uring {
    /// Closes the connections one by one: cancelling everything that waits in a ring at once takes time that grows with the square of its
    /// number.
    fn drop(&mut self) {
        (0..self.connections.len()).for_each(|slot| self.shut(slot as Slot));
        self.reset_retired(u64::MAX);
    }
}

impl Io for Uring {
    fn connect(&mut self, slot: Slot, to: &Endpoint) {
        let ports = self.ports.as_ref().map(|ports| ports.range(slot));
        let socket = match socket::unconnected(to, ports, socket::Blocking::Yes) {
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
        let connection = crate::place(&mut self.connections, slot);
        debug_assert!(connection.socket.is_none() && connection.is_consistent(), "the slot is not closed");
        connection.generation = connection.generation.wrapping_add(1);
        connection.socket = Some(socket);
        connection.receiving = Receiving::Connecting;
        let token = Token { op: Op::Connect, generation: connection.generation, slot };
        self.ring.push(&entry.user_data(token.into()));
    }

    fn choose_ports(&mut self, ports: Ports) {
        self.ports = Some(ports);
    }

    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()> {
        self.listener = Some(listener);
        self.is_server = true;
        self.accept();
        Ok(())
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.send_bytes(slot, bytes)
    }

    #[inline]
    fn sends_at_once(&self) -> bool {
        false
    }

    /// Sends by a system call of its own, as what follows will be sent: only then do both leave together.
    fn send_more(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.send_apart(slot, More::Bytes(bytes), SendFlags::MORE)
    }

    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool {
        let piece = FilePiece { file: Arc::clone(file), offset, left: length };
        self.send_apart(slot, More::File(piece), SendFlags::empty())
    }

    fn unsent(&self, slot: Slot) -> u64 {
        self.connections.get(slot as usize).map_or(0, |connection| connection.sending.unsent())
    }

    fn shut_down(&mut self, slot: Slot) {
        self.then(slot, Then::ShutDown);
    }

    fn stop_listening(&mut self) {
        if self.listener.take().is_some() {
            self.cancel(Token { op: Op::Accept, generation: 0, slot: crate::LISTENER });
        }
    }

    fn peer(&self, slot: Slot) -> Option<IpAddr> {
        socket::peer(self.connections.get(slot as usize)?.socket.as_ref()?)
    }

    fn skip(&mut self, slot: Slot, bytes: u64) {
        self.drop_next(slot, bytes);
    }

    fn close(&mut self, slot: Slot) {
        self.forget(slot);
        let turn = self.outbox.turn();
        let Some(connection) = self.connections.get(slot as usize) else { return };
        // A server's last bytes must be the kernel's before it closes; a client that closes wants no answer.
        if self.is_server && connection.sending.is_behind(turn) {
            self.then(slot, Then::Close);
        } else {
            self.shut(slot);
        }
    }

    fn reset(&mut self, slot: Slot) {
        let Some(connection) = self.connections.get_mut(slot as usize) else { return };
        if let Some(socket) = &connection.socket {
            let _ = rustix::net::sockopt::set_socket_linger(socket, Some(Duration::ZERO));
            self.shut(slot);
        }
    }

    fn retire(&mut self, slot: Slot, until_ns: u64) {
        self.forget(slot);
        self.let_go(slot, until_ns);
    }

    fn retired_until_ns(&self) -> Option<u64> {
        self.retired.until_ns()
    }

    fn close_retired(&mut self, now_ns: u64) {
        self.reset_retired(now_ns);
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.ring.push_out()
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        self.end_turn();
        let is_known = !self.at_once.is_empty() || self.ring.has_news();
        if is_known || self.after_sends.has_known() || longest == Some(Duration::ZERO) {
            self.ring.hand_over()?;
        } else {
            self.ring.sleep(longest)?;
        }
        self.hear_of_failed_sends();
        self.outbox.next_turn();
        Ok(!self.at_once.is_empty() || self.ring.has_news())
    }

    #[inline]
    fn next(&mut self) -> Option<Completion> {
        self.give_back();
        self.arm_due();
        if let Some(completion) = self.at_once.pop_front() {
            return Some(completion);
        }
        loop {
            let entry = self.ring.next()?;
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
