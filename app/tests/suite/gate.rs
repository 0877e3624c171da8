//! Two runs compared by the real binary, and a gate that fails on what is sure.

use crate::common::{Home, process};
use model::findings::{CellInHeats, ContenderInHeats, StartFigure};
use model::heat::HUB;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Findings of eight rounds: the reference at 100,000/s and one contender at this rate, each with some noise.
pub fn findings(home: &Home, name: &str, machine: f64, rate: f64, cpu: &str) -> PathBuf {
    changed(home, name, machine, rate, cpu, |_| {})
}

/// The same, after a change of the JSON.
fn changed(
    home: &Home,
    name: &str,
    machine: f64,
    rate: f64,
    cpu: &str,
    change: impl FnOnce(&mut Value),
) -> PathBuf {
    let contender = |name: &str, rate: f64| {
        let noise = [0.004, -0.006, 0.0, 0.003, -0.002, 0.006, -0.004, 0.001];
        let by_round: Vec<f64> = noise.iter().map(|x| rate * machine * (1.0 + x)).collect();
        json!({"name": name, "title": name, "version": "1.0", "trials": 8, "void": 0, "failed": 0, "errors": 0,
               "bound": "server", "notes": [], "metric": {"median": rate * machine}, "rate_per_s_by_block": by_round, "in_heats": ContenderInHeats { starts: 8, ..ContenderInHeats::default() }})
    };
    let cell = json!({"title": "keep-alive", "workload": "hello", "blocks": 8, "noise_floor": 0.01, "in_heats": CellInHeats { rounds: 8, heats: 8, ..CellInHeats::default() },
        "load": {"closed": {"connections": 10}},
        "contenders": [contender("reference", 100_000.0), contender("nginx", rate)]});
    let environment =
        json!({"drome": "0.1.0", "cpu": cpu, "cores": 2, "server_cpus": [0], "client_cpus": [1]});
    let mut all = json!({"schema": 1, "run": name, "study": "example", "title": "An example", "seed": 1, "quick": false,
        "started_at": "2026-01-01T00:00:00Z", "environment": environment, "ended": "enough", "elapsed_s": 1.0,
        "cells": [cell], "missing": []});
    change(&mut all);
    all["cells"][0]["in_heats"]["starts"] = starts(&all["cells"][0], machine);
    home.write(&format!("{name}.json"), &all.to_string())
}

/// The figure of every start that the rows of a cell have, one in a round, and that of the hub.
fn starts(cell: &Value, machine: f64) -> Value {
    let start = |contender: &str, round: usize, figure: f64| {
        let contender = contender.to_owned();
        StartFigure { contender, copy: 0, round, heat: 0, figure }
    };
    let of_row = |row: &Value| {
        let rates = row["rate_per_s_by_block"].as_array().unwrap();
        let known = rates.iter().enumerate().filter_map(|(round, rate)| Some((round, rate.as_f64()?)));
        known.map(|(round, rate)| start(row["name"].as_str().unwrap(), round, rate)).collect::<Vec<_>>()
    };
    let rows = cell["contenders"].as_array().unwrap().iter().flat_map(of_row);
    let hub = (0..8).map(|round| start(HUB, round, 90_000.0 * machine));
    json!(rows.chain(hub).collect::<Vec<_>>())
}

