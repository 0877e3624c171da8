//! `drome race` with real servers and known truths.

use crate::common::catalog::{self, SERVES, keep_alive, study};
use crate::common::punctual::until_sound;
use crate::common::{DROME, Home, process, run, trials};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

fn race(home: &Home, commands: &[&str], args: &[&str]) -> crate::common::Finished {
    run(&mut race_command(home, commands, args))
}

fn race_command(home: &Home, commands: &[&str], args: &[&str]) -> Command {
    let short = ["--warmup", "50ms", "--seed", "1"];
    let duration = if args.contains(&"--duration") { &[][..] } else { &["--duration", "100ms"] };
    let is_told = args.contains(&"--budget") || args.contains(&"--rounds");
    let rounds = if is_told { &[][..] } else { &["--rounds", "3"] };
    let mut command = home.drome(&["race"]);
    command.args(commands).args(short).args(duration).args(rounds).args(args);
    command
}

/// Where the machine is busy, some starts are void, and it takes some rounds more. A race that is decided ends earlier.
const UNTIL_SURE: [&str; 2] = ["--budget", "3min"];

/// A server whose answers come after a moment, and connections with which a race of it leaves the cores to other tests.
const CALM: &str = concat!(env!("CARGO_BIN_EXE_drome"), " serve --port {port} --fault delay=2ms");
const FEW: [&str; 2] = ["-c", "4"];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn unequal_work_is_refused_unless_allowed() {
    let home = Home::new();
    let folder = home.path().join("files");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("hello"), "other").unwrap();
    let drome = format!("{DROME} serve --port {{port}}");
    // Slower by so much that every machine shows it.
    let other = format!("{drome} --spin 20ms --root {}", folder.display());
    let url = ["--url", "http://127.0.0.1:{port}/hello"];
    let finished = race(&home, &[&drome, &other], &url);
    finished.assert_err(2, &["not the same work", "--any-body"]);
    let args = [&url[..], &["--any-body", "-c", "1"], &UNTIL_SURE].concat();
    let finished = race(&home, &[&drome, &other], &args);
    finished.assert_out(0, &["A is "]);
    assert!(!finished.out.contains("its processes do not show"), "they are native: {}", finished.out);
}

#[test]
fn commands_that_can_not_race_are_refused_with_the_reason() {
    let home = Home::new();
    let drome = format!("{DROME} serve --port {{port}}");
    let gone = "echo gone {port}; exit 4";
    let cases: [(&[&str], &[&str], &[&str]); 7] = [
        (&[&drome, "sleep 5"], &[], &["has no {port}"]),
        (&[&drome, gone], &[], &["exit status: 4", "gone"]),
        (&[&drome, &drome], &["--url", "http://127.0.0.1:{port}/none", "--ready", "10s"], &["status 404"]),
        (&[&drome, &drome], &["--url", "http://192.0.2.1:{port}/"], &["not on this machine"]),
        (&[&drome, &drome], &["--name", "old"], &["--name: `old` for 2 commands"]),
        (&[&drome, &drome], &["--prepare", "echo no database; exit 3"], &["exit status: 3", "no database"]),
        (&[&drome], &[], &["two or more commands or URLs"]),
    ];
    for (commands, args, words) in cases {
        race(&home, commands, args).assert_err(2, words);
    }
}

#[test]
fn options_that_can_not_be_met_are_refused_before_any_server_starts() {
    let home = Home::new();
    // A server that nobody may start.
    let mark = home.path().join("started");
    let server = format!("touch {}; {DROME} serve --port {{port}}", mark.display());
    let cases = [
        (["--duration", "99ms"], "--duration 99ms: must be 100ms or more"),
        (["--metric", "speed"], "must be one of rate, server-cpu, rss, and p50@RATE"),
        (["--metric", "p99"], "needs the rate at which it is measured, such as p99@5k"),
        (["--metric", "p99@0"], "must be a rate above 0"),
        (["--metric", "rate@5k"], "must be one of rate, server-cpu, rss, and p50@RATE"),
        (["--export", "findings.doc"], "ends in .txt, .md, "),
        (["--export", "findings"], "ends in .txt, .md, "),
    ];
    for (args, why) in cases {
        let finished = race(&home, &[&server, &server], &args);
        finished.assert_err(2, &[why]);
    }
    assert!(!mark.exists());
}

