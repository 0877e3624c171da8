//! Heats, starts and findings for tests: no server, no clock.

use crate::example;
use crate::findings::analyse;
use model::heat::{Counts, HUB, Heat, InCell, Ran, Slice, Start, StartOutcome};
use model::study::REFERENCE;
use model::{Design, Findings, Measured, Run};
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

/// The findings of a run of which these starts were measured, all contenders of a round in one heat. A study's hub is a third as fast as its
/// reference.
pub fn findings(run: &Run, starts: &[Start], ended: Option<&str>) -> Findings {
    let has_hub = run.race.is_none() && run.contenders.contains_key(REFERENCE);
    let is_base = |start: &&Start| has_hub && start.contender == REFERENCE && start.copy == 0;
    let hub = |start: &Start| {
        let measured = start.cells.get(&0)?.measurement.as_ref()?;
        Some(example::start(start.round, HUB, Some(measured.tally.completed as f64 / 3.0)))
    };
    let hubs = starts.iter().filter(is_base).filter_map(hub);
    let starts: Vec<Start> = hubs.chain(starts.iter().cloned()).collect();
    let mut heats = Vec::<Heat>::new();
    for Start { round, .. } in &starts {
        if heats.iter().all(|heat| heat.round != *round) {
            let cells = (0..run.study.cells.len()).collect();
            let members: Vec<&str> = run.contenders.keys().map(String::as_str).collect();
            heats.push(Heat { round: *round, copies: run.copies, hub: has_hub, cells, ..heat(&members) });
        }
    }
    let slices = starts.iter().flat_map(slices).collect();
    analyse::heats::findings(run, &Measured { heats, starts, slices }, ended)
}

/// The first heat of a run: these contenders and the hub in its first cell.
pub fn heat(members: &[&str]) -> Heat {
    Heat {
        round: 0,
        number: 0,
        members: members.iter().map(ToString::to_string).collect(),
        copies: 1,
        hub: true,
        cells: vec![0],
        seed: u64::MAX,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        machine: None,
    }
}

/// The slices of a start, in each of which it has the rate that was measured.
fn slices(start: &Start) -> Vec<Slice> {
    let turn = |(cell, of): (&usize, &InCell), cycle| Slice {
        round: start.round,
        cell: *cell,
        cycle,
        contender: start.contender.clone(),
        copy: start.copy,
        answers: of.measurement.as_ref().map_or(0, |measured| measured.tally.completed * 100),
        ns: 100_000_000_000,
        ..slice()
    };
    start.cells.iter().flat_map(|of| (0..20).map(move |cycle| turn(of, cycle))).collect()
}
