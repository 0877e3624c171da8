//! Runs, observations and findings for tests: no server, no clock.

use crate::findings::analyse;
use crate::heat::example as in_heats;
use model::heat::{HUB, InCell, Slice, Start, StartOutcome};
use model::observation::Entrant;
use model::study::REFERENCE;
use model::*;
use std::collections::BTreeMap;
use std::time::Duration;

/// A run of one closed cell with these contenders and the reference.
pub fn run(contenders: &[&str]) -> Run {
    let entrant = |name: &str| Entrant {
        title: name.to_uppercase(),
        version: Some("1.0".to_owned()),
        ..Entrant::default()
    };
    let names = contenders.iter().copied().chain(["reference"]);
    Run {
        id: "20260101-000000-0000".to_owned(),
        name: "example".to_owned(),
        study: Study {
            title: "An example".to_owned(),
            source: None,
            tracks: model::study::default_track(),
            contenders: contenders.iter().map(ToString::to_string).collect(),
            cells: vec![Cell {
                title: "keep-alive".to_owned(),
                workload: "hello".to_owned(),
                load: Load::Closed { connections: 10, per_connection: None },
            }],
            design: Design {
                rounds: [4, 13],
                heat: 6,
                slice: Duration::from_millis(100),
                warmup: Duration::ZERO,
                warmup_limit: Duration::from_mins(2),
                measure: Duration::from_secs(1),
                decide: false,
                margin: None,
                metric: Metric::Rate,
                precision: 0.03,
                budget: Duration::from_mins(10),
            },
            server_on: None,
            published: None,
            as_published: Vec::new(),
            unequal: Vec::new(),
        },
        seed: 7,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        workloads: BTreeMap::new(),
        quick: false,
        environment: Environment { drome: "0.1.0".to_owned(), cores: 2, ..Environment::default() },
        contenders: names.map(|name| (name.to_owned(), entrant(name))).collect(),
        copies: 1,
        race: None,
        allow_busy: None,
        command: Vec::new(),
        fleet: None,
    }
}

/// A start that had this rate over one second, or failed.
pub fn observation(trial: Trial, rate: Option<f64>) -> Observation {
    let outcome = match rate {
        None => Outcome::Failed("it ended (exit status: 1)".to_owned()),
        Some(rate) => Outcome::Measured(Box::new(measurement(rate))),
    };
    let started_at = "2026-01-01T00:00:00Z".to_owned();
    Observation {
        trial,
        started_at,
        elapsed_ns: 1_000_000_000,
        outcome,
        conditions: Conditions::default(),
        in_heat: None,
    }
}

/// The findings of a run of which these starts were measured, all contenders of a round in one heat. A study's hub is a third as fast as its
/// reference.
pub fn findings(run: &Run, observations: &[Observation], ended: Option<&str>) -> Findings {
    let has_hub = run.race.is_none() && run.contenders.contains_key(REFERENCE);
    let hub = |o: &Observation| {
        let Outcome::Measured(own) = &o.outcome else { return None };
        let own = own.tally.completed as f64 / 3.0;
        let trial = Trial { contender: HUB.to_owned(), copy: 0, ..o.trial.clone() };
        Some(observation(trial, Some(own)))
    };
    let is_base = |o: &&Observation| o.trial.contender == REFERENCE && o.trial.copy == 0;
    let hubs: Vec<Observation> =
        observations.iter().filter(is_base).filter(|_| has_hub).filter_map(hub).collect();
    let (mut heats, mut starts, mut slices) = (Vec::<Heat>::new(), Vec::new(), Vec::new());
    for o in hubs.iter().chain(observations) {
        let round = o.trial.round;
        if heats.iter().all(|heat| heat.round != round) {
            heats.push(heat(run, round, has_hub));
        }
        let (start, own) = start(o);
        starts.push(start);
        slices.extend(own);
    }
    analyse::heats::findings(run, &heats, &starts, &slices, ended)
}

fn heat(run: &Run, round: usize, hub: bool) -> Heat {
    Heat {
        round,
        number: 0,
        members: run.contenders.keys().cloned().collect(),
        copies: run.copies,
        hub,
        cells: (0..run.study.cells.len()).collect(),
        seed: 0,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        machine: None,
    }
}

/// A start as it is stored, with its slices.
fn start(o: &Observation) -> (Start, Vec<Slice>) {
    let Trial { round, cell, contender, copy } = o.trial.clone();
    let of_heat = in_heats::start(round, 0, &contender, &[]);
    let of_start = Start { copy, conditions: Some(o.conditions.clone()), took_ns: o.elapsed_ns, ..of_heat };
    let measured = match &o.outcome {
        Outcome::Failed(why) => {
            return (Start { outcome: StartOutcome::Failed(why.clone()), ..of_start }, Vec::new());
        }
        Outcome::Measured(measured) => measured,
    };
    let in_cell = InCell { measurement: Some(measured.clone()), ..in_heats::in_cell() };
    let slice = |cycle: usize| Slice {
        round,
        cell,
        cycle,
        contender: contender.clone(),
        copy,
        answers: measured.tally.completed * 100,
        ns: 100_000_000_000,
        ..in_heats::slice()
    };
    (Start { cells: BTreeMap::from([(cell, in_cell)]), ..of_start }, (0..20).map(slice).collect())
}

/// The same run with an open load of 100 requests/s.
pub fn offered(mut run: Run) -> Run {
    run.study.cells[0].load = Load::Open {
        rate_per_s: Rate::Constant(100.0),
        connections: 10,
        arrivals: Arrivals::default(),
        per_connection: None,
    };
    run
}

/// A sound measurement of one second.
pub fn measurement(rate: f64) -> Measurement {
    let mut tally = Tally {
        duration_ns: 1_000_000_000,
        sent: rate as u64,
        completed: rate as u64,
        status: BTreeMap::from([(200, rate as u64)]),
        threads: 1,
        ..Tally::default()
    };
    tally.latency.record(1_000_000);
    let usage = Usage {
        wall_ns: 1_000_000_000,
        cpu_ns: 950_000_000,
        cores: 1,
        rss_max_bytes: 1 << 20,
        ..Usage::default()
    };
    Measurement {
        tally,
        usage: Some(usage),
        verdict: Verdict { bound: Bound::Server, valid: true, reasons: Vec::new(), ..Verdict::default() },
    }
}
