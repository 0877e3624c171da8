//! What the starts so far show about the contenders: how much memory they take, whether they work in the turns of others, and how often
//! they failed. None of it is a figure that they are ranked by. Pure.

use crate::{IN_A_ROW, is_third};
use model::heat::{RESTING, Start, StartOutcome};
use std::collections::BTreeMap;

/// What is known about one contender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartsSummary {
    /// The maximum memory of its starts, in bytes.
    pub memory_bytes: Option<u64>,
    /// Its CPU time in the turns of others, as a share of one core, over all its starts: in the cell in which that is the most.
    pub elsewhere_share: Option<f64>,
    /// The number of its starts that failed or were measured in at least one cell. One that was spoiled or cut off before that does not count.
    pub starts: usize,
    /// The number of starts in which it failed.
    pub failed: usize,
    /// Whether it was measured at least once.
    pub is_measured: bool,
    /// Whether the machine had no memory for one of its starts beside other contenders.
    pub lacked_memory: bool,
}

impl StartsSummary {
    /// What is known about every contender that was started, by name; the hub is included.
    pub fn of(starts: &[Start]) -> BTreeMap<&str, Self> {
        let mut found: BTreeMap<&str, Self> = BTreeMap::new();
        let mut elsewhere: BTreeMap<(&str, usize), (u64, u64)> = BTreeMap::new();
        for start in starts {
            let of = found.entry(&start.contender).or_default();
            of.memory_bytes = of.memory_bytes.max(start.memory_bytes);
            of.is_measured |= !start.cells.is_empty();
            of.lacked_memory |= matches!(start.outcome, StartOutcome::LackedMemory(_));
            let has_failed = start.failed().is_some();
            of.failed += usize::from(has_failed);
            of.starts += usize::from(has_failed || !start.cells.is_empty());
            for (at, cell) in &start.cells {
                let Some(ns) = cell.elsewhere_ns else { continue };
                let sum = elsewhere.entry((&start.contender, *at)).or_default();
                *sum = (sum.0.saturating_add(ns), sum.1.saturating_add(cell.elsewhere_wall_ns));
            }
        }
        for ((name, _), (ns, wall_ns)) in elsewhere {
            let share = (wall_ns > 0).then(|| ns as f64 / wall_ns as f64);
            let of = found.entry(name).or_default();
            of.elsewhere_share = [of.elsewhere_share, share].into_iter().flatten().reduce(f64::max);
        }
        found
    }

    /// Whether it does not rest in the turns of others, so that no other contender should be beside it.
    pub fn disturbs(&self) -> bool {
        self.elsewhere_share.is_some_and(|share| share > RESTING)
    }

    /// Whether it has failed so often that it is not started again.
    pub fn is_given_up(&self) -> bool {
        !self.is_measured && self.failed >= IN_A_ROW
    }

    /// Whether it failed in a third of its starts or more: its failures are reported, and it has no rank.
    pub fn is_unreliable(&self) -> bool {
        is_third(self.failed, self.starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::in_heats::{in_cell, start};
    use model::heat::InCell;

    fn failed(why: &str) -> StartOutcome {
        StartOutcome::Failed(why.to_owned())
    }

    #[test]
    fn one_that_works_in_the_turns_of_others_is_found() {
        let worked = |ns: Option<u64>| {
            let cell = InCell { elsewhere_ns: ns, elsewhere_wall_ns: 1_000, ..in_cell() };
            let mut start = start(0, 0, "a", &[0]);
            start.cells.insert(0, cell);
            start
        };
        let found = |all: &[Start]| StartsSummary::of(all)["a"].clone();
        assert!(!found(&[worked(Some(20))]).disturbs(), "2 % is allowed");
        assert!(found(&[worked(Some(21))]).disturbs());
        assert!(!found(&[worked(Some(30)), worked(Some(5))]).disturbs(), "over all of its starts");
        let mut in_one_cell = worked(Some(21));
        in_one_cell.cells.insert(1, InCell { elsewhere_wall_ns: 100_000, ..in_cell() });
        assert!(found(&[in_one_cell]).disturbs(), "cells without such work do not make up for it");
        let unknown = found(&[worked(None)]);
        assert!(unknown.elsewhere_share.is_none() && !unknown.disturbs());
    }

    #[test]
    fn a_third_of_its_starts_and_it_has_no_rank() {
        let starts = |ended: usize, fails: usize| {
            let ended = (0..ended).map(|round| start(round, 0, "a", &[0]));
            let fails =
                (0..fails).map(|round| Start { outcome: failed("died"), ..start(round, 1, "a", &[]) });
            StartsSummary::of(&ended.chain(fails).collect::<Vec<_>>())["a"].clone()
        };
        let cases = [
            (4, 0, false),
            (3, 1, false),
            (2, 1, true),
            (4, 2, true),
            (5, 2, false),
            (0, 1, true),
            (0, 0, true),
        ];
        for (ended, fails, expected) in cases.into_iter().filter(|case| case.0 + case.1 > 0) {
            let found = starts(ended, fails);
            assert_eq!((found.is_unreliable(), found.failed, found.starts), (expected, fails, ended + fails));
        }
        assert!(starts(0, 3).is_given_up() && !starts(0, 2).is_given_up() && !starts(1, 5).is_given_up());
    }

    #[test]
    fn what_the_lab_spoiled_is_no_start_of_its() {
        let spoiled = StartOutcome::Spoiled("the disk is full".to_owned());
        let starts = [
            Start { outcome: spoiled, memory_bytes: Some(7), ..start(0, 0, "a", &[]) },
            Start { memory_bytes: None, ..start(0, 1, "a", &[0]) },
        ];
        let found = StartsSummary::of(&starts)["a"].clone();
        assert_eq!((found.starts, found.failed, found.memory_bytes), (1, 0, Some(7)));
        let lacked = StartOutcome::LackedMemory("it was killed".to_owned());
        let lacked = [Start { outcome: lacked, ..start(0, 2, "a", &[]) }, starts[1].clone()];
        let found = StartsSummary { lacked_memory: false, ..StartsSummary::of(&lacked)["a"].clone() };
        assert!(
            StartsSummary::of(&lacked)["a"].lacked_memory && (found.starts, found.failed) == (1, 0),
            "{found:?}"
        );
    }
}
