//! Everything about one server under one load, as it is written to a file.

use crate::cost::Work;
use crate::counters::Counters;
use crate::stacks::Profile;
use schemars::JsonSchema;
use serde::Serialize;

/// A profile with what the server did meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// 1: the version of this JSON.
    pub schema: u32,
    /// Answers and exact CPU time.
    pub work: Work,
    /// What the processor and the kernel counted.
    pub counters: Counters,
    /// The samples.
    pub profile: Profile,
}

impl Report {
    /// The version that this program writes.
    pub const SCHEMA: u32 = 1;

    /// One line about the samples: how many, the function with the most CPU time, and what is missing.
    pub fn summary(&self) -> String {
        let profile = &self.profile;
        let mut parts = vec![format!("{} samples", profile.samples)];
        if let Some(cost) = profile.costs(&self.work).first() {
            let share = 100.0 * cost.self_samples as f64 / profile.samples.max(1) as f64;
            parts.push(format!("most CPU time in {} ({share:.0} %)", cost.frame));
        }
        if profile.lost > 0 {
            parts.push(format!("{} lost", profile.lost));
        }
        if profile.unrooted > 0 {
            parts.push(format!("{:.0} % of the stacks are incomplete", 100.0 * profile.unrooted_share()));
        }
        if profile.unattached_threads > 0 {
            parts.push(format!("{} threads could not be sampled", profile.unattached_threads));
        }
        if !profile.has_kernel {
            parts.push(
                "without time in the kernel, for which sysctl kernel.perf_event_paranoid=1 is needed"
                    .to_owned(),
            );
        }
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn the_summary_says_what_is_missing() {
        let text = "# has_kernel=true\nmain;a 3\nmain;b 1\n";
        let work = Work { answers: 10, cpu_ns: Some(1_000) };
        let whole = Report { work, profile: example::folded(text), ..Report::default() };
        assert_eq!(whole.summary(), "4 samples; most CPU time in a (75 %)");
        let profile = Profile {
            lost: 2,
            unrooted: 1,
            unattached_threads: 5,
            ..example::folded("main;a 3\nmain;b 1\n")
        };
        let less = Report { profile, ..Report::default() };
        assert_eq!(
            less.summary(),
            "4 samples; 2 lost; 25 % of the stacks are incomplete; 5 threads could not be sampled; \
             without time in the kernel, for which sysctl kernel.perf_event_paranoid=1 is needed"
        );
    }
}
