//! Tests that what is written keeps to what is read, whatever the findings have.

use super::*;
use crate::environment::{ConditionsRange, Environment};
use crate::findings::Figure;
use crate::gate::judged;
use std::collections::BTreeMap;

const MARGIN: f64 = 0.02;

fn change(title: &str, speed: Figure) -> Changed {
    Changed {
        name: title.to_owned(),
        title: title.to_owned(),
        cell: Some(title.to_owned()),
        metric: Metric::Rate,
        speed,
        margin: MARGIN,
        judged: judged(speed, MARGIN),
    }
}

fn around(median: f64) -> Figure {
    Figure { median, low: Some(median - 0.01), high: Some(median + 0.01) }
}

fn findings(title: &str) -> Findings {
    let environment = Environment {
        drome: "0.1.0".to_owned(),
        cores: 4,
        cpu: Some(title.to_owned()),
        ..Environment::default()
    };
    Findings {
        schema: 1,
        run: "20260101-000000-0000".to_owned(),
        study: "race".to_owned(),
        title: title.to_owned(),
        source: None,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        seed: 1,
        environment,
        origin: None,
        conditions: ConditionsRange::default(),
        workloads: BTreeMap::new(),
        quick: false,
        allow_busy: false,
        ended: "decided".to_owned(),
        elapsed_s: 61.5,
        race: None,
        noise_floor: None,
        cells: Vec::new(),
        missing: Vec::new(),
        page: None,
        unequal: Vec::new(),
        entrants: BTreeMap::new(),
        profiles: Vec::new(),
    }
}

fn verdict(title: &str, changes: Vec<Changed>, unknown: Vec<String>) -> GateVerdict {
    let gate = Gate { margin: MARGIN, changes, unknown };
    let verdict = GateVerdict::of_race(&gate, &findings(title), Vec::new());
    assert_eq!(verdict.check(), Ok(()), "{verdict:?}");
    assert_eq!(verdict.outcome, gate.outcome());
    verdict
}

#[test]
fn it_says_what_the_gate_says_the_worst_first() {
    let changes =
        [("same", 1.0), ("open", 0.98), ("slow", 0.9)].map(|(title, speed)| change(title, around(speed)));
    let all = verdict("a race", changes.to_vec(), vec!["nginx could not be judged: it failed".to_owned()]);
    let titles: Vec<&str> = all.changes.iter().map(|change| change.title.as_str()).collect();
    assert_eq!(titles, ["slow", "open", "same"]);
    assert_eq!((all.outcome, all.changes[0].slowdown, all.left_out), (Outcome::Slower, 1.0 - 0.9, 0));
    assert_eq!((all.elapsed_s, all.machine.cores, all.drome.as_str()), (61.5, 4, "0.1.0"));
    let one = verdict("a race", changes[..1].to_vec(), Vec::new());
    assert_eq!((one.outcome, one.against.as_str()), (Outcome::Passed, "the first"));
    assert_eq!(verdict("a race", Vec::new(), Vec::new()).outcome, Outcome::Open, "nothing was judged");
}

#[test]
fn too_much_is_cut_and_what_is_no_number_is_unknown() {
    let long = format!("a\nb\u{1b}[2J{}", "é".repeat(LONGEST_NAME));
    let many = (0..MOST_CHANGES + 3).map(|_| change(&long, around(1.0))).collect();
    let cut = verdict(&long, many, vec![long.repeat(20); MOST_SENTENCES + 5]);
    assert_eq!((cut.changes.len(), cut.left_out, cut.unknown.len()), (MOST_CHANGES, 3, MOST_SENTENCES));
    assert!(cut.title.starts_with("a b [2J") && cut.title.ends_with('…'), "{}", cut.title);
    assert_eq!(cut.unknown.last().map(String::as_str), Some("6 others could not be judged either"));
    let endless = Figure { median: 1e9, low: Some(1e-9), high: Some(f64::INFINITY) };
    let odd = verdict("a race", vec![change("a", endless)], Vec::new());
    assert_eq!((odd.changes[0].speed, odd.changes[0].high), (LARGEST_RATIO, Some(LARGEST_RATIO)));
    let nan = Figure { median: f64::NAN, low: None, high: None };
    let unknown = verdict("a race", vec![change("a", nan)], Vec::new());
    assert_eq!(unknown.unknown, ["a could not be judged: its change of speed is not a number"]);
}

#[test]
fn what_drome_can_not_have_written_is_refused() {
    let fair = verdict("a race", vec![change("a", around(0.9))], Vec::new());
    let wrong = |spoil: fn(&mut GateVerdict)| {
        let mut verdict = fair.clone();
        spoil(&mut verdict);
        verdict.check().unwrap_err()
    };
    assert!(wrong(|v| v.schema = 2).contains("schema is 2"));
    assert!(wrong(|v| v.outcome = Outcome::Passed).contains("does not follow from `changes`"));
    assert!(wrong(|v| v.changes[0].judged = Outcome::Passed).contains("does not follow from `speed`"));
    assert!(wrong(|v| v.margin = 0.5).contains("does not follow from `speed`"));
    assert!(wrong(|v| v.changes[0].slowdown = 0.0).contains("1 less the speed"));
    assert!(wrong(|v| v.changes[0].slowdown = f64::NAN).contains("1 less the speed"));
    assert!(wrong(|v| v.changes[0].speed = 0.0).contains("out of range"));
    assert!(wrong(|v| v.changes[0].low = Some(f64::NEG_INFINITY)).contains("out of range"));
    assert!(wrong(|v| v.margin = f64::NAN).contains("margin is out of range"));
    assert!(wrong(|v| v.changes[0].margin = Some(-1.0)).contains("margin is out of range"));
    assert!(wrong(|v| v.changes[0].margin = Some(0.5)).contains("does not follow from `speed`"));
    assert!(wrong(|v| v.elapsed_s = -1.0).contains("elapsed_s is out of range"));
    assert!(wrong(|v| v.smallest_slowdown = Some(1e300)).contains("smallest_slowdown is out of range"));
    assert!(wrong(|v| v.rounds = usize::MAX).contains("rounds"));
    assert!(wrong(|v| v.title = "x".repeat(LONGEST_NAME + 1)).contains("a name's bytes: 101"));
    assert!(wrong(|v| v.machine.cpu = Some("x".repeat(1_000_000))).contains("a name's bytes: 1000000"));
    assert!(wrong(|v| v.unknown = vec!["x".repeat(LONGEST_SENTENCE + 1)]).contains("a sentence's bytes"));
    assert!(wrong(|v| v.unknown = vec![String::new(); MOST_SENTENCES + 1]).contains("unknown: 41"));
    assert!(wrong(|v| v.changes = vec![v.changes[0].clone(); MOST_CHANGES + 1]).contains("changes: 201"));
}
