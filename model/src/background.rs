//! The programs that ran beside a measurement and may have disturbed it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Another program that ran while contenders were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Background {
    /// Its name, as the kernel has it: at most 15 bytes.
    pub program: String,
    /// Its CPU time in nanoseconds.
    pub cpu_ns: u64,
}

impl Background {
    /// The largest number of programs that are kept.
    const KEPT: usize = 3;

    /// Sums CPU times by program and returns the largest sums, at most `KEPT`, the largest first. `all`: names and nanoseconds.
    pub fn most<'p>(all: impl Iterator<Item = (&'p String, &'p u64)>) -> Vec<Self> {
        let mut sums: BTreeMap<&String, u64> = BTreeMap::new();
        for (program, ns) in all {
            let sum = sums.entry(program).or_default();
            *sum = sum.saturating_add(*ns);
        }
        let one = |(program, cpu_ns): (&String, u64)| Self { program: program.clone(), cpu_ns };
        let mut most: Vec<Self> = sums.into_iter().map(one).collect();
        most.sort_by_key(|one| std::cmp::Reverse(one.cpu_ns));
        most.truncate(Self::KEPT);
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_that_ran_most_are_named() {
        let all = [("cc1", 5), ("git", 9), ("ld", 1), ("cc1", 6), ("make", 2)];
        let all = all.map(|(name, ns)| (name.to_owned(), ns));
        let most = Background::most(all.iter().map(|(name, ns)| (name, ns)));
        let most: Vec<(&str, u64)> = most.iter().map(|one| (one.program.as_str(), one.cpu_ns)).collect();
        assert_eq!(most, [("cc1", 11), ("git", 9), ("make", 2)]);
    }
}
