//! `drome run --contender --cell --budget --precision`: a part of a study, with real servers.

use crate::common::catalog::{cell, contender_with_pong, keep_alive, study};
use crate::common::{Finished, Home, process, run, trials, wait_for};
use model::Run;
use serde_json::Value;
use store::Store;

/// The study of two cells, with a contender that takes three seconds to start, and one that can't be had: who is not asked for is not missed.
fn home(rounds: &str) -> Home {
    let home = Home::new();
    let contenders = ["python-http-server", "nginx", "python-again", "sleeps"];
    let cells = keep_alive(2) + &cell("four bytes, kept", "pong", "closed = { connections = 2 }");
    let design = [("rounds", rounds), ("precision", "0.03"), ("budget", "'1h'")];
    home.write_study("three", &study(&contenders, &cells, &design));
    let absent = contender_with_pong("Absent", r#"["no-such-program"]"#);
    let no_version = absent.replace(r#""echo", "1.0""#, r#""no-such-program""#);
    home.write_contender("python-again", &no_version);
    let command = r#"["sh", "-c", "sleep 3; exec {drome} serve --port {port}"]"#;
    home.write_contender("sleeps", &contender_with_pong("Sleeps", command));
    home
}

fn drome(home: &Home, args: &[&str]) -> Finished {
    run(&mut home.with_catalog(args))
}

#[test]
fn a_part_of_a_study_is_run_within_the_budget_that_is_given() {
    let home = home("[2, 2]");
    let finished = drome(
        &home,
        &[
            "run",
            "three",
            "--contender",
            "nginx,python-http-server",
            "--cell",
            "four bytes, kept",
            "--budget",
            "1h",
            "--precision",
            "0.07%",
        ],
    );
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert!(!finished.err.contains("python-again"), "who is not wanted is not missed: {}", finished.err);
    assert!(finished.err.contains("±0.07 %, or the budget of 1h is spent"), "{}", finished.err);
    let json = home.findings();
    assert!(json["ended"].as_str().unwrap().contains("the design's maximum is reached"), "{json}");
    let cells = json["cells"].as_array().unwrap();
    let names: Vec<&str> =
        cells[0]["contenders"].as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!((cells.len(), &cells[0]["workload"]), (1, &Value::from("pong")));
    assert!(names.len() == 3 && names.contains(&"nginx") && names.contains(&"reference"), "{names:?}");
    assert_eq!(json["missing"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_run_of_a_part_goes_on_with_that_part() {
    let home = home("[4, 4]");
    let mut command =
        home.with_catalog(&["run", "three", "--contender", "python-http-server", "--cell", "keep-alive"]);
    let mut child = process::spawn_unheard(&mut command);
    wait_for(|| trials(&home) >= 2, "two trials");
    child.kill().unwrap();
    process::wait(&mut child);
    let finished = drome(&home, &["run", "three", "--resume"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    // Four rounds of the contender and the reference, in one cell.
    assert_eq!(trials(&home), 8);
    assert_eq!(home.findings()["cells"].as_array().unwrap().len(), 1);
}

#[test]
fn a_run_whose_budget_was_spent_goes_on_where_it_gets_more() {
    let home = home("[2, 4]");
    let part = ["--contender", "sleeps", "--cell", "keep-alive", "--precision", "0.01%"];
    let too_small = drome(&home, &[&["run", "three", "--budget", "1s"], &part[..]].concat());
    too_small.assert_err(2, &["the budget of 1s is too short for one heat"]);
    // Room for a heat as it is estimated, but not for two in which the server sleeps for three seconds: a bound is a bound.
    let begun = drome(&home, &[&["run", "three", "--budget", "5900ms"], &part[..]].concat());
    assert_eq!(begun.code, 0, "{}", begun.err);
    let ended = || home.findings()["ended"].as_str().unwrap().to_owned();
    assert!(
        ended().contains("the budget of 5s 900ms is spent after 1 round; at least 2 rounds are needed"),
        "{}",
        ended()
    );
    let as_it_is = drome(&home, &["run", "three", "--resume"]);
    as_it_is.assert_err(2, &["with a larger --budget"]);
    assert!(ended().contains("budget of 5s 900ms"), "it stays as it was: {}", ended());
    // An older run that was interrupted is not the latest, which is the one to go on.
    let store = Store::open(&home.store()).unwrap();
    let (latest, _) = store.run(&store.runs().unwrap()[0].id).unwrap();
    let (id, started_at) = ("20000101-000000-0001".to_owned(), "2000-01-01T00:00:00Z".to_owned());
    store.add_run(&Run { id, started_at, ..latest }).unwrap();
    let more = drome(&home, &["run", "three", "--resume", "--budget", "1h"]);
    assert_eq!(more.code, 0, "{}", more.err);
    // Four rounds of the contender and the reference, in one run.
    let listed = drome(&home, &["list", "runs"]).out;
    assert!(trials(&home) == 8 && listed.lines().count() == 2, "{listed}");
    assert!(ended().contains("4 rounds"), "{}", ended());
    let quick = drome(&home, &["run", "three", "--quick", "--contender", "sleeps", "--cell", "1"]);
    assert_eq!(quick.code, 0, "{}", quick.err);
    let refused = drome(&home, &["run", "three", "--resume", "--budget", "1h"]);
    refused.assert_err(2, &["is a first look"]);
}

#[test]
fn what_the_study_lacks_is_refused_with_the_nearest_before_anything_starts() {
    let home = home("[2, 2]");
    let cases: [(&[&str], &str); 6] = [
        (&["--contender", "nginx,python-http-sever"], "did you mean `python-http-server`?"),
        (&["--contender", "caddy"], "the study has no contender `caddy`"),
        (&["--cell", "keepalive"], "did you mean `keep-alive`?"),
        (&["--precision", "200%"], "a share above 0 and below 1"),
        (&["--cell", "3"], "the study has no cell `3`; it has: `keep-alive`, `four bytes, kept`"),
        (&["--budget", "a while"], "a while"),
    ];
    for (args, words) in cases {
        let finished = drome(&home, &[&["run", "three"], args].concat());
        finished.assert_err(2, &[words]);
    }
    for args in [
        ["--resume", "--contender", "nginx"],
        ["--all", "--cell", "keep-alive"],
        ["--quick", "--budget", "1s"],
    ] {
        let finished = drome(&home, &[&["run", "three"], args.as_slice()].concat());
        finished.assert_err(2, &["cannot be used with"]);
    }
    assert!(drome(&home, &["list", "runs"]).out.contains("no runs yet"));
}
