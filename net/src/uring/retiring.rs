//! Connections that are given up while their peers may still close them: their receives stay in the ring and tell of the end.

use super::connection::Receiving;
use super::entries::{self, Op, Token};
use super::receives::is_asked_again;
use super::{Slot, Uring};
use io_uring::cqueue;
use io_uring::types::Fd;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// A retired connection.
pub struct Retiree {
    socket: OwnedFd,
    /// The receive that waits in the kernel.
    waits: Op,
}

impl Uring {
    /// Gives up the connection of this slot; its peer may close it until `until_ns`.
    pub(super) fn let_go(&mut self, slot: Slot, until_ns: u64) {
        let Some(receiving) = self.connections.get(slot as usize).map(|c| c.receiving) else { return };
        let Some((socket, generation, waits)) = self.empty(slot) else { return };
        let fd = Fd(socket.as_raw_fd());
        match receiving {
            // The peer has ended already.
            Receiving::Off => return self.close_socket(socket),
            Receiving::Due => {
                let token = Token { op: Op::Receive, generation, slot };
                self.ring.push(&entries::receive(Op::Receive, fd, 0, token));
            }
            Receiving::Connecting | Receiving::Armed(_) | Receiving::Stopping => {}
        }
        let waits = waits.unwrap_or(Op::Receive);
        self.retired.push(slot, generation, until_ns, Retiree { socket, waits });
    }

    /// Handles a completion that is not an open connection's: when a retired one's receive has ended, its peer has closed it. Whatever
    /// else the peer sends is not looked at.
    #[cold]
    pub(super) fn heard_of_retired(&mut self, token: Token, entry: &cqueue::Entry) {
        let is_receive = matches!(token.op, Op::Receive | Op::Head | Op::Drop);
        if self.retired.is_empty() || !is_receive || cqueue::more(entry.flags()) {
            return;
        }
        let Token { slot, .. } = token;
        let is_it = |generation| token.is_of(generation);
        if entry.result() <= 0 && !is_asked_again(-entry.result()) {
            if let Some(Retiree { socket, .. }) = self.retired.take(slot, is_it) {
                self.close_socket(socket);
            }
        } else if let Some(Retiree { socket, waits }) = self.retired.find(slot, is_it) {
            *waits = Op::Receive;
            let token = Token { op: Op::Receive, ..token };
            self.ring.push(&entries::receive(Op::Receive, Fd(socket.as_raw_fd()), 0, token));
        }
    }

    /// Resets the retired connections whose time is up.
    pub(super) fn reset_retired(&mut self, now_ns: u64) {
        while let Some((slot, generation, Retiree { socket, waits })) = self.retired.take_overdue(now_ns) {
            let _ = rustix::net::sockopt::set_socket_linger(&socket, Some(Duration::ZERO));
            self.cancel(Token { op: waits, generation, slot });
            self.close_socket(socket);
        }
    }
}
