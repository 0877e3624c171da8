//! The deadlines of connections on which something may take too long. A request moves its connection's deadline, but not its place in
//! the queue: a look that comes too early asks for a later one. So a request costs one comparison, and a connection one look in the
//! time that a request may take, however many connections there are.

use net::Slot;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The queue of looks.
#[derive(Debug)]
pub struct Deadlines {
    queue: BinaryHeap<Reverse<(u64, Slot)>>,
    /// The first look at each connection in the queue.
    first_ns: Box<[u64]>,
}

/// The mark of a connection without a look in the queue.
const NEVER: u64 = u64::MAX;

impl Deadlines {
    /// A queue for this number of connections, none of which waits for anything.
    pub fn new(connections: usize) -> Self {
        let first_ns = vec![NEVER; connections].into_boxed_slice();
        Self { queue: BinaryHeap::with_capacity(connections), first_ns }
    }

    /// Asks for a look at a connection no later than `by_ns`.
    #[inline]
    pub fn watch(&mut self, slot: Slot, by_ns: u64) {
        if by_ns < self.first_ns[slot as usize] {
            self.first_ns[slot as usize] = by_ns;
            self.queue.push(Reverse((by_ns, slot)));
        }
    }

    /// Returns the next connection whose look is due. What it still waits for must be watched again.
    #[inline]
    pub fn due(&mut self, now_ns: u64) -> Option<Slot> {
        while let Some(Reverse((by_ns, slot))) =
            self.queue.peek().copied().filter(|Reverse((by_ns, _))| *by_ns <= now_ns)
        {
            self.queue.pop();
            // A look that was replaced by an earlier one is skipped.
            if self.first_ns[slot as usize] == by_ns {
                self.first_ns[slot as usize] = NEVER;
                return Some(slot);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(deadlines: &mut Deadlines, now_ns: u64) -> Vec<Slot> {
        std::iter::from_fn(|| deadlines.due(now_ns)).collect()
    }

    #[test]
    fn the_soonest_come_first_and_a_later_wish_adds_nothing() {
        let mut deadlines = Deadlines::new(3);
        deadlines.watch(0, 30);
        deadlines.watch(1, 10);
        deadlines.watch(0, 40);
        deadlines.watch(2, 10);
        assert_eq!(deadlines.queue.len(), 3);
        assert_eq!(due(&mut deadlines, 9), [0; 0]);
        assert_eq!(due(&mut deadlines, 10), [1, 2]);
        assert_eq!(due(&mut deadlines, 100), [0]);
        assert_eq!(due(&mut deadlines, 100), [0; 0]);
    }

    #[test]
    fn an_earlier_wish_comes_earlier_and_only_once() {
        let mut deadlines = Deadlines::new(1);
        deadlines.watch(0, 30);
        deadlines.watch(0, 20);
        assert_eq!(due(&mut deadlines, 20), [0]);
        deadlines.watch(0, 50);
        assert_eq!(due(&mut deadlines, 40), [0; 0]);
        assert_eq!(due(&mut deadlines, 50), [0]);
    }
}
