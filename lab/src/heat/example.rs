//! Heats and starts for tests: no server, no clock.

use crate::example;
use model::heat::{Counts, InCell, Ran, Slice, Start, StartOutcome};
use model::{Design, Run};
use std::time::Duration;

/// A run in heats of two cells with these contenders and the reference.
pub fn run(contenders: &[&str]) -> Run {
    let mut run = example::run(contenders);
    let (warmup, measure) = (Duration::from_millis(200), Duration::from_secs(2));
    run.study.design = Design { heat: 3, warmup, measure, ..run.study.design };
    run.study.cells = vec![run.study.cells[0].clone(), run.study.cells[0].clone()];
    run
}

/// A start that was measured in these cells and ended well, after ten seconds.
pub fn start(round: usize, heat: usize, contender: &str, cells: &[usize]) -> Start {
    Start {
        round,
        heat,
        contender: contender.to_owned(),
        copy: 0,
        attempt: 0,
        outcome: StartOutcome::Ended,
        cells: cells.iter().map(|cell| (*cell, in_cell())).collect(),
        memory_bytes: Some(1 << 20),
        took_ns: 10_000_000_000,
        conditions: None,
        program: None,
    }
}

/// A slice of 100 ms that nothing disturbed.
pub fn slice() -> Slice {
    Slice {
        round: 0,
        heat: 0,
        cell: 0,
        cycle: 0,
        place: 0,
        contender: String::new(),
        copy: 0,
        answers: 1,
        ns: 100_000_000,
        turn_ns: 100_000_000,
        ran: Ran::default(),
        void: None,
    }
}

/// A cell that was measured without disturbance.
pub fn in_cell() -> InCell {
    InCell {
        warmup_ns: 200_000_000,
        settled: Some(true),
        counts: Counts::Quiet,
        turns: 20,
        disturbed: 0,
        elsewhere_ns: Some(0),
        elsewhere_wall_ns: 10_000_000_000,
        memory: Vec::new(),
        background: Vec::new(),
        measurement: None,
    }
}
