//! `drome race` with real servers and known truths.

use crate::common::punctual::until_sound;
use crate::common::{Home, process, run, trials};
use serde_json::Value;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

const DROME: &str = env!("CARGO_BIN_EXE_drome");

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

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn a_known_difference_is_found_with_its_direction() {
    let home = Home::new();
    let slow = format!("{DROME} serve --port {{port}} --spin 20ms");
    let fast = format!("{DROME} serve --port {{port}}");
    let args = [&["--url", "http://127.0.0.1:{port}/hello", "-c", "1"][..], &UNTIL_SURE].concat();
    let finished = race(&home, &[&slow, &fast], &args);
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert!(finished.out.contains("B is ") && finished.out.contains("× A, 95 %"), "{}", finished.out);
    let json: Value =
        serde_json::from_str(&run(&mut home.drome(&["report", "--format", "json"])).out).unwrap();
    let rows = json["cells"][0]["contenders"].as_array().unwrap();
    let b = rows.iter().find(|row| row["name"] == "B").unwrap();
    // An answer of the slow one takes at least the 20 ms that it spins, and one of the fast one takes a fraction of that on any
    // machine.
    assert!(b["time_ns_more"]["median"].as_f64().unwrap() < -15_000_000.0, "{b}");
    assert_eq!(
        number(&b["trials"]),
        2.0 * number(&json["race"]["blocks"]),
        "both are started twice in every round"
    );
    assert!(json["noise_floor"].as_f64().unwrap() > 0.0);
}

#[test]
fn commands_have_short_labels_and_chosen_ones() {
    let home = Home::new();
    let slow = format!("{DROME} serve --port {{port}} --spin 9us");
    let fast = format!("{DROME} serve --port {{port}}");
    let args = ["--rounds", "2", "--url", "http://127.0.0.1:{port}/hello"];
    let finished = race(&home, &[&slow, &fast], &args);
    assert!(finished.out.contains("A, drome --spin 9us: "), "{}{}", finished.out, finished.err);
    assert!(finished.out.contains("B, drome: "), "{}", finished.out);
    let finished = race(&home, &[&fast, &fast], &[&args[..], &["--name", "old", "--name", "new"]].concat());
    assert!(
        finished.out.contains("A, old: ") && finished.out.contains("B, new: "),
        "{}{}",
        finished.out,
        finished.err
    );
    let json: Value =
        serde_json::from_str(&run(&mut home.drome(&["report", "--format", "json"])).out).unwrap();
    assert_eq!(json["title"], "old against new");
    assert_eq!(json["entrants"]["B"]["title"], "new");
    assert_eq!(json["entrants"]["B"]["command"][2], fast.as_str());
    let listed = run(&mut home.drome(&["list", "runs"])).out;
    assert!(listed.contains("  race: old against new  "), "{listed}");
    let finished = race(&home, &[&fast, &fast], &[&args[..], &["--name", "old"]].concat());
    assert!(finished.code == 2 && finished.err.contains("--name: `old` for 2 commands"), "{}", finished.err);
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
    assert!(
        finished.code == 2
            && finished.err.contains("not the same work")
            && finished.err.contains("--any-body"),
        "{}",
        finished.err
    );
    let args = [&url[..], &["--any-body", "-c", "1"], &UNTIL_SURE].concat();
    let finished = race(&home, &[&drome, &other], &args);
    assert!(finished.code == 0 && finished.out.contains("A is "), "{}{}", finished.out, finished.err);
    assert!(!finished.out.contains("its processes do not show"), "they are native: {}", finished.out);
}

