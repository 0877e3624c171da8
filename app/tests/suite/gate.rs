//! Two runs compared by the real binary, and a gate that fails on what is sure.

use crate::common::Home;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Findings of eight blocks: the reference at 100,000/s and one contender at this rate, each with some noise.
fn findings(home: &Home, name: &str, machine: f64, rate: f64, cpu: &str) -> PathBuf {
    let contender = |name: &str, rate: f64| {
        let noise = [0.004, -0.006, 0.0, 0.003, -0.002, 0.006, -0.004, 0.001];
        let by_block: Vec<f64> = noise.iter().map(|x| rate * machine * (1.0 + x)).collect();
        json!({"name": name, "title": name, "version": "1.0", "trials": 8, "void": 0, "failed": 0, "errors": 0,
               "bound": "server", "notes": [], "rate_per_s_by_block": by_block})
    };
    let cell = json!({"title": "keep-alive", "workload": "hello", "blocks": 8, "noise_floor": 0.01,
        "load": {"closed": {"connections": 10}},
        "contenders": [contender("reference", 100_000.0), contender("nginx", rate)]});
    let environment =
        json!({"drome": "0.1.0", "cpu": cpu, "cores": 2, "server_cpus": [0], "client_cpus": [1]});
    let all = json!({"schema": 1, "run": name, "study": "example", "title": "An example", "seed": 1, "quick": false,
        "started_at": "2026-01-01T00:00:00Z", "environment": environment, "ended": "enough", "elapsed_s": 1.0,
        "cells": [cell], "missing": []});
    home.write(&format!("{name}.json"), &all.to_string())
}

/// The exit code, standard output, standard error.
fn gate(home: &Home, args: &[&str]) -> (i32, String, String) {
    let output = home.drome(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_gate_fails_on_a_regression_that_is_sure_and_large_enough() {
    let home = Home::new();
    let file =
        |name: &str, machine, rate| findings(&home, name, machine, rate, "a cpu").display().to_string();
    let (old, same, worse) =
        (file("old", 1.0, 50_000.0), file("same", 0.8, 50_000.0), file("worse", 1.2, 46_000.0));
    for (new, margin, code) in [(&same, "3%", 0), (&worse, "3%", 3), (&worse, "0.15", 0), (&old, "0", 0)] {
        let (got, out, err) = gate(&home, &["gate", new, "--against", &old, "--margin", margin]);
        assert_eq!(got, code, "{out}{err}");
    }
    let (_, out, err) =
        gate(&home, &["gate", &worse, "--against", &old, "--margin", "3%", "--format", "markdown"]);
    assert!(
        out.starts_with("**worse against old: 1 surely slower**") && out.contains("| nginx | 1.0 | 0.920 |")
    );
    assert!(err.contains("nginx (keep-alive) is surely more than 3 % slower"), "{err}");
    let (code, out, _) = gate(&home, &["compare", &old, &worse, "--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["cells"][0]["contenders"][0]["change"]), (0, &json!("slower")));
    assert!((json["cells"][0]["drift"]["median"].as_f64().unwrap() - 1.2).abs() < 0.001);
}

#[test]
fn what_can_not_be_compared_is_refused_with_the_reason() {
    let home = Home::new();
    let old = findings(&home, "old", 1.0, 50_000.0, "a cpu").display().to_string();
    let other = findings(&home, "other", 1.0, 50_000.0, "another cpu").display().to_string();
    let broken = home.write("broken.json", "{\"schema\": 1}").display().to_string();
    let (code, _, err) = gate(&home, &["compare", &old, &other]);
    assert!(code == 2 && err.contains("another processor (a cpu then, another cpu now)"), "{err}");
    assert_eq!(gate(&home, &["compare", &old, &other, "--anyway"]).0, 0);
    let (code, _, err) = gate(&home, &["gate", &broken, "--against", &old]);
    assert!(code == 2 && err.contains("drome report RUN --format json"), "{err}");
    let (code, _, err) = gate(&home, &["gate", "no-such-run", "--against", &old]);
    assert!(code == 2 && err.contains("no-such-run"), "{err}");
    assert_eq!(gate(&home, &["gate", &old, "--against", &old, "--margin", "150%"]).0, 2);
}
