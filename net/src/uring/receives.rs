//! Requests bytes: by one request for all that come, or one by one where bodies are dropped.

use super::connection::Receiving;
use super::entries::{self, Op, Token};
use super::{Slot, Uring};
use crate::wanted::Wanted;
use io_uring::types::Fd;
use std::os::fd::AsRawFd;

/// Whether a receive ended without an end of the connection: no buffers were left, or it was told to stop.
pub fn is_asked_again(errno: i32) -> bool {
    matches!(errno, libc::ENOBUFS | libc::ECANCELED | libc::EINTR | libc::EAGAIN)
}

impl Uring {
    /// Makes sure that bytes of this connection will be received.
    pub(super) fn arm(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        let Some(socket) = connection.socket.as_ref() else { return };
        debug_assert!(
            matches!(connection.receiving, Receiving::Off | Receiving::Due),
            "two receives on one connection: {:?}",
            connection.receiving
        );
        let fd = Fd(socket.as_raw_fd());
        let (op, bytes) = match connection.wanted {
            Wanted::All => (Op::Receive, 0),
            Wanted::Head => (Op::Head, 0),
            Wanted::Drop(bytes) => (Op::Drop, bytes),
        };
        let generation = connection.generation;
        connection.receiving = Receiving::Armed(op);
        self.ring.push(&entries::receive(op, fd, bytes, Token { op, generation, slot }));
    }

    /// Lets the connection of the last completion receive on, as was decided meanwhile.
    #[inline]
    pub(super) fn arm_due(&mut self) {
        if let Some(slot) = self.due.take() {
            self.arm(slot);
        }
    }

    /// Drops the next `bytes`, whatever was requested before.
    pub(super) fn drop_next(&mut self, slot: Slot, bytes: u64) {
        let Some(connection) = self.connections.get_mut(slot as usize).filter(|c| c.socket.is_some()) else {
            return;
        };
        connection.wanted.skip(bytes);
        if let Receiving::Armed(op) = connection.receiving {
            connection.receiving = Receiving::Stopping;
            let generation = connection.generation;
            self.cancel(Token { op, generation, slot });
        }
    }
}
