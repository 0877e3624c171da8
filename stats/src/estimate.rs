//! Medians over trials and ratios paired by block, with bootstrap intervals over blocks.
//! The unit of replication is a trial (a fresh start of the server), never a request.

use crate::random;
use rand::RngExt;

/// How often the blocks are drawn again for an interval.
pub const DRAWS: usize = 10_000;

/// With fewer values than this an interval would be a guess, so there is none.
pub const MIN_FOR_INTERVAL: usize = 3;

/// How much of an effect may be the doing of the measurement, beyond chance. A server that is used otherwise
/// also works otherwise (colder caches, smaller batches): servers that spin for a known 20 µs came out as 1 to 2 %
/// of the effect slower than that, however often it was repeated. Equals are not concerned.
pub const SYSTEMATIC: f64 = 0.03;

/// A point and its 95 % interval; no interval where there are too few values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The point estimate.
    pub median: f64,
    /// The 2.5 % and the 97.5 % bound.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// Half the width of the interval as a share of the point.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        (self.median != 0.0).then(|| (high - low) / 2.0 / self.median.abs())
    }

    /// A difference with its interval wider by what is [`SYSTEMATIC`].
    #[must_use]
    pub fn with_systematic_difference(self) -> Self {
        let margin = SYSTEMATIC * self.median.abs();
        Self { interval: self.interval.map(|(low, high)| (low - margin, high + margin)), ..self }
    }

    /// A ratio with its interval wider by what is [`SYSTEMATIC`] of its logarithm.
    #[must_use]
    pub fn with_systematic_ratio(self) -> Self {
        self.map(f64::ln).with_systematic_difference().map(f64::exp)
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { median: f(self.median), interval: self.interval.map(|(low, high)| (f(low), f(high))) }
    }
}

/// The median; the mean of the middle two for an even count. `None` when empty.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    median_of_scratch(&mut sorted)
}

/// The median with a percentile-bootstrap interval (Efron 1979), seeded.
pub fn median_interval(values: &[f64], seed: u64) -> Option<Estimate> {
    let point = median(values)?;
    if values.len() < MIN_FOR_INTERVAL {
        return Some(Estimate { median: point, interval: None });
    }
    let mut generator = random::generator(seed);
    let mut draw = vec![0.0; values.len()];
    let mut medians: Vec<f64> = (0..DRAWS)
        .filter_map(|_| {
            draw.fill_with(|| values[generator.random_range(0..values.len())]);
            median_of_scratch(&mut draw)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    let at = |p: f64| medians[((p * DRAWS as f64) as usize).min(DRAWS - 1)];
    Some(Estimate { median: point, interval: Some((at(0.025), at(0.975))) })
}

/// The ratio of `values` to `base` as the median of the log-ratios paired by block, with its interval.
/// Blocks in which either is missing are left out; `None` when no block has both.
pub fn paired_ratio(values: &[Option<f64>], base: &[Option<f64>], seed: u64) -> Option<Estimate> {
    let logs: Vec<f64> = paired_logs(values, base);
    median_interval(&logs, seed).map(|e| e.map(f64::exp))
}

/// ln(value/base) for every block that has both.
pub fn paired_logs(values: &[Option<f64>], base: &[Option<f64>]) -> Vec<f64> {
    values
        .iter()
        .zip(base)
        .filter_map(|(v, b)| Some((v.as_ref()?, b.as_ref()?)))
        .filter(|(v, b)| **v > 0.0 && **b > 0.0)
        .map(|(v, b)| (v / b).ln())
        .collect()
}

fn median_of_scratch(values: &mut [f64]) -> Option<f64> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let (below, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = *middle;
    if n % 2 == 1 {
        return Some(middle);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, middle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_few_values_have_no_interval() {
        assert_eq!(median_interval(&[], 1), None);
        assert_eq!(median_interval(&[2.0, 4.0], 1), Some(Estimate { median: 3.0, interval: None }));
    }

    #[test]
    fn a_ratio_is_paired_by_block() {
        let machine = [1.0, 0.5, 2.0, 1.5, 0.8, 1.2];
        let fast: Vec<_> = machine.iter().map(|m| Some(130.0 * m)).collect();
        let slow: Vec<_> = machine.iter().map(|m| Some(100.0 * m)).collect();
        let ratio = paired_ratio(&fast, &slow, 1).unwrap();
        let wide = ratio.with_systematic_ratio().interval.unwrap();
        let narrow = ratio.interval.unwrap();
        let margin = 1.3_f64.ln() * SYSTEMATIC;
        assert!(
            ((narrow.0 / wide.0).ln() - margin).abs() < 1e-3
                && ((wide.1 / narrow.1).ln() - margin).abs() < 1e-3
        );
        let (low, high) = ratio.interval.unwrap();
        assert!((ratio.median - 1.3).abs() < 1e-12 && high - low < 1e-12);
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        let runs = 400;
        let covered = (0..runs)
            .filter(|run| {
                let noise =
                    |k: u64| (1..=12).map(|i| random::uniform(run * 31 + 7, k * 12 + i)).sum::<f64>() - 6.0;
                let values: Vec<f64> = (0..10).map(|k| 100.0 + 2.0 * noise(k)).collect();
                let (low, high) = median_interval(&values, *run).unwrap().interval.unwrap();
                low <= 100.0 && 100.0 <= high
            })
            .count();
        assert!(covered * 100 >= 88 * runs as usize, "{covered} of {runs}");
    }

    proptest! {
        #[test]
        fn the_median_is_that_of_the_sorted_list(values in prop::collection::vec(-1e9..1e9_f64, 1..60)) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let n = sorted.len();
            let exact = if n % 2 == 1 { sorted[n / 2] } else { f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]) };
            prop_assert_eq!(median(&values), Some(exact));
        }

        #[test]
        fn the_interval_holds_the_median_and_the_seed_decides(values in prop::collection::vec(1.0..1e6_f64, 3..15), seed in any::<u64>()) {
            let e = median_interval(&values, seed).unwrap();
            let (low, high) = e.interval.unwrap();
            prop_assert!(low <= e.median && e.median <= high);
            prop_assert_eq!(median_interval(&values, seed), Some(e));
        }
    }
}
