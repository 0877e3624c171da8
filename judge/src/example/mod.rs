//! Runs and starts for tests: no server, no clock.

pub mod in_heats;

use model::heat::StartOutcome;
use model::run::Entrant;
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
            cells: vec![Cell::plain(
                "keep-alive".to_owned(),
                "hello".to_owned(),
                Load::Closed { connections: 10, per_connection: None },
            )],
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

/// A start in the only heat of its round that had this rate over one second in the first cell, or failed.
pub fn start(round: usize, contender: &str, rate: Option<f64>) -> Start {
    let in_cell =
        |rate| heat::InCell { measurement: Some(Box::new(measurement(rate))), ..in_heats::in_cell() };
    Start {
        outcome: match rate {
            Some(_) => StartOutcome::Ended,
            None => StartOutcome::Failed("it ended (exit status: 1)".to_owned()),
        },
        cells: rate.map(|rate| (0, in_cell(rate))).into_iter().collect(),
        took_ns: 1_000_000_000,
        conditions: Some(Conditions::default()),
        ..in_heats::start(round, 0, contender, &[])
    }
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
