//! `drome heat`: a run of several machines by hand: planned, measured heat by heat, taken in once, and reported.

use crate::common::catalog::{SERVES, keep_alive, study};
use crate::common::{Home, process, run, wait_for};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

/// A study of one contender, two of which with the reference are a heat.
fn small() -> String {
    study(&["one"], &keep_alive(2), &[("rounds", "[4, 4]"), ("heat", "2")])
}

fn home() -> Home {
    let home = Home::new();
    home.write_study("small", &small());
    home.add_contender("one", SERVES);
    home
}

fn heat(home: &Home, args: &[&str]) -> Command {
    let mut command = home.with_catalog(&[&["heat"], args].concat());
    command.env("DROME_ALLOW_BUSY", "1");
    command
}

fn planned(home: &Home, args: &[&str]) -> String {
    let finished = run(heat(home, &["plan", "small"]).args(args));
    assert_eq!(finished.code, 0, "{}", finished.err);
    finished.out.trim().to_owned()
}

/// Measures a spec, as this machine.
fn measured(home: &Home, nth: usize, spec: &str, machine: &str) -> String {
    let spec = home.write(&format!("spec-{nth}.json"), spec).display().to_string();
    let result = home.path().join(format!("result-{nth}.jsonl")).display().to_string();
    let finished = run(&mut heat(home, &["measure", &spec, "--output", &result, "--machine", machine]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    result
}

#[test]
fn a_study_with_its_servers_elsewhere_is_not_planned() {
    let home = home();
    home.write_study("small", &format!("server-on = \"ssh pi@board\"\n{}", small()));
    let finished = run(&mut heat(&home, &["plan", "small"]));
    finished.assert_err(2, &["(`server-on`)"]);
}

#[test]
fn a_run_of_two_machines_is_planned_measured_taken_in_once_and_reported() {
    let home = home();
    let id = planned(&home, &["--machines", "2", "-o", &home.path().join("specs").display().to_string()]);
    let owed = run(&mut heat(&home, &["owed", &id])).out;
    let specs: Vec<&str> = owed.lines().collect();
    assert_eq!((specs.len(), fs::read_dir(home.path().join("specs")).unwrap().count()), (4, 4));
    let mut results = Vec::new();
    for (nth, spec) in specs.iter().enumerate() {
        results.push(measured(&home, nth, spec, ["ci-1", "ci-2"][nth % 2]));
    }
    let commit = |files: &[String]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let finished = run(&mut heat(&home, &[&["commit"], &files[..]].concat()));
        let outcomes =
            finished.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["outcome"].clone());
        (finished.code, outcomes.collect::<Vec<_>>(), finished.err)
    };
    assert_eq!(commit(&results[2..]).1, ["committed", "committed"]);
    let half = run(&mut home.drome(&["push", &id, &home.path().join("half.jsonl").display().to_string()]));
    half.assert_err(1, &["is a fleet's and has not ended"]);
    let empty = home.path().join("empty.sqlite").display().to_string();
    let unknown = run(&mut heat(&home, &["commit", &results[0], &results[1], "--store", &empty]));
    assert!(unknown.code == 2 && unknown.err.matches("result-").count() == 2, "{}", unknown.err);
    let (code, outcomes, _) = commit(&results);
    assert_eq!(
        (code, outcomes),
        (0, ["committed", "committed", "already", "already"].map(Value::from).to_vec())
    );
    // What was changed on its way is refused, and what is beside it is not.
    let changed = fs::read_to_string(&results[0]).unwrap().replace("\"attempt\":1", "\"attempt\":2");
    fs::write(&results[0], changed).unwrap();
    let (code, outcomes, err) = commit(&results[..2]);
    assert!(
        code == 2 && outcomes == ["already"] && err.contains("was changed after it was written"),
        "{err}"
    );
    let over = run(&mut heat(&home, &["owed", &id]));
    assert!(over.out.is_empty() && over.err.contains("is over"), "{}", over.err);
    let report: Value =
        serde_json::from_str(&run(&mut home.drome(&["report", &id, "--format", "json"])).out).unwrap();
    let machines = &report["cells"][0]["in_heats"]["machines"];
    assert_eq!(machines["machines"][0]["machine"], "ci-1", "{machines}");
    assert_eq!((&machines["machines"][1]["heats"], &machines["differ"]), (&Value::from(2), &Value::Null));
    let text = run(&mut home.drome(&["report", &id])).out;
    assert!(text.contains("measured on 2 machines: ci-1 (2 heats"), "{text}");
    let resumed = run(&mut home.with_catalog(&["run", "small", "--resume", "--budget", "3h"]));
    resumed.assert_err(2, &["is measured on several machines"]);
    home.assert_clean();
}

#[test]
fn a_heat_whose_worker_is_gone_ends_with_all_of_its_servers() {
    let home = home();
    let id = planned(&home, &[]);
    let owed = run(&mut heat(&home, &["owed", &id])).out;
    // A longer heat, so that it is under way.
    let spec = owed.lines().next().unwrap().replace("\"measure\":\"100ms\"", "\"measure\":\"1m\"");
    let spec = home.write("spec.json", &spec).display().to_string();
    let result = home.path().join("result.jsonl").display().to_string();
    let mut command = heat(&home, &["measure", &spec, "--output", &result, "--tied"]);
    let mut child = process::spawn(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()));
    let serves = || {
        crate::common::processes_with(&home.path().display().to_string())
            .iter()
            .any(|line| line.contains(" serve "))
    };
    wait_for(serves, "a server to start");
    drop(child.stdin.take());
    assert_eq!(process::wait(&mut child).code(), Some(130));
    wait_for(|| !serves(), "all servers to be gone");
    assert!(!fs::exists(&result).unwrap(), "there is no result of a part");
}

#[test]
fn another_contender_than_was_planned_is_not_measured() {
    let home = home();
    let id = planned(&home, &[]);
    let owed = run(&mut heat(&home, &["owed", &id])).out;
    let spec = home.write("spec.json", owed.lines().next().unwrap()).display().to_string();
    let path = home.path().join("own/contenders/one/contender.toml");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("1.0", "2.0")).unwrap();
    let result = home.path().join("result.jsonl").display().to_string();
    let finished = run(&mut heat(&home, &["measure", &spec, "--output", &result]));
    finished.assert_err(1, &["one was 1.0 and is 2.0"]);
}