/// The exit code, standard output, standard error.
fn gate(home: &Home, args: &[&str]) -> (i32, String, String) {
    let output = process::finish(home.drome(args).stdin(std::process::Stdio::null()));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_gate_fails_on_a_regression_that_is_sure_and_large_enough() {
    let home = Home::new();
    let file =
        |name: &str, machine, rate| findings(&home, name, machine, rate, "a cpu").display().to_string();
    let (old, same, worse) =
        (file("old", 1.0, 50_000.0), file("same", 0.8, 50_000.0), file("worse", 1.2, 35_000.0));
    for (new, margin, code) in [(&same, "13%", 0), (&worse, "13%", 3), (&worse, "0.5", 0), (&same, "2%", 4)] {
        let (got, out, err) = gate(&home, &["compare", &old, new, "--fail-if-slower", margin]);
        assert_eq!(got, code, "{out}{err}");
    }
    let (_, out, err) =
        gate(&home, &["compare", &old, &worse, "--fail-if-slower", "13%", "--format", "markdown"]);
    assert!(
        out.starts_with("**worse against old: 1 significantly slower**")
            && out.contains("| nginx | 1.0 | 0.700 |")
    );
    assert!(err.contains("nginx (keep-alive) is more than 13 % slower: 30"), "{err}");
    let (code, out, _) =
        gate(&home, &["compare", &old, &worse, "--fail-if-slower", "13%", "--format", "junit"]);
    assert!(
        code == 3 && out.contains("<failure message=\"nginx (keep-alive) is more than 13 % slower"),
        "{out}"
    );
    let (code, out, _) = gate(&home, &["compare", &old, &worse, "--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["cells"][0]["contenders"][0]["change"]), (0, &json!("slower")));
    assert!((json["cells"][0]["drift"]["median"].as_f64().unwrap() - 1.2).abs() < 0.001);
}

/// The rows of the only cell.
fn rows(findings: &mut Value) -> &mut Vec<Value> {
    findings["cells"][0]["contenders"].as_array_mut().unwrap()
}

/// One more contender, as nginx but for its name.
fn another(findings: &mut Value) -> Value {
    let mut row = rows(findings)[1].clone();
    (row["name"], row["title"]) = (json!("bun"), json!("Bun"));
    row
}

#[test]
fn a_gate_is_not_green_for_a_contender_that_it_can_not_judge() {
    let home = Home::new();
    let old = findings(&home, "old", 1.0, 50_000.0, "a cpu").display().to_string();
    let file = |name: &str, change: &dyn Fn(&mut Value)| {
        changed(&home, name, 1.0, 50_000.0, "a cpu", change).display().to_string()
    };
    let crashed = |row: &mut Value, trials: u64| {
        (row["trials"], row["failed"]) = (json!(trials), json!(8 - trials));
        row["notes"] = json!(["it ended (exit status: 3)"]);
    };
    let cases = [
        (
            "crashes at start",
            file("crashes", &|all| {
                crashed(&mut rows(all)[1], 0);
                rows(all)[1]["rate_per_s_by_block"] = json!([null, null, null, null, null, null, null, null]);
            }),
            "nginx (keep-alive) failed in 8 of 8 starts of crashes",
        ),
        (
            "crashes in one trial",
            file("once", &|all| {
                crashed(&mut rows(all)[1], 7);
                rows(all)[1]["rate_per_s_by_block"][3] = Value::Null;
            }),
            "nginx (keep-alive) failed in 1 of 8 starts of once",
        ),
        (
            "is new, and crashes",
            file("added", &|all| {
                let mut row = another(all);
                crashed(&mut row, 0);
                rows(all).push(row);
            }),
            "Bun (keep-alive) failed in 8 of 8 starts of added",
        ),
        (
            "is always void",
            file("void", &|all| {
                (rows(all)[1]["void"], rows(all)[1]["metric"]) = (json!(8), Value::Null);
                rows(all)[1]["rate_per_s_by_block"] = json!([null, null, null, null, null, null, null, null]);
            }),
            "none of its starts in the later run has a figure",
        ),
    ];
    for (what, new, words) in &cases {
        let (code, out, err) = gate(&home, &["compare", &old, new, "--fail-if-slower", "13%"]);
        assert!(code == 4 && err.contains(words), "{what}: {code}\n{out}{err}");
        assert!(err.contains("--allow-unknown"), "{what}: {err}");
        let (code, out, err) =
            gate(&home, &["compare", &old, new, "--fail-if-slower", "13%", "--allow-unknown"]);
        assert!(code == 0 && err.contains(words), "{what}: {code}\n{out}{err}");
        // To compare is to look: it judges nothing.
        assert!(gate(&home, &["compare", &old, new]).0 != 4, "{what}");
    }
}

#[test]
fn a_file_and_a_run_that_are_not_there_are_told_apart() {
    let home = Home::new();
    let old = findings(&home, "old", 1.0, 50_000.0, "a cpu").display().to_string();
    for (missing, why) in
        [("gone.json", "there is no file gone.json: "), ("20260101", "there is no run `20260101`")]
    {
        let (code, _, err) = gate(&home, &["compare", &old, missing]);
        assert!(code == 2 && err.contains(why), "{err}");
    }
}

#[test]
fn a_contender_that_only_one_run_has_is_judged_by_which() {
    let home = Home::new();
    let old = findings(&home, "old", 1.0, 50_000.0, "a cpu").display().to_string();
    let file = |name: &str, change: &dyn Fn(&mut Value)| {
        changed(&home, name, 1.0, 50_000.0, "a cpu", change).display().to_string()
    };
    // A contender that only the earlier run has.
    let both = file("both", &|all| {
        let row = another(all);
        rows(all).push(row);
    });
    let (code, out, err) = gate(&home, &["compare", &both, &old, "--fail-if-slower", "13%"]);
    assert!(code == 4 && err.contains("bun (keep-alive) is only in both"), "{code}\n{out}{err}");
    assert_eq!(gate(&home, &["compare", &both, &old, "--fail-if-slower", "13%", "--allow-unknown"]).0, 0);
    // With no contender left there is nothing to compare, which is not green either.
    let none = file("none", &|all| rows(all).truncate(1));
    assert_eq!(gate(&home, &["compare", &old, &none, "--fail-if-slower", "13%"]).0, 2);
    // A regression that is sure says more than what is not known.
    let slower = changed(&home, "slower", 1.0, 35_000.0, "a cpu", |all| rows(all)[1]["failed"] = json!(1));
    assert_eq!(gate(&home, &["compare", &old, slower.to_str().unwrap(), "--fail-if-slower", "13%"]).0, 3);
    // A contender that only the later run has is no reason to fail.
    let more = file("more", &|all| {
        let mut row = rows(all)[1].clone();
        (row["name"], row["title"]) = (json!("bun"), json!("Bun"));
        rows(all).push(row);
    });
    assert_eq!(gate(&home, &["compare", &old, &more, "--fail-if-slower", "13%"]).0, 0);
}

#[test]
fn a_gate_against_a_run_of_another_build_of_drome_is_refused() {
    let home = Home::new();
    let built = |name: &str, version: &str, digest: Option<&str>| {
        let change = |all: &mut Value| {
            all["environment"]["drome"] = json!(version);
            all["environment"]["machine"] = json!({"drome_sha256": digest});
        };
        changed(&home, name, 1.0, 50_000.0, "a cpu", change).display().to_string()
    };
    let old = built("old", "0.1.0", Some("0123456789abcdef"));
    for (new, words) in [
        (
            built("version", "0.2.0", Some("fedcba9876543210")),
            "different version of drome (0.1.0 then, 0.2.0 now)",
        ),
        (
            built("build", "0.1.0", Some("fedcba9876543210")),
            "different build of drome (0123456789ab then, fedcba987654 now)",
        ),
    ] {
        for args in [vec!["compare", &old, &new, "--fail-if-slower", "13%"], vec!["compare", &old, &new]] {
            let (code, out, err) = gate(&home, &args);
            assert!(code == 2 && err.contains(words) && err.contains("--anyway"), "{code}\n{out}{err}");
            let (code, out, err) = gate(&home, &[&args[..], &["--anyway"]].concat());
            assert!(code == 0 && out.contains(words), "{code}\n{out}{err}");
        }
    }
    // What an older drome did not write down can't be held against it, and is told.
    let (code, out, err) =
        gate(&home, &["compare", &old, &built("unknown", "0.1.0", None), "--fail-if-slower", "13%"]);
    assert!(code == 0 && out.contains("can't be compared: build of drome"), "{code}\n{out}{err}");
}

#[test]
fn what_can_not_be_compared_is_refused_with_the_reason() {
    let home = Home::new();
    let old = findings(&home, "old", 1.0, 50_000.0, "a cpu").display().to_string();
    let other = findings(&home, "other", 1.0, 50_000.0, "another cpu").display().to_string();
    let broken = home.write("broken.json", "{\"schema\": 1}").display().to_string();
    let (code, _, err) = gate(&home, &["compare", &old, &other]);
    assert!(code == 2 && err.contains("different processor (a cpu then, another cpu now)"), "{err}");
    assert_eq!(gate(&home, &["compare", &old, &other, "--anyway"]).0, 0);
    let (code, _, err) = gate(&home, &["compare", &old, &broken, "--fail-if-slower", "13%"]);
    assert!(code == 2 && err.contains("drome report RUN --format json"), "{err}");
    let (code, _, err) = gate(&home, &["compare", &old, "no-such-run", "--fail-if-slower", "13%"]);
    assert!(code == 2 && err.contains("no-such-run"), "{err}");
    assert_eq!(gate(&home, &["compare", &old, &old, "--fail-if-slower", "150%"]).0, 2);
}
