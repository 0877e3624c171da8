//! Durations in nanoseconds, 1 ns to 1 h, to three significant digits (`HdrHistogram`).
//! Values outside are held at the bounds; an empty histogram has no percentiles, not zeros.

use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// The largest duration that is recorded as itself: one hour.
pub const MAX_NS: u64 = 3_600_000_000_000;

/// The largest number of durations in a histogram that is read: more than any run counts, and few enough that sums do not overflow.
const MOST_READ: u64 = 1 << 48;

/// The length in bytes of the V2 encoding's head: cookie, length of the rest, offset, digits, both bounds, ratio.
const HEAD: usize = 40;

/// The place of the length in the head.
const LENGTH: std::ops::Range<usize> = 4..8;

/// A histogram of durations in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram. All its memory is taken here; recording allocates nothing.
    #[expect(clippy::missing_panics_doc, reason = "the bounds are constants and valid")]
    pub fn new() -> Self {
        Self(hdrhistogram::Histogram::new_with_bounds(1, MAX_NS, 3).expect("constant bounds are valid"))
    }

    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns.max(1));
    }

    /// Counts one duration `n` times.
    pub fn record_n(&mut self, ns: u64, n: u64) {
        self.0.saturating_record_n(ns.max(1), n);
    }

    /// Takes back one duration that was recorded. It compares all counts, so it is for rare cases.
    pub fn take_back(&mut self, ns: u64) {
        let mut one = Self::new();
        one.record(ns);
        self.subtract(&one);
    }

    /// Takes back everything that `part` counted, all of which was recorded here as well.
    pub fn subtract(&mut self, part: &Self) {
        let is_part = self.0.subtract(&part.0);
        debug_assert!(is_part.is_ok(), "what was not recorded can't be taken back");
    }

    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// Adds everything that `other` counted.
    #[expect(clippy::missing_panics_doc, reason = "all histograms have the same bounds")]
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all histograms have the same bounds");
    }

    /// The number of counted durations.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The smallest duration such that `p` (0 to 1) of all are no longer. `None` when empty.
    pub fn quantile_ns(&self, p: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(p).min(self.0.max()))
    }

    /// The shortest duration, to the histogram's resolution.
    pub fn min_ns(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.min())
    }

    /// The longest duration, to the histogram's resolution.
    pub fn max_ns(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.max())
    }

    /// The arithmetic mean.
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.mean())
    }

    /// The standard deviation (over n).
    pub fn sd_ns(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.stdev())
    }

    /// Every duration that was counted, to the histogram's resolution and in order, with its count.
    pub(crate) fn recorded(&self) -> Vec<(u64, u64)> {
        self.0.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect()
    }

    /// The histogram in the type that the crate's writers take.
    pub(crate) fn inner(&self) -> &hdrhistogram::Histogram<u64> {
        &self.0
    }

    /// The histogram in `HdrHistogram`'s own V2 encoding.
    #[expect(clippy::missing_panics_doc, reason = "writing to memory does not fail")]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.0, &mut bytes).expect("writing to memory does not fail");
        bytes
    }

    /// Reads the output of [`Histogram::to_bytes`]. `None` for any other bytes, which may come from anyone: reading them takes no more
    /// memory than a histogram.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut own = Self::new();
        if !is_own(bytes, &own.to_bytes()) {
            return None;
        }
        let read: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut &*bytes).ok()?;
        own.0.add(&read).ok()?;
        (own.count() <= MOST_READ).then_some(own)
    }
}

/// Whether bytes have the head of our own encoding. The crate allocates whatever the head asks for, however much it is.
fn is_own(bytes: &[u8], empty: &[u8]) -> bool {
    let (Some(head), Some(own)) = (bytes.get(..HEAD), empty.get(..HEAD)) else { return false };
    let length = u32::try_from(bytes.len() - HEAD).unwrap_or(u32::MAX).to_be_bytes();
    let is_alike = head[..LENGTH.start] == own[..LENGTH.start] && head[LENGTH.end..] == own[LENGTH.end..];
    // Nine bytes of 255 encode the one number of empty places that the crate can't negate.
    is_alike && head[LENGTH] == length && !bytes[HEAD..].windows(9).any(|nine| nine == [u8::MAX; 9])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_histogram_knows_nothing() {
        let h = Histogram::new();
        assert_eq!((h.count(), h.min_ns(), h.quantile_ns(0.5), h.mean_ns()), (0, None, None, None));
    }

    #[test]
    fn values_beyond_the_bounds_are_held_at_them() {
        let mut h = Histogram::new();
        h.record(0);
        h.record(u64::MAX);
        assert_eq!(h.min_ns(), Some(1));
        assert!(h.max_ns().unwrap() as f64 / MAX_NS as f64 > 0.999);
    }

    #[test]
    fn bytes_that_are_no_histogram_of_ours_are_refused_and_take_no_room() {
        let mut h = Histogram::new();
        h.record_n(1_000_000, 7);
        let good = h.to_bytes();
        assert_eq!(Histogram::from_bytes(&good), Some(h));
        let with = |at: usize, bytes: &[u8]| {
            let mut other = good.clone();
            other[at..at + bytes.len()].copy_from_slice(bytes);
            Histogram::from_bytes(&other)
        };
        assert_eq!(with(4, &u32::MAX.to_be_bytes()), None, "4 GiB of counts");
        assert_eq!(with(12, &5_u32.to_be_bytes()), None, "more digits");
        assert_eq!(with(24, &u64::MAX.to_be_bytes()), None, "another bound");
        assert_eq!(Histogram::from_bytes(&[]), None);
        assert_eq!(Histogram::from_bytes(&good[..good.len() - 1]), None);
        let mut endless = good[..HEAD].to_vec();
        endless.extend([u8::MAX; 9]);
        endless[LENGTH].copy_from_slice(&9_u32.to_be_bytes());
        assert_eq!(Histogram::from_bytes(&endless), None);
        let mut many = Histogram::new();
        many.record_n(5, MOST_READ + 1);
        assert_eq!(Histogram::from_bytes(&many.to_bytes()), None);
    }

    proptest! {
        #[test]
        fn quantiles_are_within_a_thousandth_of_the_sorted_list(mut values in prop::collection::vec(1..MAX_NS, 1..200), p in 0.0..1.0_f64) {
            let mut h = Histogram::new();
            values.iter().for_each(|v| h.record(*v));
            values.sort_unstable();
            let exact = values[((p * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1] as f64;
            let got = h.quantile_ns(p).unwrap() as f64;
            prop_assert!((got - exact).abs() <= exact * 0.001 + 1.0, "{got} {exact}");
        }

        #[test]
        fn bytes_and_merge_lose_nothing(a in prop::collection::vec(1..MAX_NS, 0..50), b in prop::collection::vec(1..MAX_NS, 0..50)) {
            let (mut x, mut y, mut both) = (Histogram::new(), Histogram::new(), Histogram::new());
            a.iter().for_each(|v| { x.record(*v); both.record(*v); });
            b.iter().for_each(|v| { y.record(*v); both.record(*v); });
            x.merge(&Histogram::from_bytes(&y.to_bytes()).unwrap());
            prop_assert_eq!(x, both);
        }
    }
}
