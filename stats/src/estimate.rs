//! Estimates of one contender, with their intervals. The unit of replication is a fresh start of the server, never a request.

use crate::median::median;

/// The probability with which a statement may be wrong.
pub const CHANCE: f64 = 0.05;

/// The confidence of intervals.
pub const CONFIDENCE: f64 = 1.0 - CHANCE;

/// Of fewer starts, nothing is said about how they scatter.
pub(crate) const LEAST_STARTS: usize = 3;

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

/// The median, and the bounds between which the median of all such values lies, by order statistics: no distribution of the noise is
/// assumed. Between two ranks, whose coverage is known, bounds are interpolated (Hettmansperger and Sheather 1986). There is no interval
/// for fewer than six values, because it could not reach 95 %.
pub fn median_interval(values: &[f64]) -> Option<Estimate> {
    let median = median(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(Estimate { median, interval: order_bounds(&sorted) })
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_few_values_have_no_interval() {
        assert_eq!(median_interval(&[]), None);
        assert_eq!(median_interval(&[2.0, 4.0]), Some(Estimate { median: 3.0, interval: None }));
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(median_interval(&five).unwrap().interval, None);
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
            let e = median_interval(&values).unwrap();
            let (low, high) = e.interval.unwrap();
            prop_assert!(low <= e.median && e.median <= high);
        }
    }
}
