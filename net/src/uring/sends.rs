//! What does not go out by the ring: large sends, pieces of files, and what had to wait.

use super::entries::{Op, Token};
use super::{Slot, Then, Uring};
use crate::Operation;
use crate::socket;
use crate::unsent::{FilePiece, Sent, Unsent};
use io_uring::opcode;
use io_uring::types::Fd;
use rustix::net::{SendFlags, Shutdown};
use std::os::fd::AsRawFd;

impl Uring {
    /// Sends by a system call of its own; what is not taken waits for room. True: all was taken.
    pub(super) fn send_directly(&mut self, slot: Slot, bytes: &[u8], flags: SendFlags) -> bool {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.as_ref() else { return true };
        match socket::send_some(socket, bytes, flags) {
            Ok(n) if n == bytes.len() => true,
            Ok(n) => {
                connection.unsent.push_bytes(&bytes[n..]);
                self.await_room(slot);
                false
            }
            Err(errno) => {
                self.fail(slot, Operation::Send, errno);
                true
            }
        }
    }

    /// Sends a piece of a file, by a system call of its own; what is not taken waits for room. True: all was taken.
    pub(super) fn send_piece(&mut self, slot: Slot, mut piece: FilePiece) -> bool {
        let turn = self.outbox.turn();
        let Some(connection) = self.connections.get_mut(slot as usize) else { return true };
        let Some(socket) = connection.socket.as_ref() else { return true };
        if connection.is_behind(turn) {
            if connection.unsent.is_empty() {
                self.late.push(slot);
            }
            connection.unsent.push_file(piece);
            return false;
        }
        match piece.send_first_blocking(socket) {
            Ok(Sent::All) => true,
            Ok(Sent::Full | Sent::Paused) => {
                connection.unsent.push_file(piece);
                self.await_room(slot);
                false
            }
            Err(errno) => {
                self.fail(slot, Operation::Send, errno);
                true
            }
        }
    }

    /// Asks to be told when the kernel has room again for bytes of this connection: at once where it has.
    pub(super) fn await_room(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.as_ref().filter(|_| !connection.is_blocked) else { return };
        connection.is_blocked = true;
        let token = Token { op: Op::Room, generation: connection.generation, slot };
        let entry = opcode::PollAdd::new(Fd(socket.as_raw_fd()), libc::POLLOUT as u32).build();
        self.push(&entry.user_data(token.into()));
    }

    /// Sends what waits; true when nothing is left.
    pub(super) fn flush(&mut self, slot: Slot) -> bool {
        let connection = self.connection(slot);
        let Some(socket) = connection.socket.as_ref() else { return true };
        match connection.unsent.flush_blocking(socket) {
            Ok(Sent::All) => true,
            Ok(Sent::Full | Sent::Paused) => {
                self.await_room(slot);
                false
            }
            Err(errno) => {
                connection.unsent = Unsent::default();
                self.fail(slot, Operation::Send, errno);
                true
            }
        }
    }

    /// A send that the kernel could not take whole: what is left waits for room.
    pub(super) fn keep_rest(&mut self, slot: Slot, taken: usize) -> bool {
        let connection = &mut self.connections[slot as usize];
        let Some(rest) = self.outbox.rest(connection.parcel, taken) else { return false };
        connection.unsent.push_front(rest);
        self.await_room(slot);
        true
    }

    /// Does what was to be done when all is sent. True: the connection is closed.
    pub(super) fn is_closed_now(&mut self, slot: Slot) -> bool {
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
