//! What a histogram counted, without its empty buckets: small enough to keep one for every second.

use crate::Histogram;

/// Durations in nanoseconds, to a histogram's resolution and in ascending order, and how often each was counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(Vec<(u64, u64)>);

impl Counts {
    /// The counts of a histogram.
    pub fn of(histogram: &Histogram) -> Self {
        Self(histogram.recorded())
    }

    /// Each duration in nanoseconds and how often it was counted.
    pub fn pairs(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, n)| n).sum()
    }

    /// Adds everything that `other` counted.
    pub fn merge(&mut self, other: &Self) {
        let mut both = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().copied().peekable(), other.0.iter().copied().peekable());
        while let (Some((ns_a, n_a)), Some((ns_b, n_b))) = (a.peek().copied(), b.peek().copied()) {
            let pair = match ns_a.cmp(&ns_b) {
                std::cmp::Ordering::Less => (ns_a, n_a),
                std::cmp::Ordering::Greater => (ns_b, n_b),
                std::cmp::Ordering::Equal => (ns_a, n_a + n_b),
            };
            a.next_if(|_| ns_a <= ns_b);
            b.next_if(|_| ns_b <= ns_a);
            both.push(pair);
        }
        both.extend(a.chain(b));
        self.0 = both;
    }

    /// Subtracts what had been counted earlier.
    pub fn subtract(&mut self, earlier: &Self) {
        let mut earlier = earlier.0.iter().peekable();
        self.0.retain_mut(|(ns, n)| {
            while earlier.next_if(|(before, _)| before < ns).is_some() {}
            if let Some((_, gone)) = earlier.next_if(|(same, _)| same == ns) {
                *n = n.saturating_sub(*gone);
            }
            *n > 0
        });
    }

    /// Turns the counts into a histogram again.
    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::new();
        histogram.add(self);
        histogram
    }
}

impl Histogram {
    /// Adds the counts of another histogram.
    pub fn add(&mut self, counts: &Counts) {
        counts.pairs().iter().for_each(|(ns, n)| self.record_n(*ns, *n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::MAX_NS;
    use proptest::prelude::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut h = Histogram::new();
        values.iter().for_each(|v| h.record(*v));
        h
    }

    proptest! {
        #[test]
        fn nothing_is_lost_on_the_way_there_and_back(
            a in prop::collection::vec(1..MAX_NS, 0..60),
            b in prop::collection::vec(prop_oneof![1..2000_u64, 1..MAX_NS], 0..60)
        ) {
            let (x, y) = (histogram(&a), histogram(&b));
            prop_assert_eq!(&Counts::of(&x).histogram(), &x);
            let mut merged = Counts::of(&x);
            merged.merge(&Counts::of(&y));
            let both = histogram(&[a, b].concat());
            prop_assert_eq!(&merged, &Counts::of(&both));
            prop_assert_eq!(merged.count(), both.count());
            merged.subtract(&Counts::of(&x));
            prop_assert_eq!(merged, Counts::of(&y));
        }
    }
}