#[test]
fn a_metric_decides_and_every_trial_is_exported() {
    let home = Home::new();
    let cheap = format!("{DROME} serve --port {{port}}");
    let dear = format!("{DROME} serve --port {{port}} --spin 15ms");
    let (csv, json) = (home.path().join("trials.csv"), home.path().join("findings.json"));
    let url = ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", UNTIL_SURE[0], UNTIL_SURE[1]];
    let args = [&url[..], &["--metric", "server-cpu", "--export", csv.to_str().unwrap()]].concat();
    let finished = race(&home, &[&dear, &cheap], &args);
    let same = "same for all: a body of 12 bytes, closed load, 1 connection, ";
    finished.assert_out(0, &["B uses ", "× less server CPU per request than A", same]);
    let text = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows.len() > 8 && rows.len() % 4 == 1, "rounds of two that are started twice: {text}");
    assert!(rows[0].starts_with("run,study,cell,cell_title,workload,load,connections,"), "{text}");
    assert!(rows[1].contains(",server-cpu,"), "{text}");

    let slow = format!("{DROME} serve --port {{port}} --fault delay=15ms");
    let args = [&url[..], &["-c", "16", "--metric", "p50@200", "--format", "json"]].concat();
    let args = [&args[..], &["--export", json.to_str().unwrap()]].concat();
    // On a busy machine a server may fall behind even so low a rate, and then its latency is not used.
    let (finished, found) = until_sound(|| {
        let finished = race(&home, &[&slow, &cheap], &args);
        let found: Value = serde_json::from_str(&finished.out).unwrap();
        if found["race"]["decided"] == "faster" {
            Ok((finished, found))
        } else {
            Err(found["race"].to_string())
        }
    });
    let race = &found["race"];
    assert_eq!((&race["metric"], &race["faster"]), (&"p50".into(), &"B".into()), "{race}");
    assert!(number(&race["ratio"]["median"]) < 0.8, "{race}");
    assert!(race["elapsed_s"].as_f64().unwrap() > 0.0 && number(&race["blocks"]) >= 2.0, "{race}");
    assert!(found["cells"][0]["load"]["open"].is_object(), "{found}");
    assert_eq!(std::fs::read_to_string(&json).unwrap(), finished.out, "what is exported is what is shown");

    let page = home.path().join("page.html");
    let finished = run(&mut home.drome(&["report", "--output", page.to_str().unwrap()]));
    assert_eq!((finished.code, finished.out.as_str()), (0, ""), "{}", finished.err);
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(page.contains("drome race &#39;") || page.contains("drome race '"), "how to run it again");
    assert!(page.contains("--metric p50@200 ") && page.contains(found["run"].as_str().unwrap()));
}

#[test]
fn what_is_prepared_is_prepared_before_every_trial_and_its_failure_is_the_trials() {
    let home = Home::new();
    let (count, url) =
        (home.path().join("count"), ["--url", "http://127.0.0.1:{port}/hello", FEW[0], FEW[1]]);
    let prepare = format!("echo x >> {}", count.display());
    let finished = race(&home, &[CALM, CALM], &[&url[..], &["--prepare", &prepare]].concat());
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json = home.findings();
    let trials: u64 = json["cells"][0]["contenders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["trials"].as_u64().unwrap())
        .sum();
    let prepared = std::fs::read_to_string(&count).unwrap().lines().count() as u64;
    assert_eq!(prepared, trials + 2, "once a trial, and once for each to see that they answer alike");

    let args = [&url[..], &["--any-body", "--prepare", "echo no database; exit 3"]].concat();
    let finished = race(&home, &[CALM, CALM], &args);
    finished.assert_out(
        4,
        &["no database", "B can't be compared with A", "not decided", "every contender was given up"],
    );
}

#[test]
fn commands_that_can_not_live_side_by_side_are_told_how_they_can_be_raced() {
    let home = Home::new();
    let locked = format!("flock -n {}/lock {CALM}", home.path().display());
    let args = ["--url", "http://127.0.0.1:{port}/hello", "-c", "4"];
    let finished = race(&home, &[&locked, &locked], &args);
    finished.assert_out(4, &["if two can't run side by side", "race them with --alone"]);
    let finished = race(&home, &[&locked, &locked], &[&args[..], &["--alone"]].concat());
    finished.assert_out(0, &["after 3 rounds"]);
    assert!(!finished.out.contains("failed"), "no two servers are alive together: {}", finished.out);
    home.assert_clean();
}

#[test]
fn starts_that_all_fail_say_nothing() {
    let home = Home::new();
    let drome = format!("{DROME} serve --port {{port}}");
    // It answers, but never what was asked for.
    let args = ["--url", "http://127.0.0.1:{port}/none", "--any-body", "--ready", "1s"];
    let finished = race(&home, &[&drome, &drome], &args);
    finished.assert_out(
        4,
        &[
            "4 of 4 starts failed, so no rank",
            "B can't be compared with A",
            "status: 404 was not expected",
            "ended: every contender was given up after 2 rounds",
        ],
    );
}

#[test]
fn the_same_command_twice_is_not_called_different() {
    let home = Home::new();
    let drome = format!("{DROME} serve --port {{port}}");
    // The load generator polls by default, and sleeps in most tests.
    for (metric, polls) in [("rate", "1"), ("rss", "0")] {
        let args = ["--url", "http://127.0.0.1:{port}/hello", "--metric", metric, "--format", "json"];
        // By its rule it is sure of a difference between equals in one race of a hundred: not three times in a row.
        let is_called_different = || {
            let mut command = race_command(&home, &[&drome, &drome], &args);
            let finished = run(command.env(process::POLL, polls));
            let found: Value = serde_json::from_str(&finished.out).unwrap();
            let ratio = found["race"]["ratio"]["median"].as_f64();
            assert!(ratio.is_some_and(|ratio| ratio > 0.0), "{metric}: {}", found["race"]);
            let notes = found["environment"]["core_notes"].to_string();
            assert_eq!(notes.contains("DROME_POLL"), polls == "0", "{notes}");
            !found["race"]["faster"].is_null()
        };
        assert!(!(0..3).all(|_| is_called_different()), "{metric}");
    }
}

#[test]
fn the_cores_are_kept_awake_while_servers_are_measured_and_the_report_says_so() {
    let home = Home::new();
    let drome = format!("{DROME} serve --port {{port}}");
    let json = ["--url", "http://127.0.0.1:{port}/hello", "--format", "json"];
    let race = || race_command(&home, &[&drome, &drome], &json);
    let sweep = || {
        let mut command = home.drome(&["sweep", "--start", &drome, "--shares", "0.2", "--repeats", "1"]);
        command.args(["-d", "200ms", "--warmup", "0s"]).args(json);
        command
    };
    for (mut command, polls) in [(race(), "1"), (race(), "0"), (sweep(), "1"), (sweep(), "0")] {
        command.env(process::POLL, polls).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = process::spawn(&mut command);
        let (pid, (over, is_over)) = (child.id(), std::sync::mpsc::channel::<()>());
        let looking = std::thread::spawn(move || {
            let is_still_going =
                || is_over.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout);
            let mut was_open = false;
            while is_still_going() {
                was_open |= keeps_cores_awake(pid);
            }
            was_open
        });
        let output = process::output(child, &format!("{command:?}"));
        drop(over);
        let was_open = looking.join().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let told = found["environment"]["machine"]["cores_stay_awake"].as_bool();
        assert_eq!(was_open, told == Some(true), "{command:?}: {told:?}");
        assert!(polls == "1" || told == Some(false), "{command:?}: {told:?}");
    }
}

