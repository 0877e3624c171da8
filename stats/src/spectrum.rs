//! The percentile spectrum: a histogram's whole distribution in few points, by the rule of `HdrHistogram`'s
//! percentile distribution. From 0 to ½ there is a number of evenly spaced ticks, as many from ½ to ¾, and so on, so that every halving of
//! the distance to 1 is shown as finely as the one before.

use crate::{Counts, Histogram};

/// The ticks per halving that the tools of `HdrHistogram` print.
pub const TICKS_PER_HALF: u32 = 5;

/// One point of the distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// The share of all durations, from 0 to 1.
    pub p: f64,
    /// The duration that this share of them does not exceed, to the histogram's resolution.
    pub ns: u64,
    /// The number of durations that do not exceed it; in a coarse distribution more than the share asks for.
    pub count: u64,
}

/// The ticks of a histogram, the last one at 1; none of an empty one.
pub fn spectrum(histogram: &Histogram, ticks_per_half: u32) -> Vec<Tick> {
    let counts = Counts::of(histogram);
    let recorded = counts.pairs();
    let total = histogram.count() as f64;
    let mut ticks: Vec<Tick> = Vec::new();
    let (mut p, mut count) = (0.0, 0);
    for (i, (ns, n)) in recorded.iter().copied().enumerate() {
        count += n;
        let is_last = i + 1 == recorded.len();
        while p <= count as f64 / total {
            ticks.push(Tick { p, ns, count });
            if p == 1.0 {
                return ticks;
            }
            // All further ticks of the longest duration would say the same as the one at 1.
            p = if is_last { 1.0 } else { next(p, ticks_per_half) };
        }
    }
    ticks
}

/// The tick after `p`: each halving of the distance to 1 is divided into `ticks_per_half` equal steps.
fn next(p: f64, ticks_per_half: u32) -> f64 {
    let halvings = (1.0 / (1.0 - p)).log2().floor() as i32;
    let step = 1.0 / (f64::from(ticks_per_half.max(1)) * 2_f64.powi(halvings + 1));
    // Close to 1 a step is lost in rounding.
    if p + step == p { 1.0 } else { p + step }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_has_no_ticks_and_a_single_value_two() {
        let mut h = Histogram::new();
        assert_eq!(spectrum(&h, TICKS_PER_HALF), []);
        (0..3).for_each(|_| h.record(1000));
        let ends = [0.0, 1.0].map(|p| Tick { p, ns: 1000, count: 3 });
        assert_eq!(spectrum(&h, TICKS_PER_HALF), ends);
    }

    #[test]
    fn five_ticks_a_half() {
        let mut h = Histogram::new();
        (1..=1000).for_each(|ns| h.record(ns));
        let ticks = spectrum(&h, 5);
        let shown: Vec<String> = ticks.iter().take(13).map(|t| format!("{:.3}", t.p)).collect();
        let expected = "0.000 0.100 0.200 0.300 0.400 0.500 0.550 0.600 0.650 0.700 0.750 0.775 0.800";
        assert_eq!(shown.join(" "), expected);
        // A share that is a sum of tenths may be a rounding above the value that it stands for.
        assert!(ticks.iter().all(|t| (t.ns as f64 - t.p * 1000.0) <= 1.5 && t.count == t.ns), "{ticks:?}");
        assert_eq!(ticks.last(), Some(&Tick { p: 1.0, ns: 1000, count: 1000 }));
    }

    /// The crate's own iterator, which follows the reference implementation.
    fn oracle(values: &[u64], ticks_per_half: u32) -> Vec<Tick> {
        let mut h = hdrhistogram::Histogram::<u64>::new_with_bounds(1, crate::histogram::MAX_NS, 3).unwrap();
        values.iter().for_each(|v| h.record(*v).unwrap());
        let mut count = 0;
        let tick = |v: hdrhistogram::iterators::IterationValue<u64>| {
            count += v.count_since_last_iteration();
            Tick { p: v.quantile_iterated_to(), ns: v.value_iterated_to(), count }
        };
        h.iter_quantiles(ticks_per_half).map(tick).collect()
    }

    proptest! {
        #[test]
        fn the_ticks_are_those_of_the_crate(
            exponents in prop::collection::vec(0.0..41.0_f64, 1..2000),
            ticks_per_half in 1..20_u32
        ) {
            let values: Vec<u64> = exponents.iter().map(|e| e.exp2() as u64).collect();
            let mut h = Histogram::new();
            values.iter().for_each(|v| h.record(*v));
            prop_assert_eq!(spectrum(&h, ticks_per_half), oracle(&values, ticks_per_half));
        }
    }
}
