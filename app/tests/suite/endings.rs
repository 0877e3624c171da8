//! How commands end: with which code, for whose reasons; and that one study leaves nothing behind for the next.

use crate::common::catalog::SERVES;
use crate::common::{DROME, Home, process, run, serve, wait_for};
use std::collections::BTreeSet;

#[test]
fn every_study_of_all_has_the_same_cores() {
    let home = Home::new();
    for name in ["tiny-one", "tiny-two", "tiny-three"] {
        home.add_study(name, &["tiny"], 1);
    }
    home.add_contender("tiny", SERVES);
    // The studies that are built in have no room in so small a budget.
    let finished = run(&mut home.with_catalog(&["run", "--all", "--budget", "6s"]));
    finished.assert_err(1, &["studies could not be run"]);
    let store = store::Store::open(&home.store()).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!(runs.len(), 3, "{}", finished.err);
    let cores = |id: &str| {
        let (run, ended) = store.run(id).unwrap();
        assert!(ended.is_some(), "{id}: {}", finished.err);
        (run.environment.server_cpus, run.environment.client_cpus)
    };
    let all: BTreeSet<_> = runs.iter().map(|run| cores(&run.id)).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    home.assert_clean();
}

#[test]
fn a_measurement_that_can_not_be_made_is_no_interruption() {
    let home = Home::new();
    let server = serve(&["--tls"]);
    let url = format!("http://{}/hello", server.address);
    let few = ["-c", "2", "--shares", "0.5", "--repeats", "1", "--duration", "100ms"];
    let finished = run(home.drome(&["sweep", &url]).args(few));
    assert_eq!(finished.code, 4, "{}{}", finished.out, finished.err);
    let all = finished.out + &finished.err;
    assert!(all.contains("write https://") && !all.contains("interrupted"), "{all}");
}

#[test]
fn who_stops_a_race_or_a_sweep_while_its_servers_are_first_asked_has_interrupted_it() {
    for command in ["race", "sweep"] {
        let home = Home::new();
        let mark = home.path().join("started");
        let silent = format!("touch {}; exec sleep 1000 {{port}}", mark.display());
        let good = format!("{DROME} serve --port {{port}}");
        let args = match command {
            "race" => ["race", &silent, &good].map(str::to_owned).to_vec(),
            _ => ["sweep", "--start", &silent].map(str::to_owned).to_vec(),
        };
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let child = process::spawn_heard(&mut home.drome(&args));
        wait_for(|| mark.exists(), "the first server to be started");
        process::signal(&child, "-INT");
        let output = process::output(child, command);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{command}: {err}");
        assert!(err.contains("interrupted"), "{command}: {err}");
        home.assert_clean();
    }
}
