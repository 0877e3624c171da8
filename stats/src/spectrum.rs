//! The percentile spectrum: a histogram's whole distribution in few points, by the rule of `HdrHistogram`'s
//! percentile distribution. From 0 to ½ there is a number of evenly spaced ticks, as many from ½ to ¾, and so on, so that every halving of
//! the distance to 1 is shown as finely as the one before.

use crate::Histogram;
use hdrhistogram::iterators::IterationValue;

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
    if histogram.count() == 0 {
        return Vec::new();
    }
    let mut count = 0;
    let tick = |value: IterationValue<u64>| {
        count += value.count_since_last_iteration();
        Tick { p: value.quantile_iterated_to(), ns: value.value_iterated_to(), count }
    };
    histogram.inner().iter_quantiles(ticks_per_half.max(1)).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
