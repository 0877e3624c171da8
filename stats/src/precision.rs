//! How many blocks a wanted precision takes, computed from how much the ratio varies from block to block.

use crate::estimate::CONFIDENCE;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Fewer blocks have no interval (see [`crate::signed_rank`]).
pub const LEAST_BLOCKS: usize = 6;

/// The largest number of blocks of a forecast: no run has more.
const MOST_BLOCKS: usize = 100_000;

/// The standard deviation; `None` for fewer than three values, which are too few for one.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    if values.len() < 3 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    Some((values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

/// The likely half width of an interval over this number of blocks: Student's, which for a handful of values and normal noise is as wide as
/// that of the signed ranks to within a few percent.
pub fn half_width(deviation: f64, blocks: usize) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, blocks.checked_sub(1)? as f64).ok()?;
    Some(student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) * deviation / (blocks as f64).sqrt())
}

/// The least number of blocks after which the half width is likely to be at most this; `None` where even 100,000 would not be enough.
pub fn blocks_for(deviation: f64, half: f64) -> Option<usize> {
    let is_enough = |n: usize| half_width(deviation, n).is_some_and(|width| width <= half);
    if !is_enough(MOST_BLOCKS) {
        return None;
    }
    // The width falls with every block: halve the range that holds the answer.
    let (mut low, mut high) = (LEAST_BLOCKS, MOST_BLOCKS);
    while low < high {
        let middle = usize::midpoint(low, high);
        if is_enough(middle) { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{centre_interval, random};

    #[test]
    fn it_foretells_the_interval_that_comes() {
        for (sd, half) in [(0.02, 0.015), (0.05, 0.03), (0.01, 0.005)] {
            let blocks = blocks_for(sd, half).unwrap();
            let width = |seed: u64| {
                let gauss = |k: u64| (1..=12).map(|i| random::uniform(seed, k * 12 + i)).sum::<f64>() - 6.0;
                let logs: Vec<f64> = (0..blocks as u64).map(|k| sd * gauss(k)).collect();
                let (low, high) = centre_interval(&logs).unwrap().interval.unwrap();
                (high - low) / 2.0
            };
            let mean = (0..400).map(width).sum::<f64>() / 400.0;
            assert!((mean / half - 1.0).abs() < 0.15, "{blocks} blocks: ±{mean} for ±{half}");
        }
    }

    #[test]
    fn fewer_blocks_would_not_do_and_some_precisions_are_beyond_reason() {
        let blocks = blocks_for(0.02, 0.01).unwrap();
        assert!(half_width(0.02, blocks).unwrap() <= 0.01 && half_width(0.02, blocks - 1).unwrap() > 0.01);
        assert_eq!((blocks_for(0.0, 0.01), blocks_for(0.5, 1e-6)), (Some(LEAST_BLOCKS), None));
        assert_eq!(blocks_for(f64::NAN, 0.01), None);
    }

    #[test]
    fn a_deviation_needs_three_values() {
        assert_eq!((deviation(&[]), deviation(&[1.0, 2.0])), (None, None));
        assert_eq!(deviation(&[1.0, 2.0, 3.0]), Some(1.0));
    }
}
