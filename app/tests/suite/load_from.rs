//! `drome load --load-from`: what several machines count together is what the server counts, and a machine that fails is named.

use super::agent::folder_with_drome;
use super::common::process::{self, spawn};
use super::common::{Home, Server, assert_accounted, assert_as_schema, nginx, run, wait_for};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What drome ends with where nothing can be said.
const VOID: i32 = 4;

fn page(home: &Home) -> (Server, String) {
    let server = nginx(home, "location / { return 200 'Hello World\\n'; }");
    let url = format!("http://{}/hello", server.address);
    (server, url)
}

/// The number of requests in nginx's log, which may come a moment after the answers.
fn logged(home: &Home) -> u64 {
    let log = fs::read_to_string(home.path().join("access.log")).unwrap_or_default();
    log.lines().filter(|line| line.contains("GET /hello")).count() as u64
}

/// The words by which a machine of this name is reached.
fn machine(home: &Home, name: &str) -> String {
    let bin = home.path().join("bin");
    let bin = if bin.exists() { bin } else { folder_with_drome(home) };
    format!("env DROME_TEST_MACHINE={name} PATH={}:/usr/bin:/bin", bin.display())
}

/// The agent of the machine with this name.
fn agent_of(name: &str) -> Option<String> {
    let mark = format!("DROME_TEST_MACHINE={name}");
    fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        let is_its = environment.split(|byte| *byte == 0).any(|one| one == mark.as_bytes());
        let is_agent = command.split(|byte| *byte == 0).any(|word| word == b"agent");
        (is_its && is_agent).then(|| entry.file_name().to_string_lossy().into_owned())
    })
}

fn signal(pid: &str, name: &str) {
    assert!(Command::new("kill").args([name, pid]).status().unwrap().success());
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn sum(json: &Value, key: &str) -> u64 {
    json["machines"]["each"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.pointer(key).unwrap().as_u64().unwrap())
        .sum()
}

#[test]
fn machines_together_count_what_the_server_counts() {
    let home = Home::new();
    let (_server, url) = page(&home);
    let other = machine(&home, "other");
    let from = ["--load-from", "here", "--load-from", "here", "--load-from", &other];
    let args = ["load", &url, "-c", "10", "-n", "3001", "-t", "1", "--format", "json"];
    let ended = run(home.drome(&args).args(from));
    let json = json(&ended.out);
    assert_eq!(ended.code, 0, "{} {}", ended.err, ended.out);
    assert_as_schema(&home, "load", &json);
    assert_accounted(&json);
    assert_eq!(json["requests"]["completed"], 3001);
    assert_eq!((sum(&json, "/counted/completed"), sum(&json, "/connections")), (3001, 10));
    let each = json["machines"]["each"].as_array().unwrap();
    let names: Vec<&str> = each.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["here", "here (2)", &other]);
    for one in each {
        let (offset, bound) =
            (one["clock"]["offset_ns"].as_i64().unwrap(), one["clock"]["bound_ns"].as_u64().unwrap());
        assert!(offset.unsigned_abs() <= bound, "one machine has one clock: {one}");
        assert!(one["start_late_ns"].as_i64().unwrap() >= -(bound as i64), "nobody starts too early: {one}");
    }
    assert!(json["machines"]["skew_ns"].is_u64() && json["machines"]["skew_bound_ns"].is_u64());
    wait_for(|| logged(&home) >= 3001, "nginx's log");
    assert_eq!(logged(&home), 3001);
}

