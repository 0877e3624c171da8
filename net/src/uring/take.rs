//! Converts completions of the ring to completions of the interface.

use super::connection::{Connection, Receiving};
use super::entries::{Op, Token};
use super::{Uring, receives};
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
                if !self.connections.get(token.slot as usize).is_some_and(is_now) {
                    self.heard_of_retired(token, entry);
                    return None;
                }
                let event = match token.op {
                    Op::Connect => Some(self.connected(token.slot, entry.result())),
                    Op::Drop => self.dropped(token.slot, entry.result()),
                    Op::Send => self.not_sent(token.slot, entry.result()),
                    _ => self.has_room(token.slot),
                }?;
                let is_open = self.connections[token.slot as usize].is_open();
                is_open.then_some(Completion { slot: token.slot, event })
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
            self.heard_of_retired(token, entry);
            return None;
        };
        let result = entry.result();
        let goes_on = cqueue::more(entry.flags());
        if result > 0 {
            connection.wanted.received(result as u64);
            if !goes_on {
                connection.receiving = Receiving::Due;
                self.due = Some(slot);
            }
            self.held = buffer.map(|id| (id, result as usize));
            return Some(Completion { slot, event: Event::Received });
        }
        if let Some(id) = buffer {
            self.pool.give_back(id);
        }
        let event = self.received_nothing(slot, result)?;
        Some(Completion { slot, event })
    }

    /// Handles a receive that has ended.
    fn received_nothing(&mut self, slot: Slot, result: i32) -> Option<Event> {
        self.connections[slot as usize].receiving = Receiving::Off;
        match -result {
            0 => Some(Event::Ended),
            error if receives::is_asked_again(error) => {
                if error == libc::ENOBUFS {
                    self.grow();
                }
                self.arm(slot);
                None
            }
            error => Some(crate::failed(Operation::Receive, Errno::from_raw_os_error(error))),
        }
    }

    /// Offers the kernel more buffers, once a turn, however many connections had none.
    #[cold]
    fn grow(&mut self) {
        let turn = self.outbox.turn();
        if self.grown != turn {
            self.grown = turn;
            self.pool.grow();
        }
    }

    fn connected(&mut self, slot: Slot, result: i32) -> Event {
        self.connections[slot as usize].receiving = Receiving::Off;
        if result < 0 {
            return crate::failed(Operation::Connect, Errno::from_raw_os_error(-result));
        }
        self.arm(slot);
        Event::Connected
    }

    fn dropped(&mut self, slot: Slot, result: i32) -> Option<Event> {
        if result <= 0 {
            return self.received_nothing(slot, result);
        }
        let connection = &mut self.connections[slot as usize];
        connection.wanted.dropped(result as u64);
        connection.receiving = Receiving::Due;
        self.due = Some(slot);
        Some(Event::Skipped(result as u64))
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
        let connection = crate::place(&mut self.connections, slot);
        connection.generation = connection.generation.wrapping_add(1);
        connection.socket = Some(socket);
        self.arm(slot);
        Some(Completion { slot, event: Event::Accepted })
    }
}
