//! Heats, starts and findings for tests: no server, no clock.

use crate::example;
use crate::findings::analyse;
use model::heat::{Counts, HUB, Heat, InCell, Ran, Slice, Start, StartOutcome};
use model::study::REFERENCE;
use model::{Design, Findings, Observation, Run, Trial};
use std::collections::BTreeMap;
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
pub fn findings(run: &Run, observations: &[Observation], ended: Option<&str>) -> Findings {
    let has_hub = run.race.is_none() && run.contenders.contains_key(REFERENCE);
    let hub = |o: &Observation| {
        let own = o.measured()?.tally.completed as f64 / 3.0;
        let trial = Trial { contender: HUB.to_owned(), copy: 0, ..o.trial.clone() };
        Some(example::observation(trial, Some(own)))
    };
    let is_base = |o: &&Observation| o.trial.contender == REFERENCE && o.trial.copy == 0;
    let hubs: Vec<Observation> =
        observations.iter().filter(is_base).filter(|_| has_hub).filter_map(hub).collect();
    let (mut heats, mut starts, mut slices) = (Vec::<Heat>::new(), Vec::new(), Vec::new());
    for o in hubs.iter().chain(observations) {
        let round = o.trial.round;
        if heats.iter().all(|heat| heat.round != round) {
            let cells = (0..run.study.cells.len()).collect();
            let members: Vec<&str> = run.contenders.keys().map(String::as_str).collect();
            heats.push(Heat { round, copies: run.copies, hub: has_hub, cells, ..heat(&members) });
        }
        let (start, own) = started(o);
        starts.push(start);
        slices.extend(own);
    }
    analyse::heats::findings(run, &heats, &starts, &slices, ended)
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

/// A start as it is stored, with its slices.
fn started(o: &Observation) -> (Start, Vec<Slice>) {
    let Trial { round, cell, contender, copy } = o.trial.clone();
    let of_heat = start(round, 0, &contender, &[]);
    let of_start = Start { copy, conditions: Some(o.conditions.clone()), took_ns: o.elapsed_ns, ..of_heat };
    let measured = match &o.outcome {
        Err(why) => {
            return (Start { outcome: StartOutcome::Failed(why.clone()), ..of_start }, Vec::new());
        }
        Ok(measured) => measured,
    };
    let in_cell = InCell { measurement: Some(measured.clone()), ..in_cell() };
    let turn = |cycle: usize| Slice {
        round,
        cell,
        cycle,
        contender: contender.clone(),
        copy,
        answers: measured.tally.completed * 100,
        ns: 100_000_000_000,
        ..slice()
    };
    (Start { cells: BTreeMap::from([(cell, in_cell)]), ..of_start }, (0..20).map(turn).collect())
}
