//! Sends bytes: by the ring where there are few, by a system call of its own where there are many, and later where they have to
//! wait.

use super::connection::{Of, Place, Sending, Then};
use super::entries::{self, Op, Token};
use super::outbox::Parcel;
use super::{Slot, Uring};
use crate::unsent::{More, Piece, Sent, Unsent};
use crate::{Completion, Event, Operation};
use io_uring::opcode;
use io_uring::types::{Fd, Fixed};
use rustix::net::{SendFlags, Shutdown};
use std::os::fd::AsRawFd;

/// The number of bytes from which on a send goes to the kernel directly instead of being copied.
const DIRECT_BYTES: usize = 8 * 1024;

impl Uring {
    #[inline]
    pub(super) fn send_bytes(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        let turn = self.outbox.turn();
        let Some(connection) = self.connections.get_mut(slot as usize) else { return true };
        if connection.socket.is_none() {
            return true;
        }
        if connection.sending.is_behind(turn) {
            return self.send_later(slot, More::Bytes(bytes));
        }
        let parcel = if bytes.len() > DIRECT_BYTES { None } else { self.outbox.put(bytes) };
        match parcel {
            Some((parcel, memory)) => self.send_parcel(slot, parcel, memory, bytes.len() as u32),
            None => return self.send_directly(slot, More::Bytes(bytes), SendFlags::empty()),
        }
        true
    }

    #[inline]
    fn send_parcel(&mut self, slot: Slot, parcel: Parcel, memory: *const u8, length: u32) {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.as_ref() else { return };
        let fd = socket.as_raw_fd();
        connection.sending = Sending::Clear(parcel);
        let token = Token { op: Op::Send, generation: connection.generation, slot };
        connection.place = match connection.place {
            Place::Unknown => Place::SentOnce,
            Place::SentOnce if slot < self.files => {
                match self.ring.submitter().register_files_update(slot, &[fd]) {
                    Ok(_) => Place::Taken,
                    Err(_) => Place::Refused,
                }
            }
            Place::SentOnce => Place::Refused,
            other => other,
        };
        let send = if connection.place == Place::Taken {
            opcode::Send::new(Fixed(slot), memory, length)
        } else {
            opcode::Send::new(Fd(fd), memory, length)
        };
        self.ring.push(&entries::send(send, token));
    }

    /// Sends by a system call of its own, behind what waits already; what is not taken waits for room. True: all was taken.
    pub(super) fn send_apart(&mut self, slot: Slot, more: More<'_>, flags: SendFlags) -> bool {
        let turn = self.outbox.turn();
        match self.connections.get(slot as usize) {
            Some(connection) if connection.sending.is_behind(turn) => self.send_later(slot, more),
            Some(_) => self.send_directly(slot, more, flags),
            None => true,
        }
    }

    fn send_directly(&mut self, slot: Slot, more: More<'_>, flags: SendFlags) -> bool {
        let Some(socket) = self.connections[slot as usize].socket.as_ref() else { return true };
        let mut unsent = Unsent::default();
        match unsent.send_blocking(socket, more, flags) {
            Ok(Sent::All) => true,
            Ok(Sent::Full | Sent::Paused) => {
                self.block(slot, unsent);
                false
            }
            Err(errno) => {
                self.fail(slot, Operation::Send, errno);
                true
            }
        }
    }

    fn send_later(&mut self, slot: Slot, more: More<'_>) -> bool {
        let connection = &mut self.connections[slot as usize];
        let of = Of { slot, generation: connection.generation };
        if connection.sending.wait(more) {
            self.after_sends.wait(of);
        }
        false
    }

    /// Lets unsent bytes wait until the kernel has room again for this connection; if it has room already, they leave with the next turn.
    fn block(&mut self, slot: Slot, unsent: Unsent) {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.as_ref() else { return };
        connection.sending = Sending::Blocked(Box::new(unsent));
        let token = Token { op: Op::Room, generation: connection.generation, slot };
        let entry = opcode::PollAdd::new(Fd(socket.as_raw_fd()), libc::POLLOUT as u32).build();
        self.ring.push(&entry.user_data(token.into()));
    }

