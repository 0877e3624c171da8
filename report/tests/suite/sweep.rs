//! One golden for every format of a sweep, from findings that are made up.

use model::sweep::*;
use model::{Arrivals, Environment};

fn spread(median: f64) -> Option<Spread> {
    Spread::of(&[median * 0.98, median, median * 1.03])
}

/// A server of one worker that takes 2 ms for an answer.
fn step(share: f64) -> Step {
    let latency = 2e6 / (1.05 - share).max(0.001);
    Step {
        share,
        offered_per_s: 500.0 * share,
        trials: 3,
        void: 0,
        failed: 0,
        due_per_s: spread(500.0 * share),
        achieved_per_s: spread(500.0 * share.min(1.0)),
        latency_ns_p50: spread(latency),
        latency_ns_p99: spread(5.0 * latency),
        latency_ns_p999: None,
        server_cpu_ns_per_request: spread(2.01e6),
        server_cores: spread(share.min(1.0)),
        reasons: Vec::new(),
    }
}

fn void(share: f64) -> Step {
    Step {
        void: 2,
        trials: 2,
        failed: 1,
        due_per_s: None,
        achieved_per_s: None,
        latency_ns_p50: None,
        latency_ns_p99: None,
        server_cpu_ns_per_request: None,
        server_cores: None,
        reasons: vec![
            "the load generator used 97 % of its 1 core(s): latencies may include its own delays".to_owned(),
        ],
        ..step(share)
    }
}

fn kept(outcome: KeptOutcome, rate_per_s: Option<f64>) -> Kept {
    Kept {
        promise: "p99 < 10ms".to_owned(),
        outcome,
        rate_per_s,
        low_per_s: rate_per_s.map(|rate| rate - 12.0),
        high_per_s: rate_per_s.map(|rate| rate + 9.0),
        trials: 31,
        ended: "its interval is within ±3 %".to_owned(),
    }
}

pub fn sweep() -> Sweep {
    let one = Swept {
        name: "A".to_owned(),
        title: "./one --port {port}".to_owned(),
        capacity_per_s: spread(500.0),
        capacity_bound: Some("server".to_owned()),
        knee_per_s: spread(498.0),
        steps: vec![step(0.05), step(0.5), step(0.95), step(1.1)],
        kept: Some(kept(KeptOutcome::Found, Some(321.0))),
        trials: Vec::new(),
        notes: Vec::new(),
    };
    let other = Swept {
        name: "B".to_owned(),
        title: "./other | tee --port {port}".to_owned(),
        capacity_per_s: spread(90_000.0),
        capacity_bound: Some("client".to_owned()),
        knee_per_s: None,
        steps: vec![step(0.05), void(0.95)],
        kept: Some(kept(KeptOutcome::LowestDoesNot, None)),
        trials: Vec::new(),
        notes: vec![
            "the load generator was the limit under closed load: the capacity is a lower bound".to_owned(),
        ],
    };
    let side = |name: &str, step: Step| CommonStep { name: name.to_owned(), step };
    let common = Common {
        share: 0.7,
        slowest: "A".to_owned(),
        rate_per_s: 348.6,
        contenders: vec![side("A", step(0.7)), side("B", step(0.004))],
    };
    Sweep {
        schema: SCHEMA,
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        seed: 7,
        url: "http://127.0.0.1:{port}/".to_owned(),
        arrivals: Arrivals::Poisson,
        connections: 64,
        repeats: 3,
        warmup_s: 0.5,
        duration_s: 2.0,
        environment: Environment::default(),
        ended: "all steps were measured".to_owned(),
        interrupted: false,
        elapsed_s: 61.4,
        contenders: vec![one, other],
        common: Some(common),
        notes: Vec::new(),
    }
}

#[test]
fn every_format() {
    let sweep = sweep();
    insta::assert_snapshot!(
        "sweep_in_the_terminal",
        report::sweep::document(&sweep).terminal(&report::TextStyle::default())
    );
    insta::assert_snapshot!("sweep_in_markdown", report::sweep::document(&sweep).markdown());
    insta::assert_snapshot!("sweep_as_csv", report::sweep::records(&sweep).csv());
    insta::assert_snapshot!("sweep_as_json", report::json(&sweep));
}

#[test]
fn the_json_reads_back() {
    // Numbers come back to the last digit but one.
    let back: Sweep = serde_json::from_str(&report::json(&sweep())).unwrap();
    assert_eq!(report::sweep::records(&back).csv(), report::sweep::records(&sweep()).csv());
    assert_eq!(back.contenders[0].kept, sweep().contenders[0].kept);
}
