//! What each function costs per answer: CPU time, from samples.

use crate::stacks::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the server did while it was sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// The number of answers in the measured window.
    pub answers: u64,
    /// The CPU time that the server's processes used for them, by their exact clocks, in nanoseconds. If it is known, the samples only
    /// divide it up, and lost ones do no harm. Leave it out for profiles without the kernel's part ([`Profile::has_kernel`]): the clocks
    /// include that. Without it, a sample stands for [`Profile::period_ns`].
    pub cpu_ns: Option<u64>,
}

/// The CPU time of one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameCost {
    /// The function.
    pub frame: String,
    /// Samples in which it was running itself.
    pub self_samples: u64,
    /// Samples in whose stack it was, counted once per sample.
    pub total_samples: u64,
    /// CPU time per answer in the function itself, in nanoseconds.
    pub self_ns_per_answer: f64,
    /// CPU time per answer in the function and everything that it called, in nanoseconds.
    pub total_ns_per_answer: f64,
    /// The standard error, due to sampling, of the function's own CPU time per answer, in nanoseconds; 0 in what older versions stored.
    #[serde(default)]
    pub self_standard_error_ns: f64,
}

/// The CPU time that samples stand for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerSample {
    /// CPU time per answer of one sample, in nanoseconds.
    pub ns: f64,
    /// The number of all samples.
    samples: u64,
    /// Whether the samples only divide up a time that is known exactly.
    divides: bool,
}

/// The samples of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// In which it was running itself.
    pub own: u64,
    /// In whose stack it was.
    pub total: u64,
    /// The sum over these samples of the function's depth, counted from the outermost function.
    pub depths: f64,
}

impl Profile {
    /// The CPU time of every function per answer, sorted by the time in the function itself, the largest first. Empty without samples or
    /// answers.
    pub fn costs(&self, work: &Work) -> Vec<FrameCost> {
        let Some(one) = PerSample::of(self, work) else { return Vec::new() };
        let cost = |(frame, counts): (&str, Counts)| FrameCost {
            frame: frame.to_owned(),
            self_samples: counts.own,
            total_samples: counts.total,
            self_ns_per_answer: counts.own as f64 * one.ns,
            total_ns_per_answer: counts.total as f64 * one.ns,
            self_standard_error_ns: one.standard_error_ns(counts.own),
        };
        let mut costs: Vec<FrameCost> = counts(self).into_iter().map(cost).collect();
        costs.sort_by(|a, b| {
            (b.self_samples, b.total_samples, &a.frame).cmp(&(a.self_samples, a.total_samples, &b.frame))
        });
        costs
    }

    /// The CPU time of an answer in all functions together, in nanoseconds. `None` without samples or answers.
    pub fn ns_per_answer(&self, work: &Work) -> Option<f64> {
        Some(PerSample::of(self, work)?.ns * self.samples as f64)
    }
}

impl PerSample {
    /// `None` without samples or answers.
    pub fn of(profile: &Profile, work: &Work) -> Option<Self> {
        let samples = profile.samples;
        if samples == 0 || work.answers == 0 {
            return None;
        }
        let sampled_ns = profile.period_ns as f64 * samples as f64;
        let all_ns = work.cpu_ns.map_or(sampled_ns, |cpu_ns| cpu_ns as f64);
        let ns = all_ns / samples as f64 / work.answers as f64;
        Some(Self { ns, samples, divides: work.cpu_ns.is_some() })
    }

    /// The standard error, due to sampling, of the time that this number of samples stands for, in nanoseconds. Counts of samples are
    /// Poisson distributed: √k. Where they divide up a known time, they are multinomial: √(k (1 − k/n)), which is 0 for all n together.
    pub fn standard_error_ns(&self, samples: u64) -> f64 {
        let share = if self.divides { samples as f64 / self.samples as f64 } else { 0.0 };
        (samples as f64 * (1.0 - share).max(0.0)).sqrt() * self.ns
    }
}

/// The samples of every function.
pub(crate) fn counts(profile: &Profile) -> BTreeMap<&str, Counts> {
    let mut all: BTreeMap<&str, Counts> = BTreeMap::new();
    for (stack, count) in &profile.stacks {
        // A function that calls itself is in the stack more than once.
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (depth, frame) in stack.iter().enumerate() {
            first.entry(frame).or_insert(depth);
        }
        for (frame, depth) in first {
            let counts = all.entry(frame).or_default();
            counts.total = counts.total.saturating_add(*count);
            counts.depths += depth as f64 * *count as f64;
        }
        if let Some(leaf) = stack.last() {
            let counts = all.entry(leaf).or_default();
            counts.own = counts.own.saturating_add(*count);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn profile() -> Profile {
        let text =
            "# period_ns=1000000\nmain;handle;write 6\nmain;handle;parse;parse;parse 3\nmain;handle 1\n";
        example::folded(text)
    }

    #[test]
    fn a_function_counts_once_per_stack_and_the_running_one_by_itself() {
        let costs = profile().costs(&Work { answers: 100, cpu_ns: None });
        let row = |frame: &str| {
            let cost = costs.iter().find(|cost| cost.frame == frame).unwrap();
            (cost.self_samples, cost.total_samples, cost.self_ns_per_answer, cost.total_ns_per_answer)
        };
        assert_eq!(row("write"), (6, 6, 60_000.0, 60_000.0));
        assert_eq!(row("parse"), (3, 3, 30_000.0, 30_000.0), "it calls itself");
        assert_eq!(row("handle"), (1, 10, 10_000.0, 100_000.0));
        assert_eq!(row("main"), (0, 10, 0.0, 100_000.0));
        let order: Vec<&str> = costs.iter().map(|cost| cost.frame.as_str()).collect();
        assert_eq!(order, ["write", "parse", "handle", "main"]);
        let error = |frame: &str| {
            costs.iter().find(|cost| cost.frame == frame).unwrap().self_standard_error_ns.round()
        };
        assert_eq!((error("write"), error("handle"), error("main")), (24_495.0, 10_000.0, 0.0), "√n samples");
    }

    #[test]
    fn exact_cpu_time_is_divided_up() {
        let costs = profile().costs(&Work { answers: 10, cpu_ns: Some(20_000) });
        assert_eq!((costs[0].frame.as_str(), costs[0].self_ns_per_answer), ("write", 1_200.0));
        // 6 of 10 samples of 200 ns: 200 × √(10 × 0.6 × 0.4).
        assert!((costs[0].self_standard_error_ns - 200.0 * 2.4_f64.sqrt()).abs() < 1e-9, "{:?}", costs[0]);
        let whole: f64 = costs.iter().map(|cost| cost.self_ns_per_answer).sum();
        assert!((whole - 2_000.0).abs() < 1e-9, "{whole}");
        let of_all = profile().ns_per_answer(&Work { answers: 10, cpu_ns: Some(20_000) }).unwrap();
        assert!((of_all - 2_000.0).abs() < 1e-9, "{of_all}");
        assert_eq!(profile().ns_per_answer(&Work::default()), None);
    }

    #[test]
    fn without_answers_or_samples_nothing_is_known() {
        assert_eq!(profile().costs(&Work::default()), Vec::new());
        assert_eq!(Profile::default().costs(&Work { answers: 1, cpu_ns: Some(1) }), Vec::new());
    }

    #[test]
    fn the_depth_is_that_of_the_first_call() {
        let profile = profile();
        let counts = counts(&profile);
        assert_eq!(counts["parse"].depths / counts["parse"].total as f64, 2.0);
        assert_eq!(counts["main"].depths, 0.0);
    }
}
