//! Tests that every line of a file of shared runs, and every line that `drome heat` prints, is valid under its JSON Schema.

use super::named;
use control::Catalog;
use jsonschema::Validator;
use lab::fleet::Spec;
use lab::setup::{Lineup, RunRules};
use model::background::Background;
use model::heat::{Counts, HUB, Heat, InCell, Ran, Slice, Start, StartOutcome, Void};
use model::import::{Imported, Source};
use model::page::Replays;
use model::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use store::shared::{Row, Writer};

const ID: &str = "20260101-000000-00aa";
const MOMENT: &str = "2026-01-01T00:00:00Z";

fn validator(name: &str) -> Validator {
    let schema: Value = serde_json::from_str(&named(name).unwrap().text().unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn assert_valid(name: &str, document: &Value) {
    let validator = validator(name);
    let wrong: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{name}: {}\n{document}", wrong.join("\n"));
}

/// A run of a fleet, as it is planned.
fn run() -> Run {
    let study = Catalog::built_in().unwrap().study("raspberry-pi").unwrap().clone();
    let rules = RunRules { seed: Some(7), ..RunRules::default() };
    let run = Lineup::default().run("raspberry-pi", study, rules);
    Run { id: ID.to_owned(), fleet: Some(Fleet { machines: 2 }), ..run }
}

fn heat() -> Heat {
    Heat {
        round: 0,
        number: 0,
        members: vec!["reference".to_owned()],
        copies: 1,
        hub: true,
        cells: vec![0],
        seed: u64::MAX,
        started_at: MOMENT.to_owned(),
        machine: None,
    }
}

fn measurement() -> Measurement {
    Measurement { tally: Tally::default(), usage: Some(Usage::default()), verdict: Verdict::default() }
}

fn slice() -> Slice {
    Slice {
        round: 0,
        heat: 0,
        cell: 0,
        cycle: 0,
        place: 0,
        contender: HUB.to_owned(),
        copy: 0,
        answers: 1,
        ns: 1,
        turn_ns: 2,
        ran: Ran::default(),
        void: Some(Void::HeldUp),
    }
}

/// The rows of one entry of each kind that a file of shared runs can have: a run in heats with every kind of row that such a run has, and
/// entries that are not runs.
fn entries() -> Vec<Vec<Row>> {
    let machine = HeatMachine { name: "ci-1".to_owned(), attempt: 1, ..HeatMachine::default() };
    let cell = InCell {
        warmup_ns: 1,
        settled: None,
        counts: Counts::SharesDiffer("why".to_owned()),
        turns: 1,
        disturbed: 0,
        elsewhere_ns: None,
        elsewhere_wall_ns: 1,
        memory: vec![[1, 2]],
        background: vec![Background { program: "cc1".to_owned(), cpu_ns: 1 }],
        measurement: Some(Box::new(measurement())),
    };
    let start = Start {
        round: 0,
        heat: 0,
        contender: HUB.to_owned(),
        copy: 0,
        attempt: 0,
        outcome: StartOutcome::Failed("why".to_owned()),
        cells: [(0, cell)].into(),
        memory_bytes: None,
        took_ns: 1,
        program: None,
        conditions: Some(Conditions::default()),
    };
    let [id, title, started_at, name] =
        [ID, "load http://127.0.0.1:1/", MOMENT, "raspberry-pi"].map(str::to_owned);
    let (ended, terminal, json) = ("void".to_owned(), "text".to_owned(), "{}".to_owned());
    let printed = Printed {
        id: id.clone(),
        title: title.clone(),
        started_at: started_at.clone(),
        ended,
        terminal,
        json,
    };
    let replays = Replays {
        id: id.clone(),
        name,
        title: title.clone(),
        started_at: started_at.clone(),
        ..Replays::default()
    };
    let source = Source { name: "page.md".to_owned(), title: None, bytes: 9, strange: vec!["?".to_owned()] };
    let item = Imported { source: 0, reading: Reading::of("ab"), notes: Vec::new(), strange: Vec::new() };
    let (sources, items, drome) = (vec![source], vec![item], "0.1.0".to_owned());
    let import = Import { id, title, imported_at: started_at, drome, sources, items };
    vec![
        vec![
            Row::Run(Box::new(run())),
            Row::Ended("enough".to_owned()),
            Row::Heat(Heat { machine: Some(Box::new(machine)), ..heat() }),
            Row::Start(Box::new(start)),
            Row::Slice(slice()),
        ],
        vec![Row::Report(Box::new(printed))],
        vec![Row::Replays(Box::new(replays))],
        vec![Row::Import(Box::new(import))],
    ]
}

#[test]
fn every_line_of_shared_runs_is_as_the_schema_says() {
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, "0.1.0").unwrap();
    for rows in entries() {
        writer.entry(Some("ci-1")).unwrap();
        rows.iter().for_each(|row| writer.row(row).unwrap());
    }
    writer.end().unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.push(json!({ "from": { "machine": null } }));
    let mut kinds = BTreeSet::new();
    for line in &lines {
        assert_valid("runs", line);
        kinds.extend(line.as_object().unwrap().keys().cloned());
    }
    let rows = kinds.iter().filter(|kind| !["drome_runs", "from", "end"].contains(&kind.as_str())).count();
    assert_eq!((rows, kinds.len()), (8, 11), "every kind of line was looked at: {kinds:?}");
    let validator = validator("runs");
    let start = lines.iter().find_map(|line| line.get("start")).unwrap();
    for wrong in [json!({ "slice": {} }), json!({ "strat": start }), json!({ "end": { "entries": "one" } })] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn a_heat_that_is_owed_is_as_the_schema_says() {
    let spec = Spec::new(&run(), heat());
    let mut json = serde_json::from_str(&spec.line().unwrap()).unwrap();
    assert_valid("heat", &json);
    assert_eq!(Spec::read(&json.to_string(), false).unwrap(), spec);
    json["attempt"] = "first".into();
    assert!(!validator("heat").is_valid(&json));
    let line =
        json!({ "run": ID, "round": 0, "heat": 0, "attempt": 1, "machine": "ci-1", "outcome": "committed" });
    assert_valid("heat-commit", &line);
    assert!(!validator("heat-commit").is_valid(&json!({ "outcome": "lost" })));
}
