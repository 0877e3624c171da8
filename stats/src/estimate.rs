//! Estimates of one contender and comparisons of two, with their intervals. The unit of replication is a trial (a fresh
//! start of the server), never a request.

use crate::median::median;
use crate::signed_rank;

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The number of blocks that are run after the one with which everything was known well enough. A run that stops as soon as its interval is
/// narrow enough tends to stop when the interval happens to be too narrow: at ±1.5 % and normal noise it then covers the truth in 92.8 %
/// instead of 95 % of runs; with two blocks more, in 93.5 % (`stats/tests/simulation`).
pub const BLOCKS_AFTER_ENOUGH: usize = 2;

/// The share of an effect that the measurement itself may cause, beyond chance. A server that is loaded differently also works differently
/// (colder caches, smaller batches): with servers that spin for a known 20 µs, the measured effect was 1 to 2 % larger than the true one,
/// however often this was repeated. Equal contenders are not affected.
pub const SYSTEMATIC: f64 = 0.03;

/// A point estimate and its interval of [`CONFIDENCE`]; no interval where there are too few values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The point estimate.
    pub median: f64,
    /// The bounds of the interval.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// Half the width of the interval as a share of the point.
    pub fn relative_half_width(&self) -> Option<f64> {
        let (low, high) = self.interval?;
        (self.median != 0.0).then(|| (high - low) / 2.0 / self.median.abs())
    }

    /// Widens the interval of a difference by the share [`SYSTEMATIC`].
    #[must_use]
    pub fn with_systematic_difference(self) -> Self {
        let margin = SYSTEMATIC * self.median.abs();
        Self { interval: self.interval.map(|(low, high)| (low - margin, high + margin)), ..self }
    }

    /// Widens the interval of a ratio by the share [`SYSTEMATIC`] of its logarithm.
    #[must_use]
    pub fn with_systematic_ratio(self) -> Self {
        self.map(f64::ln).with_systematic_difference().map(f64::exp)
    }

    /// Turns an estimate of logarithms into one of their values.
    #[must_use]
    pub fn exp(self) -> Self {
        self.map(f64::exp)
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { median: f(self.median), interval: self.interval.map(|(low, high)| (f(low), f(high))) }
    }
}

/// The median, and the bounds between which the median of all such values lies, by order statistics: no distribution of the noise is
/// assumed. Between two ranks, whose coverage is known, bounds are interpolated (Hettmansperger and Sheather 1986). There is no interval
/// for fewer than six values, because it could not reach 95 %.
pub fn median_interval(values: &[f64]) -> Option<Estimate> {
    let median = median(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(Estimate { median, interval: order_bounds(&sorted) })
}

/// The ratio of `values` to `base`: the centre of the log-ratios paired by block, with its interval.
/// Blocks in which either is missing are left out; `None` when no block has both.
pub fn paired_ratio(values: &[Option<f64>], base: &[Option<f64>]) -> Option<Estimate> {
    centre_interval(&paired_logs(values, base)).map(Estimate::exp)
}

/// The centre of differences paired by block, with its interval; see [`signed_rank`].
pub fn centre_interval(differences: &[f64]) -> Option<Estimate> {
    let median = signed_rank::centre(differences)?;
    Some(Estimate { median, interval: signed_rank::interval(differences, CONFIDENCE) })
}

fn order_bounds(sorted: &[f64]) -> Option<(f64, f64)> {
    let n = sorted.len();
    let half = 0.5_f64.powi(i32::try_from(n).ok()?);
    // The coverage of the k-th value from below and from above, for k = 1, 2, …; the first must be enough.
    let (mut choose, mut coverage, mut k) = (1.0, 1.0 - 2.0 * half, 1);
    if coverage < CONFIDENCE {
        return None;
    }
    loop {
        choose *= (n - k + 1) as f64 / k as f64;
        let inner = coverage - 2.0 * choose * half;
        if inner < CONFIDENCE {
            let share = (coverage - CONFIDENCE) / (coverage - inner);
            let (n, rank) = (n as f64, k as f64);
            let share = (n - rank) * share / (rank + (n - 2.0 * rank) * share);
            let between = |a: f64, b: f64| if a == b { a } else { a + share * (b - a) };
            let at = |from_below: usize| sorted[from_below - 1];
            return Some((
                between(at(k), at(k + 1)),
                between(at(sorted.len() + 1 - k), at(sorted.len() - k)),
            ));
        }
        (coverage, k) = (inner, k + 1);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_few_values_have_no_interval() {
        assert_eq!((median_interval(&[]), centre_interval(&[])), (None, None));
        assert_eq!(median_interval(&[2.0, 4.0]), Some(Estimate { median: 3.0, interval: None }));
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(
            (median_interval(&five).unwrap().interval, centre_interval(&five).unwrap().interval),
            (None, None)
        );
    }

    #[test]
    fn a_ratio_is_paired_by_block() {
        let machine = [1.0, 0.5, 2.0, 1.5, 0.8, 1.2];
        let fast: Vec<_> = machine.iter().map(|m| Some(130.0 * m)).collect();
        let slow: Vec<_> = machine.iter().map(|m| Some(100.0 * m)).collect();
        let ratio = paired_ratio(&fast, &slow).unwrap();
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
    fn the_bounds_of_a_median_lie_between_the_ranks_that_a_table_has() {
        // Of ten values the second and the ninth cover 97.9 %, the third and the eighth 89.1 %.
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let (low, high) = median_interval(&ten).unwrap().interval.unwrap();
        assert!(low > 2.0 && low < 3.0 && (low + high - 11.0).abs() < 1e-12, "{low} {high}");
        let many: Vec<f64> = (1..=101).map(f64::from).collect();
        let (low, high) = median_interval(&many).unwrap().interval.unwrap();
        assert!((41.0..=42.0).contains(&low) && (60.0..=61.0).contains(&high), "{low} {high}");
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_point(values in prop::collection::vec(1.0..1e6_f64, 6..60)) {
            for e in [median_interval(&values).unwrap(), centre_interval(&values).unwrap()] {
                let (low, high) = e.interval.unwrap();
                prop_assert!(low <= e.median && e.median <= high);
            }
        }
    }
}
