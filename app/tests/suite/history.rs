//! Many runs over time, by the real binary, from a store in which the truth is known.

use crate::common::example::{MadeStart, example, keep_round, sound};
use crate::common::{Home, run};
use model::Run;
use model::heat::HUB;
use model::run::Entrant;
use serde_json::{Value, json};
use store::Store;

const REFERENCE: &str = "reference";

fn a_run(nth: usize, names: &[&str]) -> Run {
    let version = if nth < 12 { "1.0" } else { "1.1" };
    let entrant = |name: &str| Entrant {
        title: name.to_owned(),
        version: Some(if name == "worse" { version } else { "1" }.to_owned()),
        ..Entrant::default()
    };
    let entrants = names.iter().map(|name| ((*name).to_owned(), entrant(name))).collect();
    Run {
        id: format!("202601{:02}-000000-0000", nth + 1),
        started_at: format!("2026-01-{:02}T00:00:00Z", nth + 1),
        ..example(entrants, &[("keep-alive", 10)], [3, 3])
    }
}

/// Twenty runs: from the 13th on `worse` is a tenth slower; from the 8th on the machine is a third slower. One more has not ended.
fn fill(home: &Home) {
    let store = Store::open(&home.store()).unwrap();
    for nth in 0..21 {
        let run = a_run(nth, &["same", "worse", REFERENCE]);
        store.add_run(&run).unwrap();
        let machine = if nth < 7 { 1.0 } else { 0.67 };
        for round in 0..3 {
            let made = |(i, name): (usize, &str)| {
                let own = if name == "worse" && nth >= 12 { 0.9 } else { 1.0 };
                let noise = 1.0 + 0.01 * stats::random::uniform(nth as u64, (round * 10 + i) as u64);
                MadeStart::measured(name, sound((50_000.0 * machine * own * noise) as u64))
            };
            let heat: Vec<MadeStart> =
                ["same", "worse", REFERENCE, HUB].into_iter().enumerate().map(made).collect();
            keep_round(&store, &run, round, &heat);
        }
        if nth < 20 {
            store.end_run(&run.id, "enough").unwrap();
        }
    }
}

#[test]
fn a_servers_step_and_a_machines_step_are_told_apart() {
    let home = Home::new();
    fill(&home);
    let finished = run(&mut home.drome(&["history", "example", "--format", "json"]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    let cell = &json["cells"][0];
    let steps = |contender: &Value| -> Vec<(u64, String)> {
        let all = contender["steps"].as_array().unwrap().iter();
        all.map(|s| (s["at"].as_u64().unwrap(), s["cause"].as_str().unwrap().to_owned())).collect()
    };
    assert_eq!(steps(&cell["reference"]), [(7, "machine".to_owned())]);
    assert_eq!(steps(&cell["contenders"][0]), []);
    assert_eq!(steps(&cell["contenders"][1]), [(12, "contender".to_owned())]);
    assert_eq!(cell["contenders"][1]["steps"][0]["versions"], json!(["1.0", "1.1"]));
    assert_eq!((&json["schema"], &json["unended"]), (&json!(1), &json!(1)));
    // The same store says the same, bit for bit.
    assert_eq!(run(&mut home.drome(&["history", "example", "--format", "json"])).out, finished.out);

    let text = run(&mut home.drome(&["history", "example"])).out;
    assert!(text.contains("its version changed there: 1.0 → 1.1"), "{text}");
    assert!(text.contains("a change of the machine, removed from all other results"), "{text}");
    let csv = run(&mut home.drome(&["history", "example", "--contender", "worse", "--format", "csv"])).out;
    assert_eq!(csv.lines().count(), 1 + 2 * 20, "{csv}");
    for cell in ["1", "keep-alive"] {
        let one = run(&mut home.drome(&["history", "example", "--cell", cell])).out;
        assert_eq!(one, text, "it is the only cell, by number and by title");
    }
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let home = Home::new();
    let none = run(&mut home.drome(&["history", "example"]));
    none.assert_err(2, &["there are no runs yet"]);
    fill(&home);
    for (args, why) in [
        (&["history", "other"][..], "there are runs of example"),
        (&["history", "example", "--contender", "nobody"], "there are same, worse"),
        (&["history", "example", "--cell", "2"], "there are 1 (keep-alive)"),
    ] {
        let finished = run(&mut home.drome(args));
        finished.assert_err(2, &[why]);
    }
}

#[test]
fn a_history_is_drawn_with_its_steps() {
    let home = Home::new();
    fill(&home);
    let finished = run(&mut home.drome(&["history", "example", "--format", "svg"]));
    assert!(finished.code == 0 && finished.out.starts_with("<svg "), "{}{}", finished.out, finished.err);
    assert!(finished.out.contains("20 runs: worse 9.9 % slower from 2026-01-13 on"), "{}", finished.out);
    assert!(finished.out.contains("1.0 → 1.1") && finished.out.contains("axis short"), "{}", finished.out);
    let folder = home.path().join("drawn");
    let finished = run(&mut home.drome(&[
        "history",
        "example",
        "--format",
        "png",
        "--output",
        folder.to_str().unwrap(),
    ]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert!(std::fs::read(folder.join("history-1.png")).unwrap().starts_with(b"\x89PNG"));
    let csv = home.path().join("history.csv");
    let finished = run(&mut home.drome(&["history", "example", "-o", csv.to_str().unwrap()]));
    assert_eq!((finished.code, finished.out.as_str()), (0, ""), "{}", finished.err);
    let printed = run(&mut home.drome(&["history", "example", "--format", "csv"])).out;
    assert_eq!(std::fs::read_to_string(csv).unwrap(), printed, "the extension sets the format");
    let finished = run(&mut home.drome(&["history", "example", "-o", "history.html"]));
    finished.assert_err(2, &["has no format html"]);
}
