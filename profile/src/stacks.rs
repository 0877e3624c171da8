//! The result: how often each stack was sampled.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The first line of the text form.
const TITLE: &str = "# drome profile 1";

/// Stacks of functions and how often each was sampled. Each sample stands for `period_ns` of CPU time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Profile {
    /// The number of samples in `stacks`.
    pub samples: u64,
    /// Records that the kernel could not store because drome did not read fast enough; nearly all are samples.
    pub lost: u64,
    /// Samples whose stack does not reach an outermost function: their callers are unknown from some frame on.
    pub unrooted: u64,
    /// The CPU time between two samples, in nanoseconds; 0 if it is unknown.
    pub period_ns: u64,
    /// Whether CPU time in the kernel is included. Without the permission for that, only time in user code is sampled.
    pub has_kernel: bool,
    /// Threads that could not be sampled, for want of descriptors or memory.
    pub unattached_threads: u64,
    /// For each program that compiles at run time or interprets functions, such as `node` or `python3.12`: the number of samples in whose
    /// stack none of these functions has a name. Such a program names them only if it is asked to. Absent where there are no such samples,
    /// and not in the text form.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unnamed: BTreeMap<String, u64>,
    /// How often each stack was sampled. A stack begins with the outermost function and ends with the one that was running. In JSON
    /// the names of a stack are joined by `;`.
    #[serde(serialize_with = "joined")]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub stacks: BTreeMap<Vec<String>, u64>,
}

impl Profile {
    /// The text form (folded stacks), which other tools read as well: a line for each stack with its number of samples, such as
    /// `main;handle;write 12`. Lines that begin with `#` have what else is known; other tools take them for comments.
    pub fn to_folded(&self) -> String {
        let mut text = format!(
            "{TITLE}\n# period_ns={} lost={} unrooted={} has_kernel={} unattached_threads={}\n",
            self.period_ns, self.lost, self.unrooted, self.has_kernel, self.unattached_threads
        );
        for (stack, count) in &self.stacks {
            text.push_str(&format!("{} {count}\n", stack.join(";")));
        }
        text
    }

    /// The share of samples whose stack does not reach an outermost function, from 0 to 1; 0 without samples.
    pub fn unrooted_share(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.unrooted as f64 / self.samples as f64 }
    }
}

/// Stacks in JSON: names joined by `;`, because a key of JSON is a string.
fn joined<S: Serializer>(stacks: &BTreeMap<Vec<String>, u64>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(stacks.iter().map(|(stack, count)| (stack.join(";"), count)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn the_text_has_a_line_for_each_stack_and_what_else_is_known() {
        let stacks = "main;operator new(unsigned long) 12\nmain 3\n";
        let profile = Profile {
            lost: 2,
            unrooted: 1,
            unattached_threads: 4,
            ..example::folded(&format!("# period_ns=1003009 has_kernel=true\n{stacks}"))
        };
        assert_eq!(
            profile.to_folded(),
            "# drome profile 1\n# period_ns=1003009 lost=2 unrooted=1 has_kernel=true unattached_threads=4\n\
             main 3\nmain;operator new(unsigned long) 12\n"
        );
    }

    #[test]
    fn json_has_stacks_as_joined_names() {
        let profile = example::folded("main;a b;c 3\nmain 1\n");
        let json = serde_json::to_string(&profile).unwrap();
        assert!(json.contains(r#""stacks":{"main":1,"main;a b;c":3}"#), "{json}");
        assert!(!json.contains("unnamed"), "{json}");
        let unnamed = Profile { unnamed: [("node".to_owned(), 3)].into(), ..profile };
        let json = serde_json::to_string(&unnamed).unwrap();
        assert!(json.contains(r#""unnamed":{"node":3}"#), "{json}");
    }
}