#[test]
fn commands_that_can_not_race_are_refused_with_the_reason() {
    let home = Home::new();
    let drome = format!("{DROME} serve --port {{port}}");
    let finished = race(&home, &[&drome, "sleep 5"], &[]);
    assert!(finished.code == 2 && finished.err.contains("has no {port}"), "{}", finished.err);
    let finished = race(&home, &[&drome, "echo gone {port}; exit 4"], &[]);
    assert!(
        finished.code == 2 && finished.err.contains("exit status: 4") && finished.err.contains("gone"),
        "{}",
        finished.err
    );
    let finished =
        race(&home, &[&drome, &drome], &["--url", "http://127.0.0.1:{port}/none", "--ready", "10s"]);
    assert!(finished.code == 2 && finished.err.contains("status 404"), "{}", finished.err);
    let finished = race(&home, &[&drome, &drome], &["--url", "http://192.0.2.1:{port}/"]);
    assert!(finished.code == 2 && finished.err.contains("not on this machine"), "{}", finished.err);
    let finished = race(&home, &[&drome], &[]);
    assert!(finished.code == 2 && finished.err.contains("two or more commands or URLs"), "{}", finished.err);
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
        (["--export", "/no/such/folder/x.json"], "can't be written"),
        (["--output", "/no/such/folder/x.json"], "can't be written"),
        (["--output", "/"], "it is a folder: name a file in it"),
        (["--export", "findings.doc"], "ends in .txt, .md, "),
        (["--export", "findings"], "ends in .txt, .md, "),
    ];
    for (args, why) in cases {
        let finished = race(&home, &[&server, &server], &args);
        assert!(finished.code == 2 && finished.err.contains(why), "{args:?}: {}", finished.err);
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
    assert_eq!(finished.code, 0, "{}", finished.err);
    let words = "B uses ";
    assert!(
        finished.out.contains(words) && finished.out.contains("× less server CPU per request than A"),
        "{}",
        finished.out
    );
    assert!(
        finished.out.contains("same for all: a body of 12 bytes, closed load, 1 connection, "),
        "{}",
        finished.out
    );
    let text = std::fs::read_to_string(&csv).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows.len() > 8 && rows.len() % 4 == 1, "rounds of two that are started twice: {text}");
    assert!(rows[0].starts_with("run,study,cell,cell_title,workload,load,connections,"), "{text}");
    assert!(rows[1].contains(",server-cpu,"), "{text}");

    let args = [&url[..], &["--metric", "p50@20", "--duration", "1s", "--format", "json"]].concat();
    let args = [&args[..], &["--export", json.to_str().unwrap()]].concat();
    // On a busy machine a server may fall behind even so low a rate, and then its latency is not used.
    let (finished, found) = until_sound(|| {
        let finished = race(&home, &[&dear, &cheap], &args);
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
    assert!(page.contains("--metric p50@20 ") && page.contains(found["run"].as_str().unwrap()));
}

#[test]
fn what_is_prepared_is_prepared_before_every_trial_and_its_failure_is_the_trials() {
    let home = Home::new();
    let drome = format!("{DROME} serve --port {{port}}");
    let (count, url) = (home.path().join("count"), ["--url", "http://127.0.0.1:{port}/hello"]);
    let prepare = format!("echo x >> {}", count.display());
    let finished = race(&home, &[&drome, &drome], &[&url[..], &["--prepare", &prepare]].concat());
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json: Value =
        serde_json::from_str(&run(&mut home.drome(&["report", "--format", "json"])).out).unwrap();
    let trials: u64 = json["cells"][0]["contenders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["trials"].as_u64().unwrap())
        .sum();
    let prepared = std::fs::read_to_string(&count).unwrap().lines().count() as u64;
    assert_eq!(prepared, trials + 2, "once a trial, and once for each to see that they answer alike");

    let finished =
        race(&home, &[&drome, &drome], &[&url[..], &["--prepare", "echo no database; exit 3"]].concat());
    assert!(
        finished.code == 2 && finished.err.contains("exit status: 3") && finished.err.contains("no database"),
        "{}",
        finished.err
    );

    let args = [&url[..], &["--any-body", "--prepare", "echo no database; exit 3"]].concat();
    let finished = race(&home, &[&drome, &drome], &args);
    assert_eq!(finished.code, 4, "{}{}", finished.out, finished.err);
    for words in ["no database", "B can't be compared with A", "not decided", "every contender was given up"]
    {
        assert!(finished.out.contains(words), "{words}: {}", finished.out);
    }
}

#[test]
fn one_that_crashes_in_half_its_trials_is_raced_by_the_others_and_that_is_told() {
    let home = Home::new();
    let (mark, drome) = (home.path().join("mark"), format!("{DROME} serve --port {{port}}"));
    let mark = mark.display();
    // Every other start ends at once.
    let flaky = format!(
        "if [ -e {mark} ]; then rm {mark}; echo out of luck; exit 7; else touch {mark}; exec {drome} --spin 1ms; fi"
    );
    let args = ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--rounds", "4", "--any-body"];
    let finished = race(&home, &[&drome, &flaky], &args);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    assert!(
        finished.out.contains("B failed or was void in ") && finished.out.contains("out of luck"),
        "{}",
        finished.out
    );
}

#[test]
fn commands_that_can_not_live_side_by_side_are_told_how_they_can_be_raced() {
    let home = Home::new();
    let locked = format!("flock -n {}/lock {DROME} serve --port {{port}}", home.path().display());
    let args = ["--url", "http://127.0.0.1:{port}/hello", "-c", "4"];
    let finished = race(&home, &[&locked, &locked], &args);
    assert_eq!(finished.code, 4, "{}{}", finished.out, finished.err);
    assert!(finished.out.contains("if two can't run side by side"), "{}{}", finished.out, finished.err);
    assert!(finished.out.contains("race them with --alone"), "{}{}", finished.out, finished.err);
    let finished = race(&home, &[&locked, &locked], &[&args[..], &["--alone"]].concat());
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    assert!(finished.out.contains("after 3 rounds"), "{}", finished.out);
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
    assert_eq!(finished.code, 4, "{}", finished.out);
    for words in [
        "4 of 4 starts failed, so no rank",
        "B can't be compared with A",
        "status: 404 was not expected",
        "ended: every contender was given up after 2 rounds",
    ] {
        assert!(finished.out.contains(words), "{words}: {}", finished.out);
    }
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
    let (drome, csv) = (format!("{DROME} serve --port {{port}}"), home.path().join("trials.csv"));
    let mut command =
        home.drome(&["race", &drome, &drome, "--url", "http://127.0.0.1:{port}/hello", "--export"]);
    command.arg(&csv).args([
        "--duration",
        "100ms",
        "--warmup",
        "10ms",
        "--precision",
        "0.0001",
        "--budget",
        "5min",
    ]);
    let mut child = process::spawn(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let is_finished = || {
        let finished = run(&mut home.drome(&["report", "--format", "json"]));
        let found: Option<Value> = serde_json::from_str(&finished.out).ok();
        found.is_some_and(|f| f["cells"][0]["contenders"][0]["trials"].as_u64().unwrap_or(0) > 0)
    };
    crate::common::wait_for(is_finished, "a trial to be finished");
    run(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]));
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
fn a_plan_is_told_with_the_time_of_a_pilots_rounds() {
    let home = Home::new();
    home.write(
        "mine/studies/short.toml",
        "title = \"Short\"\ncontenders = [\"mine\"]\n[[cell]]\ntitle = \"one\"\nworkload = \"hello\"\n\
         load = { closed = { connections = 4 } }\n[design]\nrounds = [6, 12]\nslice = \"20ms\"\nwarmup = \"10ms\"\n\
         measure = \"100ms\"\nprecision = 0.05\nbudget = \"2h\"\n",
    );
    home.write(
        "mine/contenders/mine/contender.toml",
        "title = \"mine\"\nlanguage = \"Rust\"\nkind = \"server\"\nhomepage = \"http://localhost/\"\n\
         [version]\ncommand = [\"{drome}\", \"--version\"]\n\
         [run]\ncommand = [\"{drome}\", \"serve\", \"--port\", \"{port}\"]\n[serves]\nhello = \"/hello\"\n",
    );
    let plan = |args: &[&str]| {
        let mine = home.path().join("mine").display().to_string();
        run(home.drome(&["run", "short", "--dry-run", "--catalog", &mine]).args(args))
    };
    let finished = plan(&[]);
    assert!(finished.code == 0 && !finished.out.contains("measured: "), "{}{}", finished.out, finished.err);
    let finished = plan(&["--pilot"]);
    assert!(
        finished.code == 0 && finished.out.contains("one round, measured: "),
        "{}{}",
        finished.out,
        finished.err
    );
    assert_eq!(trials(&home), 2 * 2, "two rounds of the contender and the reference");
    let finished = plan(&["--pilot", "3", "--format", "json"]);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    // Each of two servers and the hub is loaded for 100 ms.
    assert!(number(&json["round_measured_s"]) > 0.3, "{json}");
    assert_eq!((&json["looks"][0]["rounds"], trials(&home)), (&6.into(), (2 + 3) * 2), "{json}");
    for wrong in [&["--precision", "0"], &["--pilot", "1"]] {
        assert_eq!(plan(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn a_pilot_has_the_tracks_that_the_study_asks_for() {
    let home = Home::new();
    home.write(
        "mine/studies/both.toml",
        "title = \"Both\"\ncontenders = [\"mine\"]\ntracks = [\"default\", \"tuned\"]\n[[cell]]\ntitle = \"one\"\n\
         workload = \"hello\"\nload = { closed = { connections = 4 } }\n[design]\nrounds = [6, 12]\nslice = \"20ms\"\n\
         warmup = \"10ms\"\nmeasure = \"100ms\"\nprecision = 0.05\nbudget = \"2h\"\n",
    );
    home.write(
        "mine/contenders/mine/contender.toml",
        "title = \"mine\"\nlanguage = \"Rust\"\nkind = \"server\"\nhomepage = \"http://localhost/\"\n\
         [version]\ncommand = [\"{drome}\", \"--version\"]\n\
         [run]\ncommand = [\"{drome}\", \"serve\", \"--port\", \"{port}\"]\n\
         [tuned]\nbecause = \"http://localhost/\"\nworkers = 1\n[serves]\nhello = \"/hello\"\n",
    );
    let mine = home.path().join("mine").display().to_string();
    let finished = run(&mut home.drome(&["run", "both", "--dry-run", "--pilot", "3", "--catalog", &mine]));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let finished = run(&mut home.drome(&["report", "--format", "json"]));
    let findings: Value = serde_json::from_str(&finished.out).unwrap();
    let mut names: Vec<&str> = Vec::new();
    for contender in findings["cells"][0]["contenders"].as_array().unwrap() {
        names.push(contender["name"].as_str().unwrap());
    }
    names.sort_unstable();
    assert_eq!(names, ["mine", "mine@tuned", "reference"]);
}
