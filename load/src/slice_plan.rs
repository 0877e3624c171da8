//! The settings of a slice: one target's turn under load, while the others are idle.

use crate::LoadError;
use stats::random;
use std::time::Duration;

/// One target's turn.
///
/// Its first part is not counted, because caches are cold and schedulers asleep. Then answers are counted, from one answer to another
/// (`model::slice_tally::common_time_ns` says why). At the end, the load generator waits for outstanding answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlicePlan {
    /// The index of the generator's plan that is carried out.
    pub target: usize,
    /// The moment of the monotonic clock, in nanoseconds, before which the first request is not sent; 0: at once.
    pub begins_ns: u64,
    /// The shortest lead-in: the first part, which is not counted.
    pub lead_in: Duration,
    /// The longest lead-in. It lasts until every connection has been answered once, or until the number of answers on some of them shows
    /// that the rest starves. Connections that got no answer in the target's last slice are not waited for: some servers serve only a
    /// limited number at a time.
    pub longest_lead_in: Duration,
    /// How much later the counted part begins, as a share (0 to 1) of the first part's length or of 10 ms, whichever is longer. It
    /// differs from slice to slice, so that no server that answers in bursts, and nothing else that is periodic, is always met in
    /// the same phase. The first part takes at least as long as one answer. See [`SlicePlan::jittered`].
    pub jitter: f64,
    /// The length of the counted part. It is doubled, tripled and so on until there are enough answers.
    pub length: Duration,
    /// The number of answers that is enough.
    pub enough: Enough,
    /// The longest counted part.
    pub longest: Duration,
    /// How long outstanding answers are waited for at the end.
    pub wait: Duration,
}

/// What a look at a slice in progress decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterLook {
    /// It goes on.
    GoOn,
    /// Its counted part ends now; outstanding answers are waited for as usual.
    End,
    /// It stops at once.
    Stop,
}

/// How many answers are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    /// This number per connection that was answered in the first part, on average.
    PerConnection(u64),
    /// This number in all.
    Answers(u64),
}

/// The usual length. Shorter slices underrate servers whose schedulers and caches take long to recover, as a measurement with 20 ms showed.
const LENGTH: Duration = Duration::from_millis(100);

/// The shortest length of which [`SlicePlan::jitter`] is a share: the period of a kernel's slowest usual tick.
const JITTER_NS: u64 = 10_000_000;

impl SlicePlan {
    /// A slice of 100 ms, which begins at once and has no jitter.
    pub fn of(target: usize) -> Self {
        Self {
            target,
            begins_ns: 0,
            lead_in: Duration::from_millis(10),
            longest_lead_in: Duration::from_secs(1),
            jitter: 0.0,
            length: LENGTH,
            enough: Enough::PerConnection(4),
            longest: Duration::from_secs(2),
            wait: Duration::from_millis(50),
        }
    }

    /// A window of open load of this length, repeated until there is this number of answers, and at most as long as `longest`.
    pub fn window(target: usize, length: Duration, answers: u64, longest: Duration) -> Self {
        Self { length, enough: Enough::Answers(answers), longest, ..Self::of(target) }
    }

    /// The slice with the jitter of the `nth` slice of a run with this seed: evenly distributed.
    #[must_use]
    pub fn jittered(self, seed: u64, nth: u64) -> Self {
        Self { jitter: random::uniform(random::derive(&[seed, 3]), nth), ..self }
    }

    /// How much later the counted part begins after a first part of this length, in nanoseconds.
    pub(crate) fn jitter_ns(&self, lead_in_ns: u64) -> u64 {
        (self.jitter.clamp(0.0, 1.0) * lead_in_ns.max(JITTER_NS) as f64) as u64
    }

    /// Checks that it can be measured on a generator with this number of targets.
    pub(crate) fn check(&self, targets: usize) -> Result<(), LoadError> {
        if self.target >= targets {
            return Err(LoadError::Slice("the load generator has no such target"));
        }
        if self.length.is_zero() || self.longest < self.length {
            return Err(LoadError::Slice("its length must be above 0 and at most its longest length"));
        }
        if self.longest_lead_in < self.lead_in {
            return Err(LoadError::Slice("its longest lead-in must be at least its shortest"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_a_function_of_seed_and_number_and_evenly_spread() {
        let ns = |seed, nth| SlicePlan::of(0).jittered(seed, nth).jitter_ns(0);
        assert!(ns(1, 7) == ns(1, 7) && ns(1, 7) != ns(1, 8) && ns(1, 7) != ns(2, 7));
        let mean = (0..1000).map(|nth| ns(3, nth)).sum::<u64>() / 1000;
        assert!(mean.abs_diff(JITTER_NS / 2) < 400_000, "{mean}");
        assert!((0..1000).all(|nth| ns(3, nth) <= JITTER_NS));
        let slow = SlicePlan { jitter: 0.25, ..SlicePlan::of(0) };
        assert_eq!((slow.jitter_ns(0), slow.jitter_ns(4 * JITTER_NS)), (JITTER_NS / 4, JITTER_NS));
    }

    #[test]
    fn what_can_not_be_measured_is_refused() {
        let zero = Duration::ZERO;
        assert!(SlicePlan::of(1).check(2).is_ok());
        assert!(SlicePlan::of(2).check(2).is_err());
        assert!(SlicePlan { length: zero, ..SlicePlan::of(0) }.check(1).is_err());
        assert!(SlicePlan { longest: zero, ..SlicePlan::of(0) }.check(1).is_err());
        assert!(SlicePlan { longest_lead_in: zero, ..SlicePlan::of(0) }.check(1).is_err());
    }
}