/// Whether the process has the file open by which it keeps the cores awake.
fn keeps_cores_awake(pid: u32) -> bool {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut paths = open.filter_map(|file| std::fs::read_link(file.path()).ok());
    paths.any(|path| path == Path::new("/dev/cpu_dma_latency"))
}

#[test]
fn what_an_interrupted_race_knows_is_kept_exported_and_told() {
    let home = Home::new();
    let csv = home.path().join("trials.csv").display().to_string();
    let mut command = home.drome(&["race", CALM, CALM, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(FEW).args(["--export", &csv, "--duration", "100ms", "--warmup", "10ms"]);
    command.args(["--precision", "0.0001", "--budget", "5min"]);
    let mut child = process::spawn_heard(&mut command);
    let is_finished = || {
        let finished = run(&mut home.drome(&["report", "--format", "json"]));
        let found: Option<Value> = serde_json::from_str(&finished.out).ok();
        found.is_some_and(|f| f["cells"][0]["contenders"][0]["trials"].as_u64().unwrap_or(0) > 0)
    };
    crate::common::wait_for(is_finished, "a trial to be finished");
    process::signal(&child, "-INT");
    assert_eq!(process::wait(&mut child).code(), Some(130));
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.contains("interrupted") && err.contains("drome report"), "{err}");
    assert!(std::fs::read_to_string(&csv).unwrap().lines().count() > 1);
    let finished = run(&mut home.drome(&["report"]));
    // Whether it was decided by then is chance: of equal servers, too, one race in twenty may be.
    let is_told =
        finished.out.contains("ended: the race was interrupted") && finished.out.contains("decided after");
    assert!(is_told, "{}", finished.out);
    home.assert_clean();
}

#[test]
fn a_plan_is_told_with_the_time_of_a_pilots_rounds_on_the_tracks_that_the_study_asks_for() {
    let home = Home::new();
    let study = study(&["mine"], &keep_alive(4), &[("rounds", "[6, 12]"), ("precision", "0.05")]);
    home.write_study("short", &format!("tracks = [\"default\", \"tuned\"]\n{study}"));
    let tuned = "[tuned]\nbecause = \"http://localhost/\"\nworkers = 1\n[serves]";
    home.write_contender("mine", &catalog::contender("mine", SERVES).replace("[serves]", tuned));
    let plan = |args: &[&str]| run(home.with_catalog(&["run", "short", "--dry-run"]).args(args));
    let finished = plan(&[]);
    assert!(finished.code == 0 && !finished.out.contains("measured: "), "{}{}", finished.out, finished.err);
    plan(&["--pilot"]).assert_out(0, &["one round, measured: "]);
    assert_eq!(trials(&home), 2 * 3, "two rounds of both tracks and the reference");
    let names = home.findings()["cells"][0]["contenders"].as_array().unwrap().clone();
    let mut names: Vec<_> = names.iter().map(|row| row["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["mine", "mine@tuned", "reference"]);
    let finished = plan(&["--pilot", "3", "--format", "json"]);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    // Each of three servers and the hub is loaded for 100 ms.
    assert!(number(&json["round_measured_s"]) > 0.4, "{json}");
    assert_eq!((&json["looks"][0]["rounds"], trials(&home)), (&6.into(), (2 + 3) * 3), "{json}");
    for wrong in [&["--precision", "0"], &["--pilot", "1"]] {
        assert_eq!(plan(wrong).code, 2, "{wrong:?}");
    }
}
