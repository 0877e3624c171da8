//! Searches for the highest rate that keeps a promise, in a way that noise does not mislead.
//!
//! Near the rate that is looked for, a measurement keeps the promise in one trial and breaks it in the next. A plain bisection takes one
//! such trial for the truth and never corrects it. This search keeps a belief about where the threshold is *and* about how wide the zone is
//! in which either may happen, and updates it after every trial by Bayes' rule (the method of Watson and Pelli 1983 for the thresholds of
//! perception, with the width unknown as in Kontsevich and Tyler 1999). A trial is asked for where it says most: around the middle of the
//! belief. What was measured anyway, at whatever rate, is taken in the same way.
//!
//! Its answer is the rate at which every second measurement of this length keeps the promise, and its interval that of
//! the belief: over simulated servers of known threshold (`stats/tests/queues`) it holds the truth in 95 % of searches (91
//! to 98 from server to server). Probabilistic bisection with a fixed chance of a right answer (Horstein 1963)
//! was not taken: near the threshold the chance is one half, whatever it is elsewhere, and its interval is far too narrow.

use crate::estimate::{CHANCE, CONFIDENCE};

/// The number of thresholds in the belief.
const PLACES: usize = 400;

/// How far thresholds reach above the highest rate, as a share of it, so that the search can find that even the highest rate keeps the
/// promise.
const BEYOND: f64 = 0.25;

/// The possible widths of the zone in which either may happen, as shares of the highest rate: from a step to a fifth.
const WIDTHS: [f64; 5] = [0.003, 0.01, 0.03, 0.08, 0.2];

/// The share of trials that come out by chance, wherever they are, because the machine had a hiccup.
const LAPSE: f64 = 0.02;

/// The places of the belief at which trials are asked for, in turn: its middle, and its flanks, which tell how wide the
/// zone is.
const ASKED: [f64; 3] = [0.5, 0.25, 0.75];

/// The belief about the highest rate that keeps the promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    lowest: f64,
    highest: f64,
    /// The logarithm of the belief, a row a width, a column a place.
    belief: Vec<[f64; PLACES]>,
    trials: usize,
    asked: usize,
}

/// The answer of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The rate, and its bounds with [`CONFIDENCE`]. A bound outside of the rates that can be tried is `None`.
    Found {
        /// The median of the belief.
        rate: f64,
        /// The lower bound.
        low: Option<f64>,
        /// The upper bound.
        high: Option<f64>,
    },
    /// Even the lowest rate does not keep the promise, with [`CONFIDENCE`].
    LowestDoesNot,
    /// Even the highest rate keeps the promise, with [`CONFIDENCE`].
    HighestKeeps,
}

impl Search {
    /// Begins a search in rates from `lowest` to `highest`, both above 0; `None` otherwise.
    pub fn new(lowest: f64, highest: f64) -> Option<Self> {
        let is_range = lowest > 0.0 && lowest < highest && highest.is_finite();
        let belief = vec![[0.0; PLACES]; WIDTHS.len()];
        is_range.then_some(Self { lowest, highest, belief, trials: 0, asked: 0 })
    }

    /// The number of trials so far.
    pub fn trials(&self) -> usize {
        self.trials
    }

    /// Takes in whether a trial at this rate kept the promise.
    pub fn observe(&mut self, rate: f64, is_kept: bool) {
        self.trials += 1;
        let places: Vec<f64> = (0..PLACES).map(|i| self.place(i)).collect();
        for (row, width) in self.belief.iter_mut().zip(WIDTHS) {
            for (cell, place) in row.iter_mut().zip(&places) {
                let keeps = logistic((place - rate) / (width * self.highest));
                let keeps = LAPSE / 2.0 + (1.0 - LAPSE) * keeps;
                *cell += if is_kept { keeps } else { 1.0 - keeps }.ln();
            }
        }
    }

    /// The rate for the next trial.
    pub fn next_rate(&mut self) -> f64 {
        let at = ASKED[self.asked % ASKED.len()];
        self.asked += 1;
        self.quantile(at).clamp(self.lowest, self.highest)
    }

