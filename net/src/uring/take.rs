//! What the ring has completed, as the interface's completions.

use super::entries::{Op, Token};
use super::{Connection, Uring};
use crate::{Completion, Event, LISTENER, Operation, Slot};
use io_uring::cqueue;
use rustix::io::Errno;
use std::os::fd::{FromRawFd, OwnedFd};

impl Uring {
    /// What this completion means to the caller, if anything.
    #[inline]
    pub(super) fn take(&mut self, entry: &cqueue::Entry) -> Option<Completion> {
        let token = Token::from(entry.user_data());
        match token.op {
            Op::Receive | Op::Head => self.received(token, entry),
            Op::Accept => self.accepted(entry),
            Op::Silent => None,
            Op::Connect | Op::Drop | Op::Send | Op::Room => {
                let is_now = |c: &Connection| c.socket.is_some() && token.is_of(c.generation);
                self.connections.get(token.slot as usize).filter(|c| is_now(c))?;
                let event = match token.op {
                    Op::Connect => Some(self.connected(token.slot, entry.result())),
                    Op::Drop => Some(self.dropped(token.slot, entry.result())),
                    Op::Send => self.not_sent(token.slot, entry.result()),
                    _ => self.has_room(token.slot),
                }?;
                Some(Completion { slot: token.slot, event })
            }
        }
    }

    #[inline]
    fn received(&mut self, token: Token, entry: &cqueue::Entry) -> Option<Completion> {
        let buffer = cqueue::buffer_select(entry.flags());
        let slot = token.slot;
        let connection = self.connections.get_mut(slot as usize);
        let Some(connection) = connection.filter(|c| token.is_of(c.generation) && c.is_open()) else {
            if let Some(id) = buffer {
                self.pool.give_back(id);
            }
            return None;
        };
        let result = entry.result();
        let goes_on = cqueue::more(entry.flags());
        if !goes_on {
            connection.armed = None;
        }
        if result > 0 {
            connection.skip = connection.skip.saturating_sub(result as u64);
            if !goes_on {
                self.to_arm = Some(slot);
            }
            self.held = buffer.map(|id| (id, result as usize));
            return Some(Completion { slot, event: Event::Received });
        }
        if let Some(id) = buffer {
            self.pool.give_back(id);
        }
        let event = match -result {
            0 => Event::Ended,
            // Out of buffers, or told to receive otherwise: asked again.
            libc::ENOBUFS | libc::ECANCELED | libc::EINTR | libc::EAGAIN => {
                self.arm(slot);
                return None;
            }
            error => crate::failed(Operation::Receive, Errno::from_raw_os_error(error)),
        };
        Some(Completion { slot, event })
    }

    fn connected(&mut self, slot: Slot, result: i32) -> Event {
        let connection = &mut self.connections[slot as usize];
        connection.armed = None;
        if result < 0 {
            return crate::failed(Operation::Connect, Errno::from_raw_os_error(-result));
        }
        self.arm(slot);
        Event::Connected
    }

    fn dropped(&mut self, slot: Slot, result: i32) -> Event {
        let connection = &mut self.connections[slot as usize];
        connection.armed = None;
        match result {
            0 => Event::Ended,
            n if n > 0 => {
                connection.skip = connection.skip.saturating_sub(n as u64);
                self.to_arm = Some(slot);
                Event::Skipped(n as u64)
            }
            error => crate::failed(Operation::Receive, Errno::from_raw_os_error(-error)),
        }
    }

    /// A send is only heard of when it was not taken whole.
    fn not_sent(&mut self, slot: Slot, result: i32) -> Option<Event> {
        let taken = match result {
            n if n >= 0 => n as usize,
            n if n == -libc::EAGAIN => 0,
            error => return Some(crate::failed(Operation::Send, Errno::from_raw_os_error(-error))),
        };
        let is_kept = self.keep_rest(slot, taken);
        (!is_kept).then(|| crate::failed(Operation::Send, Errno::AGAIN))
    }

    fn has_room(&mut self, slot: Slot) -> Option<Event> {
        self.connections[slot as usize].is_blocked = false;
        if !self.flush(slot) {
            return None;
        }
        (!self.is_closed_now(slot)).then_some(Event::Drained)
    }

    #[allow(unsafe_code)]
    fn accepted(&mut self, entry: &cqueue::Entry) -> Option<Completion> {
        self.accepting &= cqueue::more(entry.flags());
        let result = entry.result();
        if result < 0 {
            let errno = Errno::from_raw_os_error(-result);
            return match errno {
                // A peer that went away again is no failure of ours.
                Errno::CONNABORTED | Errno::INTR | Errno::PROTO | Errno::CANCELED | Errno::AGAIN => None,
                _ => Some(Completion { slot: LISTENER, event: crate::failed(Operation::Accept, errno) }),
            };
        }
        // SAFETY: the kernel has just given us this descriptor, and nobody else has it.
        let socket = unsafe { OwnedFd::from_raw_fd(result) };
        let slot = self.free.pop().unwrap_or(self.connections.len() as Slot);
        let connection = self.connection(slot);
        connection.generation = connection.generation.wrapping_add(1);
        connection.socket = Some(socket);
        self.arm(slot);
        Some(Completion { slot, event: Event::Accepted })
    }
}
