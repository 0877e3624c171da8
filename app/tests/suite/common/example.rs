//! A run that is made up, for stores in which the truth is known.

use judge::example::in_heats;
use model::heat::{HUB, Heat, InCell, Slice, Start, StartOutcome};
use model::run::Entrant;
use model::*;
use std::collections::BTreeMap;
use store::Store;

/// A run of the study `example` in cells of these titles and connections; the reference is no contender of a study.
pub fn example(entrants: BTreeMap<String, Entrant>, cells: &[(&str, usize)], rounds: [usize; 2]) -> Run {
    let cell = |(title, connections): &(&str, usize)| {
        let load = Load::Closed { connections: *connections, per_connection: None };
        Cell::plain((*title).to_owned(), "hello".to_owned(), load)
    };
    let contenders = entrants.keys().filter(|name| *name != study::REFERENCE).cloned().collect();
    let mut run = judge::example::run(&[]);
    run.study.design.rounds = rounds;
    (run.study.contenders, run.study.cells) = (contenders, cells.iter().map(cell).collect());
    run.contenders = entrants;
    run
}

/// One start in a heat that is made up.
pub struct MadeStart {
    /// The contender, or [`HUB`].
    pub contender: String,
    /// The number of its copy.
    pub copy: usize,
    /// What was measured, by cell.
    pub cells: BTreeMap<usize, Measurement>,
    /// Why it failed; it did so in all other cells.
    pub failed: Option<String>,
}

impl MadeStart {
    /// One that was measured in the first cell.
    pub fn measured(contender: &str, measurement: Measurement) -> Self {
        let cells = [(0, measurement)].into();
        Self { contender: contender.to_owned(), copy: 0, cells, failed: None }
    }

    /// One that failed in all cells.
    pub fn failed(contender: &str, why: &str) -> Self {
        let failed = Some(why.to_owned());
        Self { contender: contender.to_owned(), copy: 0, cells: BTreeMap::new(), failed }
    }
}

/// A measurement of a second with so many answers.
pub fn sound(answers: u64) -> Measurement {
    let (duration_ns, threads) = (1_000_000_000, 1);
    let tally = Tally { duration_ns, sent: answers, completed: answers, threads, ..Tally::default() };
    let usage = Some(Usage { wall_ns: duration_ns, cpu_ns: 950_000_000, cores: 1, ..Usage::default() });
    let verdict = Verdict { bound: Bound::Server, valid: true, ..Verdict::default() };
    Measurement { tally, usage, verdict }
}

/// Stores a round of one heat.
pub fn keep_round(store: &Store, run: &Run, round: usize, made: &[MadeStart]) {
    let names: BTreeMap<&str, usize> = made.iter().map(|start| (start.contender.as_str(), 0)).collect();
    let heat = Heat {
        round,
        number: 0,
        members: names.keys().filter(|name| **name != HUB).map(|name| (*name).to_owned()).collect(),
        copies: run.copies,
        hub: names.contains_key(HUB),
        cells: (0..run.study.cells.len()).collect(),
        seed: 7,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        machine: None,
    };
    let starts: Vec<Start> = made.iter().map(|made| start(round, made)).collect();
    let slices: Vec<Slice> =
        made.iter().enumerate().flat_map(|(place, made)| slices(round, place, made)).collect();
    assert!(store.add_heat(&run.id, &heat, &starts, &slices).unwrap());
}

fn start(round: usize, made: &MadeStart) -> Start {
    let in_cell = |measurement: &Measurement| InCell {
        turns: CYCLES,
        elsewhere_wall_ns: 1_000_000_000,
        measurement: Some(Box::new(measurement.clone())),
        ..in_heats::in_cell()
    };
    Start {
        copy: made.copy,
        outcome: made.failed.clone().map_or(StartOutcome::Ended, StartOutcome::Failed),
        cells: made.cells.iter().map(|(cell, measurement)| (*cell, in_cell(measurement))).collect(),
        memory_bytes: None,
        took_ns: 1_500_000_000,
        conditions: Some(Conditions::default()),
        ..in_heats::start(round, 0, &made.contender, &[])
    }
}

const CYCLES: u64 = 10;

/// The turns of a start, a tenth of its answers in each.
fn slices(round: usize, place: usize, made: &MadeStart) -> Vec<Slice> {
    let in_cell = |(cell, measurement): (&usize, &Measurement)| {
        let answers = measurement.tally.completed.div_ceil(CYCLES);
        let ns = 1_000_000_000 * answers / measurement.tally.completed.max(1);
        let ns = ns.max(1);
        let (contender, copy) = (made.contender.clone(), made.copy);
        let turn = Slice {
            round,
            cell: *cell,
            place,
            contender,
            copy,
            answers,
            ns,
            turn_ns: ns,
            ..in_heats::slice()
        };
        (0..CYCLES as usize).map(move |cycle| Slice { cycle, ..turn.clone() }).collect::<Vec<_>>()
    };
    made.cells.iter().flat_map(in_cell).collect()
}