    /// Sends what waits. True: nothing is left.
    fn flush_unsent(&mut self, slot: Slot) -> bool {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.as_ref() else { return true };
        let mut unsent = connection.sending.take();
        match unsent.flush_blocking(socket) {
            Ok(Sent::All) => true,
            Ok(Sent::Full | Sent::Paused) => {
                self.block(slot, unsent);
                false
            }
            Err(errno) => {
                // Until a client closes it, it is known what has not left. A server's close would wait for that, in vain.
                if !self.is_server {
                    connection.sending = Sending::Blocked(Box::new(unsent));
                }
                self.fail(slot, Operation::Send, errno);
                true
            }
        }
    }

    /// Handles a send that was not taken whole; others are not reported.
    pub(super) fn not_sent(&mut self, slot: Slot, result: i32) -> Option<Event> {
        let taken = match result {
            n if n >= 0 => n as usize,
            n if n == -libc::EAGAIN => 0,
            error => {
                return Some(crate::failed(Operation::Send, rustix::io::Errno::from_raw_os_error(-error)));
            }
        };
        let sending = &mut self.connections[slot as usize].sending;
        // The bytes are kept for as long as their failed send can be reported; if they were gone, the connection would have to fail.
        let Some(rest) = self.outbox.rest(sending.parcel(), taken) else {
            return Some(crate::failed(Operation::Send, rustix::io::Errno::AGAIN));
        };
        let mut unsent = sending.take();
        unsent.push_front(Piece::Bytes { bytes: rest.to_vec(), sent: 0 });
        self.block(slot, unsent);
        None
    }

    /// Handles the kernel's report that it has room for what waits.
    pub(super) fn has_room(&mut self, slot: Slot) -> Option<Event> {
        if !self.flush_unsent(slot) {
            return None;
        }
        (!self.is_closed_now(slot)).then_some(Event::Drained)
    }

    /// Handles a connection after all failed sends of the last turn are known: sends what waited for that, and does what was to be done
    /// after it.
    pub(super) fn settle(&mut self, Of { slot, generation }: Of) {
        let connection = &self.connections[slot as usize];
        if connection.socket.is_none() || connection.generation != generation {
            return;
        }
        let has_waited = match &connection.sending {
            Sending::Blocked(_) => return, // It goes on when there is room.
            Sending::Behind(parcel, _) if parcel.is_of(self.outbox.turn()) => return, // Of this turn: at the next one's end.
            Sending::Behind(..) => true,
            Sending::Clear(_) => false,
        };
        if has_waited && !self.flush_unsent(slot) {
            return;
        }
        if !self.is_closed_now(slot) && has_waited {
            self.at_once.push_back(Completion { slot, event: Event::Drained });
        }
    }

    /// Does what is to be done once everything is sent: now, or when it is.
    pub(super) fn then(&mut self, slot: Slot, then: Then) {
        let turn = self.outbox.turn();
        let Some(connection) = self.connections.get_mut(slot as usize).filter(|c| c.socket.is_some()) else {
            return;
        };
        connection.then = then;
        if connection.sending.is_behind(turn) {
            self.after_sends.wait(Of { slot, generation: connection.generation });
        } else {
            self.is_closed_now(slot);
        }
    }

    /// Does what was to be done when everything is sent. True: the connection is closed.
    fn is_closed_now(&mut self, slot: Slot) -> bool {
        let connection = &mut self.connections[slot as usize];
        match connection.then {
            Then::GoOn => return false,
            Then::Close => self.shut(slot),
            Then::ShutDown => {
                connection.then = Then::GoOn;
                if let Some(socket) = &connection.socket {
                    let _ = rustix::net::shutdown(socket, Shutdown::Write);
                }
                return false;
            }
        }
        true
    }
}