    /// The answer so far.
    pub fn answer(&self) -> Answer {
        let tail = CHANCE / 2.0;
        let (low, high) = (self.quantile(tail), self.quantile(1.0 - tail));
        if self.quantile(CONFIDENCE) < self.lowest {
            return Answer::LowestDoesNot;
        }
        if self.quantile(CHANCE) > self.highest {
            return Answer::HighestKeeps;
        }
        Answer::Found {
            rate: self.quantile(0.5).clamp(self.lowest, self.highest),
            low: (low >= self.lowest).then_some(low),
            high: (high <= self.highest).then_some(high),
        }
    }

    /// Half the width of the interval as a share of the rate; `None` while a bound is unknown. For an answer outside of what can be
    /// tried it is 0.
    pub fn relative_half_width(&self) -> Option<f64> {
        match self.answer() {
            Answer::Found { rate, low: Some(low), high: Some(high) } => Some((high - low) / 2.0 / rate),
            Answer::Found { .. } => None,
            Answer::LowestDoesNot | Answer::HighestKeeps => Some(0.0),
        }
    }

    fn place(&self, i: usize) -> f64 {
        (i as f64 + 0.5) / PLACES as f64 * self.highest * (1.0 + BEYOND)
    }

    /// The threshold below which this share of the belief lies, interpolated linearly between two places.
    fn quantile(&self, share: f64) -> f64 {
        let most = self.belief.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        let weight = |i: usize| -> f64 { self.belief.iter().map(|row| (row[i] - most).exp()).sum() };
        let weights: Vec<f64> = (0..PLACES).map(weight).collect();
        let wanted = share * weights.iter().sum::<f64>();
        let step = self.place(1) - self.place(0);
        let mut below = 0.0;
        for (i, weight) in weights.iter().enumerate() {
            if below + weight >= wanted {
                return self.place(i) + step * ((wanted - below) / weight.max(f64::MIN_POSITIVE) - 0.5);
            }
            below += weight;
        }
        self.place(PLACES - 1)
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where a trial keeps it exactly up to `threshold`.
    fn exact(threshold: f64, trials: usize) -> Search {
        let mut search = Search::new(50.0, 1000.0).unwrap();
        for _ in 0..trials {
            let rate = search.next_rate();
            assert!((50.0..=1000.0).contains(&rate));
            search.observe(rate, rate < threshold);
        }
        search
    }

    #[test]
    fn a_threshold_without_noise_is_found() {
        for threshold in [80.0, 333.0, 707.0, 960.0] {
            let search = exact(threshold, 30);
            let Answer::Found { rate, low: Some(low), high: Some(high) } = search.answer() else {
                panic!("{threshold}: {:?}", search.answer())
            };
            assert!((rate - threshold).abs() < 20.0, "{threshold}: {rate}");
            assert!(low <= threshold && threshold <= high, "{threshold}: {low} to {high}");
            assert!(search.relative_half_width().unwrap() < 0.4 * 100.0 / threshold, "{threshold}");
        }
    }

    #[test]
    fn a_threshold_outside_of_what_can_be_tried_is_told() {
        assert_eq!(exact(0.0, 20).answer(), Answer::LowestDoesNot);
        assert_eq!(exact(2000.0, 20).answer(), Answer::HighestKeeps);
        assert_eq!(exact(2000.0, 20).relative_half_width(), Some(0.0));
    }

    #[test]
    fn nothing_is_sure_before_the_first_trial_and_no_range_is_no_search() {
        let search = Search::new(50.0, 1000.0).unwrap();
        assert!(matches!(search.answer(), Answer::Found { low: None, high: None, .. }));
        assert_eq!(search.relative_half_width(), None);
        for (low, high) in [(0.0, 1.0), (2.0, 1.0), (1.0, f64::INFINITY), (f64::NAN, 1.0)] {
            assert_eq!(Search::new(low, high), None);
        }
    }

    #[test]
    fn one_wrong_trial_is_made_good() {
        let mut search = Search::new(50.0, 1000.0).unwrap();
        // A hiccup at a low rate breaks a promise that is kept up to 600.
        search.observe(100.0, false);
        for _ in 0..30 {
            let rate = search.next_rate();
            search.observe(rate, rate < 600.0);
        }
        let Answer::Found { rate, .. } = search.answer() else { panic!("{:?}", search.answer()) };
        assert!((rate - 600.0).abs() < 30.0, "{rate}");
    }
}