#[test]
fn an_offered_rate_is_dealt_and_driven_whole() {
    let home = Home::new();
    let (_server, url) = page(&home);
    let from = ["--load-from", "here", "--load-from", "here", "--load-from", "here"];
    let args = ["load", &url, "-c", "7", "--rate", "500", "-d", "2s", "-t", "1", "--format", "json"];
    let ended = run(home.drome(&args).args(from));
    let json = json(&ended.out);
    assert_accounted(&json);
    let due = json["requests"]["due"].as_u64().unwrap();
    // 1000 are due in two seconds of one clock; the edges of three windows lie a moment apart.
    assert!((985..=1015).contains(&due), "{due}: {}", ended.out);
    let shares: f64 = json["machines"]["each"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["rate_per_s"].as_f64().unwrap())
        .sum();
    assert!((shares - 500.0).abs() < 1e-6, "{shares}");
    let (sent, completed) =
        (json["requests"]["sent"].as_u64().unwrap(), json["requests"]["completed"].as_u64().unwrap());
    wait_for(|| logged(&home) >= completed, "nginx's log");
    assert!(logged(&home) <= sent, "{} logged, {sent} sent", logged(&home));
}

/// Starts a load of some seconds from two machines, does something in its middle, and returns the end.
fn disturbed(home: &Home, name: &str, disturb: impl FnOnce(&str)) -> super::common::Finished {
    let (_server, url) = page(home);
    let words = machine(home, name);
    // As many connections as requests become due in a pause: whatever is late then is late by the machine alone.
    let args = ["load", &url, "-c", "600", "-t", "1", "--rate", "400", "-d", "4s", "--format", "json"];
    let mut command = home.drome(&args);
    command.args(["--load-from", "here", "--load-from", &words]).env("DROME_ALLOW_BUSY", "0");
    let child = spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    wait_for(|| logged(home) > 300, "the load to be in its middle");
    disturb(&agent_of(name).expect("an agent at work"));
    let ended = process::ended(child);
    wait_for(|| agent_of(name).is_none(), "the agent to end");
    ended
}

fn first_reason(json: &Value) -> &str {
    json["verdict"]["reasons"][0].as_str().unwrap()
}

#[test]
fn a_machine_that_is_lost_in_the_middle_voids_the_window_and_is_named() {
    let home = Home::new();
    let ended = disturbed(&home, "killed", |pid| signal(pid, "-KILL"));
    let json = json(&ended.out);
    assert_eq!(ended.code, VOID, "{}", ended.out);
    assert_eq!(json["verdict"]["valid"], false);
    let reason = first_reason(&json);
    assert!(
        reason.contains("DROME_TEST_MACHINE=killed") && reason.contains("did not do its part"),
        "{reason}"
    );
    assert!(json["machines"]["each"][0]["failed"].is_null(), "the other one did: {}", ended.out);
    assert!(json["machines"]["each"][1]["failed"].as_str().unwrap().contains("lost"), "{}", ended.out);
    assert!(json["machines"]["skew_ns"].is_null());
}

#[test]
fn a_machine_that_is_held_up_voids_the_window_and_is_named() {
    let home = Home::new();
    let ended = disturbed(&home, "stopped", |pid| {
        signal(pid, "-STOP");
        std::thread::sleep(Duration::from_millis(800));
        signal(pid, "-CONT");
    });
    let json = json(&ended.out);
    assert_eq!((ended.code, &json["verdict"]["valid"]), (VOID, &Value::Bool(false)), "{}", ended.out);
    let reasons = json["verdict"]["reasons"].as_array().unwrap();
    // The other one may be held up as well, by whatever else this machine does.
    let names_it = |reason: &Value| {
        let reason = reason.as_str().unwrap();
        reason.contains("DROME_TEST_MACHINE=stopped") && reason.contains("late")
    };
    assert!(reasons.iter().any(names_it), "{reasons:?}");
    let lag = json["machines"]["each"][1]["counted"]["schedule_lag_p99_ns"].as_u64().unwrap();
    assert!(lag > 100_000_000, "a pause of 800 ms is a fifth of the window: {lag}");
}

