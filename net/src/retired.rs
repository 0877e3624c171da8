//! Connections that their owner has given up, and that their peers may still close first. Whoever closes a TCP connection first keeps
//! its two ports busy for a minute (TIME-WAIT, RFC 9293 section 3.6.1), so a client leaves that to the server. A server that does not
//! close in time is not waited for any longer: its connection is reset. That loses nothing, since the last answer is whole and nothing
//! else was asked for, and it leaves TIME-WAIT on neither side. If the client closed without a reset, it would keep the ports:
//! at 1,000 connections a second, all 28,000 local ports would be in use after half a minute.

use crate::Slot;
use std::collections::VecDeque;

/// The retired connections of a back end, the oldest first. `S`: a socket, and what the back end knows of it.
pub struct Retired<S> {
    line: VecDeque<Entry<S>>,
}

struct Entry<S> {
    slot: Slot,
    generation: u32,
    until_ns: u64,
    /// `None`: it is closed.
    socket: Option<S>,
}

impl<S> Retired<S> {
    /// None yet.
    pub fn new() -> Self {
        Self { line: VecDeque::new() }
    }

    /// Adds a connection that its peer may close until `until_ns`, which is no earlier than that of the others.
    pub fn push(&mut self, slot: Slot, generation: u32, until_ns: u64, socket: S) {
        self.line.push_back(Entry { slot, generation, until_ns, socket: Some(socket) });
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// The end of the oldest one's time.
    #[inline]
    pub fn until_ns(&self) -> Option<u64> {
        self.line.front().map(|entry| entry.until_ns)
    }

    /// The socket that had this slot, if `is_it` holds for its generation. Looks at each: in ten milliseconds a few hundred are
    /// retired at most, and hardly one stays where servers close.
    pub fn find(&mut self, slot: Slot, is_it: impl Fn(u32) -> bool) -> Option<&mut S> {
        let mut those = self.line.iter_mut().filter(|entry| entry.slot == slot && is_it(entry.generation));
        those.find_map(|entry| entry.socket.as_mut())
    }

    /// Takes the same socket out.
    pub fn take(&mut self, slot: Slot, is_it: impl Fn(u32) -> bool) -> Option<S> {
        let mut those = self.line.iter_mut().filter(|entry| entry.slot == slot && is_it(entry.generation));
        let socket = those.find_map(|entry| entry.socket.take());
        while self.line.front().is_some_and(|entry| entry.socket.is_none()) {
            self.line.pop_front();
        }
        socket
    }

    /// Takes the next one out whose time is up, with its slot and generation.
    pub fn take_overdue(&mut self, now_ns: u64) -> Option<(Slot, u32, S)> {
        while self.until_ns().is_some_and(|until_ns| until_ns <= now_ns) {
            let Entry { slot, generation, socket, .. } = self.line.pop_front()?;
            if let Some(socket) = socket {
                return Some((slot, generation, socket));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_found_by_its_slot_and_generation_until_its_time_is_up() {
        let mut retired = Retired::new();
        assert_eq!((retired.is_empty(), retired.until_ns()), (true, None));
        for (slot, generation, until_ns) in [(1, 7, 10), (1, 8, 20), (2, 7, 30), (3, 7, 40)] {
            retired.push(slot, generation, until_ns, (slot, generation));
        }
        let mut find = |slot, generation| retired.find(slot, |g| g == generation).copied();
        assert_eq!([find(1, 8), find(1, 9), find(4, 7)], [Some((1, 8)), None, None]);
        assert_eq!(retired.take(1, |g| g == 8), Some((1, 8)));
        assert_eq!((retired.take(1, |g| g == 8), retired.until_ns()), (None, Some(10)));
        assert_eq!(retired.take(1, |g| g == 7), Some((1, 7)));
        assert_eq!(retired.until_ns(), Some(30), "those that are closed are not waited for");
        assert_eq!(retired.take_overdue(29), None);
        let overdue = std::iter::from_fn(|| retired.take_overdue(40)).collect::<Vec<_>>();
        assert_eq!(overdue, [(2, 7, (2, 7)), (3, 7, (3, 7))]);
        assert!(retired.is_empty());
    }
}
