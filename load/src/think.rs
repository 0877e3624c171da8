//! Connections that wait before their next request, as people do between two pages.

use model::Think;
use net::Slot;
use stats::random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The waiting connections, with the end of each wait.
#[derive(Debug)]
pub struct Thinkers {
    think: Think,
    seed: u64,
    k: u64,
    waiting: BinaryHeap<Reverse<(u64, Slot)>>,
}

impl Thinkers {
    /// A queue in which no connection waits yet, and at most `connections` will.
    pub fn new(think: Think, seed: u64, index: usize, connections: usize) -> Self {
        let room = if think == Think::None { 0 } else { connections };
        let seed = random::derive(&[seed, 2, index as u64]);
        Self { think, seed, k: 0, waiting: BinaryHeap::with_capacity(room) }
    }

    /// Lets a connection wait. False: connections do not wait.
    #[inline]
    pub fn wait(&mut self, slot: Slot, now_ns: u64) -> bool {
        if self.think == Think::None {
            return false;
        }
        let pause_ns = self.pause_ns();
        self.waiting.push(Reverse((now_ns.saturating_add(pause_ns), slot)));
        true
    }

    /// When the next wait ends.
    pub fn next_ns(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse((until_ns, _))| *until_ns)
    }

    /// Returns a connection whose wait has ended.
    pub fn done(&mut self, now_ns: u64) -> Option<Slot> {
        self.next_ns().filter(|until_ns| *until_ns <= now_ns)?;
        self.waiting.pop().map(|Reverse((_, slot))| slot)
    }

    /// The length of the k-th wait, a function of k and the seed.
    fn pause_ns(&mut self) -> u64 {
        let at = random::uniform(self.seed, self.k);
        self.k += 1;
        match self.think {
            Think::None => 0,
            Think::Between(low, high) => {
                let (low, high) = (low.as_nanos() as f64, high.as_nanos() as f64);
                (low + (high - low) * at) as u64
            }
            Think::Exponential(mean) => (-at.ln() * mean.as_nanos() as f64) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_has_waited_longest_goes_first() {
        let pause = Duration::from_nanos(100);
        let mut thinkers = Thinkers::new(Think::Between(pause, pause), 0, 0, 2);
        assert!(thinkers.wait(7, 5) && thinkers.wait(8, 0));
        assert_eq!((thinkers.done(99), thinkers.next_ns()), (None, Some(100)));
        assert_eq!([thinkers.done(105), thinkers.done(105), thinkers.done(105)], [Some(8), Some(7), None]);
    }

    #[test]
    fn pauses_have_the_spread_that_was_asked_for() {
        let mean = |think| {
            let mut thinkers = Thinkers::new(think, 3, 0, 1);
            (0..50_000).map(|_| thinkers.pause_ns() as f64).sum::<f64>() / 50_000.0
        };
        let ms = Duration::from_millis;
        assert!((mean(Think::Between(ms(1), ms(3))) / 2e6 - 1.0).abs() < 0.01);
        assert!((mean(Think::Exponential(ms(2))) / 2e6 - 1.0).abs() < 0.02);
    }
}
