//! The result: how often each stack was sampled.

mod folded;

pub use folded::FoldedError;
pub(crate) use folded::sum as sum_of_samples;

use crate::error::ProfileError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Stacks of functions and how often each was sampled. Each sample stands for `period_ns` of CPU time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unnamed: BTreeMap<String, u64>,
    /// How often each stack was sampled. A stack begins with the outermost function and ends with the one that was running. In JSON
    /// the names of a stack are joined by `;`.
    #[serde(with = "joined")]
    #[schemars(with = "BTreeMap<String, u64>")]
    pub stacks: BTreeMap<Vec<String>, u64>,
}

impl Profile {
    /// The number of samples in all stacks. Equal to `samples`, unless somebody has edited the file.
    pub fn total(&self) -> u64 {
        self.stacks.values().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// Adds the samples of another profile of the same server.
    ///
    /// # Errors
    /// When they were sampled at different intervals, because a sample does not mean the same CPU time then.
    pub fn merge(&mut self, other: &Self) -> Result<(), ProfileError> {
        if self.stacks.is_empty() && self.lost == 0 {
            *self = other.clone();
            return Ok(());
        }
        if self.period_ns != other.period_ns && !other.stacks.is_empty() {
            return Err(ProfileError::Periods(self.period_ns, other.period_ns));
        }
        self.samples = self.samples.saturating_add(other.samples);
        self.lost = self.lost.saturating_add(other.lost);
        self.unrooted = self.unrooted.saturating_add(other.unrooted);
        self.has_kernel &= other.has_kernel;
        self.unattached_threads = self.unattached_threads.max(other.unattached_threads);
        for (program, count) in &other.unnamed {
            let sum = self.unnamed.entry(program.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        for (stack, count) in &other.stacks {
            let sum = self.stacks.entry(stack.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        Ok(())
    }

    /// The share of samples whose stack does not reach an outermost function, from 0 to 1; 0 without samples.
    pub fn unrooted_share(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.unrooted as f64 / self.samples as f64 }
    }
}

/// Stacks in JSON: names joined by `;`, because a key of JSON is a string.
mod joined {
    use super::folded;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::BTreeMap;

    type Stacks = BTreeMap<Vec<String>, u64>;

    pub fn serialize<S: Serializer>(stacks: &Stacks, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(stacks.iter().map(|(stack, count)| (stack.join(";"), count)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Stacks, D::Error> {
        let joined = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let mut stacks = Stacks::new();
        let mut total: u64 = 0;
        for (names, count) in joined {
            let stack = folded::frames(&names).map_err(D::Error::custom)?;
            total = folded::sum(total, count).map_err(D::Error::custom)?;
            *stacks.entry(stack).or_default() += count;
        }
        Ok(stacks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(stacks: &[(&str, u64)]) -> Profile {
        let split = |names: &str| names.split(';').map(str::to_owned).collect::<Vec<_>>();
        Profile {
            samples: stacks.iter().map(|(_, count)| count).sum(),
            period_ns: 1_000_000,
            has_kernel: true,
            stacks: stacks.iter().map(|(names, count)| (split(names), *count)).collect(),
            ..Profile::default()
        }
    }

    #[test]
    fn merged_profiles_have_the_samples_of_both() {
        let mut all = Profile::default();
        all.merge(&profile(&[("main;a", 3), ("main;b", 1)])).unwrap();
        let unnamed = BTreeMap::from([("node".to_owned(), 2)]);
        let other = Profile { lost: 2, unrooted: 1, has_kernel: false, unnamed, ..profile(&[("main;a", 4)]) };
        all.merge(&other).unwrap();
        let expected = Profile {
            unnamed: BTreeMap::from([("node".to_owned(), 2)]),
            lost: 2,
            unrooted: 1,
            has_kernel: false,
            samples: 8,
            ..profile(&[("main;a", 7), ("main;b", 1)])
        };
        assert_eq!(all, expected);
        assert_eq!(all.total(), 8);
        all.merge(&Profile::default()).unwrap();
        assert_eq!(all, Profile { has_kernel: false, ..expected });
        let slower = Profile { period_ns: 5, ..profile(&[("main", 1)]) };
        assert!(matches!(all.merge(&slower), Err(ProfileError::Periods(1_000_000, 5))));
    }

    #[test]
    fn counts_never_overflow() {
        let mut most = profile(&[("main", u64::MAX)]);
        most.merge(&profile(&[("main", 1)])).unwrap();
        assert_eq!((most.samples, most.total()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn json_has_stacks_as_joined_names_and_comes_back() {
        let before = profile(&[("main;a b;c", 3), ("main", 1)]);
        let json = serde_json::to_string(&before).unwrap();
        assert!(json.contains(r#""stacks":{"main":1,"main;a b;c":3}"#), "{json}");
        assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), before);
        assert!(!json.contains("unnamed"), "{json}");
        let unnamed = Profile { unnamed: [("node".to_owned(), 3)].into(), ..before };
        let json = serde_json::to_string(&unnamed).unwrap();
        assert!(json.contains(r#""unnamed":{"node":3}"#), "{json}");
        assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), unnamed);
        let hostile = json.replace(":3}", &format!(":{}}}", u64::MAX));
        let why = serde_json::from_str::<Profile>(&hostile).unwrap_err().to_string();
        assert!(why.contains("more samples than"), "{why}");
    }
}
