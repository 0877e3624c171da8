//! Describes a run that has not begun: its contenders, its seed, its machine.

use control::machine::cores::Cores;
use control::machine::system::System;
use control::{clock_text, random_bits};
use model::run::{Entrant, Raced};
use model::study::RACE;
use model::{Cell, Load, Run, Study};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The rounds of `--quick` and the measured time per start (ten slices if that is longer, and never more than the
/// study's own). If the study has closed cells, only those are measured.
const QUICK: ([usize; 2], Duration) = ([2, 2], Duration::from_secs(1));

/// What the command line sets for a run of any study.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunRules {
    /// The seed of every shuffle and of the due times; `None`: taken from the clock.
    pub seed: Option<u64>,
    /// Whether the run is only a first look.
    pub quick: bool,
    /// Whether measurements count under background load.
    pub allow_busy: bool,
}

/// Shortens a study to a first look.
pub fn quicken(study: &mut Study) {
    let is_closed = |cell: &Cell| matches!(cell.load, Load::Closed { .. });
    if study.cells.iter().any(is_closed) {
        study.cells.retain(is_closed);
    }
    let (rounds, least) = QUICK;
    study.design.rounds = rounds;
    study.design.measure = study.design.measure.min(least.max(study.design.slice * 10));
}

/// Makes a run of a race. Every contender enters each round twice, so that the difference between two starts of
/// the same server is known. Where the servers already ran (`race.running`), each enters once, because both entries would be the same
/// process; and so does each that is to be alone. `race`: what all contenders have in common.
pub fn race_run(study: Study, entrants: BTreeMap<String, Entrant>, race: Raced, rules: RunRules) -> Run {
    let copies = if race.running || study.design.heat == 1 { 1 } else { 2 };
    Run { race: Some(race), ..new_run(RACE, study, entrants, copies, rules) }
}

/// Makes a run with a new name, on this machine as it is now.
pub(super) fn new_run(
    name: &str,
    study: Study,
    contenders: BTreeMap<String, Entrant>,
    copies: usize,
    rules: RunRules,
) -> Run {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started_at = clock_text();
    Run {
        id: new_id(&started_at),
        name: name.to_owned(),
        study,
        seed: rules.seed.unwrap_or(now.as_nanos() as u64),
        started_at,
        workloads: BTreeMap::new(),
        quick: rules.quick,
        environment: System::here().look(&Cores::deal()),
        contenders,
        copies,
        race: None,
        allow_busy: Some(rules.allow_busy),
        command: Vec::new(),
        fleet: None,
    }
}

/// A unique name for the store: the time, and 64 random bits. Runs of many machines meet in one store, and machines of a fleet often begin
/// in the same second, so nothing of it may come from the clock alone.
pub fn new_id(started_at: &str) -> String {
    let digits: String = started_at.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(8.min(digits.len()));
    format!("{day}-{time}-{:016x}", random_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_new_name_is_one_that_stores_know_and_no_other_has() {
        let all: BTreeSet<String> = (0..10_000).map(|_| new_id("2026-11-23T17:00:00Z")).collect();
        assert_eq!(all.len(), 10_000, "in one second");
        assert!(all.iter().all(|id| store::shared::is_id(id)));
        for digit in 16..32 {
            let seen: BTreeSet<&str> = all.iter().map(|id| &id[digit..=digit]).collect();
            assert_eq!(seen.len(), 16, "digit {digit} is random");
        }
    }
}
