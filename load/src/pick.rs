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
    asks: u64,
}

impl Picker {
    /// A picker that begins, in turn, with request number `index` of the list, so that each worker can begin at another place.
    pub fn new(asks: &[Ask], order: Order, seed: u64, index: usize) -> Self {
        let total: f64 = asks.iter().map(|ask| ask.weight).sum();
        let mut sum = 0.0;
        let add = |ask: &Ask| {
            sum += ask.weight / total;
            sum
        };
        let shares = match order {
            Order::InTurn => Vec::new(),
            Order::Random => asks.iter().map(add).collect(),
        };
        let k = match order {
            Order::InTurn => index as u64,
            Order::Random => 0,
        };
        Self { order, seed: random::derive(&[seed, 1, index as u64]), k, shares, asks: asks.len() as u64 }
    }

    /// The index of the next request.
    #[inline]
    pub fn next(&mut self) -> u32 {
        if self.asks == 1 {
            return 0;
        }
        let k = self.k;
        self.k += 1;
        match self.order {
            Order::InTurn => (k % self.asks) as u32,
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
        let mut picker = Picker::new(&asks(&[1.0, 5.0, 1.0]), Order::InTurn, 0, 1);
        assert_eq!((0..7).map(|_| picker.next()).collect::<Vec<_>>(), [1, 2, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn random_picks_follow_the_weights_and_the_seed() {
        let counts = |seed| {
            let mut picker = Picker::new(&asks(&[1.0, 0.0, 3.0]), Order::Random, seed, 0);
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
