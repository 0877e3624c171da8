//! `drome.toml` with several cells: one race for each, judged together.

use crate::common::{Finished, Home, assert_as_schema, run, serve};
use serde_json::Value;

/// Two cells, of which only the second allows a server to be two hundred times slower.
fn file(home: &Home, fast: &str, slow: &str) {
    let race = format!("[race]\nurls = [\"{fast}\", \"{slow}\"]\nconnections = 1\nfail_if_slower = \"2%\"\n");
    let tight = "[[cell]]\ntitle = \"tight\"\n";
    let loose = "[[cell]]\ntitle = \"loose\"\nconnections = 2\nfail_if_slower = \"99.5%\"\n";
    home.write("drome.toml", &format!("{race}{tight}{loose}"));
}

fn race(home: &Home, args: &[&str]) -> Finished {
    let load = ["race", "--warmup", "50ms", "--duration", "100ms", "--budget", "3min", "--seed", "1"];
    run(home.drome(&load).args(args).current_dir(home.path()))
}

#[test]
fn each_cell_is_raced_and_they_are_judged_together() {
    let (home, fast, slow) =
        (Home::new(), serve(&["--fault", "delay=1ms"]), serve(&["--fault", "delay=25ms"]));
    let url = |server: &crate::common::Server| format!("http://{}/hello", server.address);
    file(&home, &url(&fast), &url(&slow));
    // Where their processes are known to be native, they are warm sooner.
    let pids = [&fast, &slow].map(|server| server.child.id().to_string());
    let known = ["--pid", &pids[0], "--pid", &pids[1]];
    let told = race(&home, &[&known[..], &["--verdict", "verdict.json"]].concat());
    told.assert_err(
        3,
        &["cell 1 of 2: tight", "cell 2 of 2: loose", "together: slower than a margin allows"],
    );
    let verdict: Value =
        serde_json::from_slice(&std::fs::read(home.path().join("verdict.json")).unwrap()).unwrap();
    assert_as_schema(&home, "verdict", &verdict);
    let judged = |nth: usize, key: &str| verdict["changes"][nth][key].clone();
    assert_eq!((judged(0, "cell"), judged(0, "judged")), ("tight".into(), "slower".into()), "{verdict}");
    assert_eq!((judged(1, "cell"), judged(1, "judged")), ("loose".into(), "passed".into()), "{verdict}");
    assert_eq!((judged(0, "margin"), judged(1, "margin")), (Value::Null, 0.995.into()), "{verdict}");
    let comment = run(home.drome(&["report", "verdict.json"]).current_dir(home.path()));
    comment.assert_out(0, &["1 of 2 comparisons", "| `loose` |", "not more than 99.5 % slower"]);
    let loose = race(&home, &[&known[..], &["--cell", "loose"]].concat());
    loose.assert_out(0, &["2 connections"]);
}

#[test]
fn an_unknown_cell_and_what_is_for_one_cell_are_refused_before_anything_is_measured() {
    let home = Home::new();
    file(&home, "http://127.0.0.1:9/", "http://127.0.0.1:10/");
    for (args, words) in [
        (["--cell", "3"], "--cell 3: the file has: tight, loose"),
        (["--export", "all.json"], "--export: for one cell only; choose it with --cell"),
        (["--profile", "why"], "--profile: for one cell only"),
        (["--output", "all.md"], "--output and --charts: for one cell only"),
    ] {
        let told = race(&home, &args);
        told.assert_err(2, &[words]);
    }
}
