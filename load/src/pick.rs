//! Picks the next request: a pure function of how many were begun before, of the order and of the seed.

use model::{Ask, Order};
use stats::random;

/// Picks requests for one worker.
#[derive(Debug)]
pub struct Picker {
    order: Order,
    seed: u64,
    /// The number of requests begun before.
    k: u64,
    /// The shares of the requests, added up; the last is 1. Only where the order is random.
    shares: Vec<f64>,
    /// Where the part of the list begins that is picked from, and its length.
    from: u32,
    asks: u64,
}

impl Picker {
    /// A picker for worker `index` of `threads`. In turn, it begins with request number `index` times `at_once` of the list, so that each
    /// worker begins at another place.
    pub fn new(
        asks: &[Ask],
        order: Order,
        seed: u64,
        (index, threads): (usize, usize),
        at_once: usize,
    ) -> Self {
        let total: f64 = asks.iter().map(|ask| ask.weight).sum();
        let mut sum = 0.0;
        let add = |ask: &Ask| {
            sum += ask.weight / total;
            sum
        };
        let shares = match order {
            Order::InTurn | Order::ByThread => Vec::new(),
            Order::Random => asks.iter().map(add).collect(),
        };
        let k = match order {
            Order::InTurn => (index * at_once) as u64,
            Order::Random | Order::ByThread => 0,
        };
        let part = asks.len() / threads.max(1);
        // A list with fewer requests than there are workers can't be divided.
        let (from, asks) = if order == Order::ByThread && part > 0 && index < threads {
            (index * part, part)
        } else {
            (0, asks.len())
        };
        let seed = random::derive(&[seed, 1, (index * at_once) as u64]);
        Self { order, seed, k, shares, from: from as u32, asks: asks as u64 }
    }

    /// The index of the next request.
    #[inline]
    pub fn next(&mut self) -> u32 {
        if self.asks == 1 {
            return self.from;
        }
        let k = self.k;
        self.k += 1;
        match self.order {
            Order::InTurn | Order::ByThread => self.from + (k % self.asks) as u32,
            Order::Random => {
                let at = random::uniform(self.seed, k);
                self.shares.partition_point(|share| *share <= at).min(self.shares.len() - 1) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(weights: &[f64]) -> Vec<Ask> {
        weights.iter().map(|weight| Ask { weight: *weight, ..Ask::default() }).collect()
    }

    #[test]
    fn in_turn_means_in_turn() {
        let mut picker = Picker::new(&asks(&[1.0, 5.0, 1.0]), Order::InTurn, 0, (1, 2), 1);
        assert_eq!((0..7).map(|_| picker.next()).collect::<Vec<_>>(), [1, 2, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn by_thread_each_worker_has_its_part() {
        let picks = |asks: &[f64], index, threads| {
            let weights = self::asks(asks);
            let mut picker = Picker::new(&weights, Order::ByThread, 0, (index, threads), 1);
            (0..5).map(|_| picker.next()).collect::<Vec<_>>()
        };
        assert_eq!(picks(&[1.0; 6], 0, 2), [0, 1, 2, 0, 1]);
        assert_eq!(picks(&[1.0; 6], 1, 2), [3, 4, 5, 3, 4]);
        assert_eq!(picks(&[1.0; 2], 1, 2), [1; 5]);
        assert_eq!(picks(&[1.0; 2], 2, 3), [0, 1, 0, 1, 0], "too few to be divided");
    }

    #[test]
    fn random_picks_follow_the_weights_and_the_seed() {
        let counts = |seed| {
            let mut picker = Picker::new(&asks(&[1.0, 0.0, 3.0]), Order::Random, seed, (0, 1), 1);
            let mut counts = [0_u32; 3];
            (0..40_000).for_each(|_| counts[picker.next() as usize] += 1);
            counts
        };
        let [one, none, three] = counts(1);
        assert!(
            none == 0 && one.abs_diff(10_000) < 400 && three.abs_diff(30_000) < 400,
            "{one} {none} {three}"
        );
        assert_eq!(counts(1), counts(1));
        assert_ne!(counts(1), counts(2));
    }
}
