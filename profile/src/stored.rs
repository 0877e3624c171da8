//! What a store keeps of a profile beside its calls: small, and enough for a list of profiles.

use crate::cost::{FrameCost, Work};
use crate::counters::Counters;
use crate::difference::{Change, Difference, Row};
use crate::report::Report;
use serde::{Deserialize, Serialize};

/// The largest number of functions in a list.
const MOST_FUNCTIONS: usize = 20;

/// The profile of one contender of a race, without its calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredProfile {
    /// The version of this form.
    pub schema: u32,
    /// What to call the contender.
    pub title: String,
    /// How many samples there are, and what is missing, in words.
    pub summary: String,
    /// Answers and exact CPU time.
    pub work: Work,
    /// What the processor and the kernel counted.
    pub counters: Counters,
    /// The number of samples.
    pub samples: u64,
    /// All CPU time per answer; `None`: nothing was sampled or answered.
    pub cpu_ns_per_answer: Option<f64>,
    /// Calls with less than this share of all samples, from 0 to 1, are not in the tree.
    pub least_share: f64,
    /// The functions with the most CPU time in themselves, the most expensive first.
    pub top: Vec<FrameCost>,
    /// How it differs from the first contender; `None` for that one, and where nothing can be compared.
    pub difference: Option<StoredDifference>,
}

/// How a contender differs from the first one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredDifference {
    /// The name of the first contender.
    pub against: String,
    /// The difference as a sentence.
    pub sentence: String,
    /// The whole CPU time.
    pub overall: Change,
    /// The functions whose own CPU time differs most, if by more than sampling explains, the largest difference first.
    pub by_self: Vec<Row>,
}

impl StoredProfile {
    /// The version that this program writes.
    pub const SCHEMA: u32 = 1;

    /// What is kept of a profile. `difference`: from the first contender to this one. `least_share`: the one that the tree which is kept
    /// with it was made with, from 0 to 1.
    pub fn of(title: &str, report: &Report, difference: Option<&Difference>, least_share: f64) -> Self {
        let Report { work, counters, profile, .. } = report;
        let mut top = profile.costs(work);
        top.retain(|cost| cost.self_samples > 0);
        top.truncate(MOST_FUNCTIONS);
        let samples = profile.samples;
        Self {
            schema: Self::SCHEMA,
            title: title.to_owned(),
            summary: report.summary(),
            work: *work,
            counters: *counters,
            samples,
            cpu_ns_per_answer: profile.ns_per_answer(work),
            least_share,
            top,
            difference: difference.map(StoredDifference::of),
        }
    }
}

impl StoredDifference {
    fn of(difference: &Difference) -> Self {
        let significant = difference.by_self.iter().filter(|row| row.change.is_significant());
        Self {
            against: difference.a.clone(),
            sentence: difference.sentence(),
            overall: difference.overall,
            by_self: significant.take(MOST_FUNCTIONS).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::Side;
    use crate::example;

    fn report(text: &str) -> Report {
        let work = Work { answers: 1_000, cpu_ns: None };
        Report { schema: Report::SCHEMA, work, profile: example::folded(text), ..Report::default() }
    }

    #[test]
    fn it_has_the_time_of_an_answer_the_functions_and_the_difference() {
        let a = report("# period_ns=1000000 has_kernel=true\nmain;read 1000\nmain;same 50\n");
        let b = report("# period_ns=1000000 has_kernel=true\nmain;read 1000\nmain;new 4000\nmain;same 51\n");
        let of_a = Side { name: "A", profile: &a.profile, work: a.work };
        let of_b = Side { name: "B", profile: &b.profile, work: b.work };
        let difference = Difference::between(&of_a, &of_b).unwrap();
        let stored = StoredProfile::of("new", &b, Some(&difference), 0.001);
        assert_eq!((stored.samples, stored.cpu_ns_per_answer), (5_051, Some(5_051_000.0)));
        let top: Vec<&str> = stored.top.iter().map(|cost| cost.frame.as_str()).collect();
        assert_eq!(top, ["new", "read", "same"], "main spends nothing itself");
        let against_a = stored.difference.as_ref().unwrap();
        assert_eq!(against_a.against, "A");
        assert!(against_a.sentence.starts_with("B spends 4.0 ms more"), "{}", against_a.sentence);
        let rows: Vec<&str> = against_a.by_self.iter().map(|row| row.frame.as_str()).collect();
        assert_eq!(rows, ["new"], "one sample more of 50 is the error of sampling");
        let json = serde_json::to_string(&stored).unwrap();
        assert_eq!(serde_json::from_str::<StoredProfile>(&json).unwrap(), stored);
    }

    #[test]
    fn without_samples_nothing_is_known() {
        let stored = StoredProfile::of("idle", &report(""), None, 0.001);
        assert_eq!((stored.cpu_ns_per_answer, stored.top.len(), stored.samples), (None, 0, 0));
    }

    #[test]
    fn a_list_is_short_however_many_functions_there_are() {
        let lines: String = (0..500).map(|n| format!("main;f{n} {}\n", n + 1)).collect();
        let stored = StoredProfile::of("many", &report(&lines), None, 0.001);
        assert_eq!((stored.top.len(), stored.top[0].frame.as_str()), (MOST_FUNCTIONS, "f499"));
    }
}
