//! What a server knows about itself: how often it called the loop from each of its two callers, and the CPU time that this took.

use anyhow::{Context, Result};

/// Calls and CPU time since the server's start, or between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Calls from A and from B.
    calls: [u64; 2],
    /// Their CPU time in nanoseconds.
    ns: [u64; 2],
}

impl Truth {
    /// Reads `CALLS_OF_A NS_OF_A CALLS_OF_B NS_OF_B`.
    pub fn parse(text: &str) -> Result<Self> {
        let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [calls_a, ns_a, calls_b, ns_b] = numbers[..] else {
            return Err(anyhow::anyhow!("`{text}` is not four numbers")).context("the server's truth");
        };
        Ok(Self { calls: [calls_a, calls_b], ns: [ns_a, ns_b] })
    }

    /// What happened since an earlier moment.
    pub fn since(&self, before: &Self) -> Self {
        let less = |now: [u64; 2], then: [u64; 2]| [0, 1].map(|at| now[at].saturating_sub(then[at]));
        Self { calls: less(self.calls, before.calls), ns: less(self.ns, before.ns) }
    }

    /// The CPU time of an answer's work, in nanoseconds; `None` without an answer.
    pub fn ns_per_answer(&self) -> Option<f64> {
        let [calls, ns] = [self.calls, self.ns].map(|of| (of[0] + of[1]) as f64);
        (calls > 0.0).then(|| ns / calls)
    }

    /// The share of A in the CPU time, from 0 to 1; `None` if there was none.
    pub fn share_of_a(&self) -> Option<f64> {
        let [a, b] = self.ns.map(|ns| ns as f64);
        (a + b > 0.0).then(|| a / (a + b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_happened_between_two_moments() {
        let before = Truth::parse("2 100 1 50\n").unwrap();
        let after = Truth::parse("6 900 3 450").unwrap();
        let between = after.since(&before);
        assert_eq!(between, Truth { calls: [4, 2], ns: [800, 400] });
        assert_eq!((between.ns_per_answer(), between.share_of_a()), (Some(200.0), Some(2.0 / 3.0)));
        let nothing = before.since(&after);
        assert_eq!((nothing.ns_per_answer(), nothing.share_of_a()), (None, None));
        for bad in ["", "1 2 3", "1 2 3 4 5", "Hello"] {
            assert!(Truth::parse(bad).is_err(), "{bad}");
        }
    }
}