#[test]
fn what_several_machines_can_not_do_is_told_before_anything_is_measured() {
    let home = Home::new();
    let (_server, url) = page(&home);
    let two = ["--load-from", "here", "--load-from", "here"];
    let wrong: [(&[&str], &str); 8] = [
        (&["-c", "1"], "1 connection can't be divided among 2 machines"),
        (&["-n", "1"], "can't be divided among 2 machines"),
        (&["--unix", "/tmp/x"], "a Unix socket"),
        (&["--source", "127.0.0.2"], "a source address"),
        (&["--cacert", "/etc/x"], "certificate authorities"),
        (&["--series", "/tmp/x.csv"], "--load-from"),
        (&["--metrics", "127.0.0.1:9469"], "--load-from"),
        (&["--tui"], "--load-from"),
    ];
    for (args, why) in wrong {
        let url = if args[0] == "--cacert" { url.replace("http", "https") } else { url.clone() };
        let ended = run(home.drome(&["load", &url]).args(two).args(args));
        ended.assert_err(2, &[why]);
    }
    let ended = run(&mut home.drome(&["load", &url, "--put"]));
    ended.assert_err(2, &["add --load-from"]);
    let ended = run(&mut home.drome(&["load", &url, "--load-from", "ssh -evil"]));
    assert_eq!(ended.code, 2, "{}", ended.err);
    let nobody = run(home.drome(&["load", "http://127.0.0.1:9/"]).args(two));
    nobody.assert_err(1, &["`here` can't drive this load", "means each machine itself"]);
    let other = super::agent::other_version(&home);
    let words = format!("env PATH={}:/usr/bin:/bin", other.display());
    let ended = run(&mut home.drome(&["load", &url, "--load-from", &words]));
    ended.assert_err(1, &["has drome 9.9.9"]);
    assert_eq!(logged(&home), 0);
}

#[test]
fn the_sum_of_histograms_is_that_of_all_single_exchanges() {
    let home = Home::new();
    let (_server, url) = page(&home);
    let machines =
        Machines::start(vec![home.drome(&["agent"]), home.drome(&["agent"]), home.drome(&["agent"])]);
    let driven = machines.drive(&url, 9, 2000);
    assert_eq!((driven.tally.completed, driven.raw_ns.len()), (2000, 2000));
    assert_same(&driven);
    wait_for(|| logged(&home) >= 2000, "nginx's log");
    assert_eq!(logged(&home), 2000);
}

/// Agents at work.
pub struct Machines {
    names: Vec<String>,
    links: Vec<agent::Link>,
}

impl Machines {
    /// Starts an agent by each of these commands.
    pub fn start(commands: Vec<Command>) -> Self {
        let own = agent::hello(env!("CARGO_PKG_VERSION"));
        let names: Vec<String> = (0..commands.len()).map(|nth| format!("machine {nth}")).collect();
        let start = |(command, name): (Command, &String)| {
            agent::Link::start(name, command, &own, Duration::from_mins(2))
                .unwrap_or_else(|error| panic!("{error}"))
        };
        Self { links: commands.into_iter().zip(&names).map(start).collect(), names }
    }

    /// Drives this many requests over this many connections, and keeps every latency.
    pub fn drive(&self, url: &str, connections: usize, requests: u64) -> lab::load_from::Driven {
        let target = model::Target::resolve(url).unwrap();
        let ask = model::Ask::get(&target);
        let load = model::Load::Closed { connections, per_connection: None };
        let plan = model::Plan::new(target, ask, load, model::Until::Answered(requests));
        let stop = AtomicBool::new(false);
        let drive = lab::load_from::Drive {
            names: &self.names,
            links: &self.links,
            plan: &plan,
            threads: Some(1),
            allow_busy: true,
            raw: true,
            stop: &stop,
        };
        drive.run(&()).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// The histogram that was added up is that of all raw exchanges together.
pub fn assert_same(driven: &lab::load_from::Driven) {
    let mut all = stats::Histogram::new();
    driven.raw_ns.iter().for_each(|ns| all.record(*ns));
    assert!(driven.tally.latency == all, "{} and {} durations", driven.tally.latency.count(), all.count());
}
