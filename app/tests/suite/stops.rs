//! Every way in which a server can stop while it is measured, under every command that measures: the exit code, and the words that say what
//! happened. The server is `stops.py`, which stops a moment after its first request.

use crate::common::{Finished, Home, Server, run, start, tools};
use std::path::PathBuf;

/// What drome ends with where something has no sound figure.
const VOID: i32 = 4;

/// Long before the end of a window of two seconds.
const AFTER: &str = "0.3";

/// The words for lost requests and for silence, and those of a heat for both.
const LOST: &str = "requests failed (";
const SILENT: &str = "the server was silent for the last";
const NO_ANSWER: &str = "it gave no correct answer in 3 turns in a row";
const LAST_HEARD: &str = "the server was last heard ";

struct Stopping {
    home: Home,
    script: PathBuf,
}

impl Stopping {
    fn new() -> Self {
        let home = Home::new();
        let script = home.write("stops.py", include_str!("stops.py"));
        Self { home, script }
    }

    fn server(&self, how: &str) -> Server {
        start("python3", &[self.script.to_str().unwrap(), "{port}", how, AFTER])
    }

    /// The command that starts the server.
    fn command(&self, how: &str) -> String {
        format!("python3 {} {{port}} {how} {AFTER}", self.script.display())
    }

    fn load(&self, how: &str, args: &[&str]) -> Finished {
        let server = self.server(how);
        let url = format!("http://{}/", server.address);
        let ended = run(self.home.drome(&["load", &url, "-c", "16"]).args(args));
        end_all_of(server);
        ended
    }
}

/// Ends a server of two processes, one of which may be stopped.
fn end_all_of(server: Server) {
    let children = format!("/proc/{0}/task/{0}/children", server.child.id());
    for child in std::fs::read_to_string(children).unwrap_or_default().split_whitespace() {
        run(std::process::Command::new("kill").args(["-KILL", child]));
    }
    drop(server);
}

#[track_caller]
fn assert_ended(how: &str, ended: &Finished, code: i32, words: &[&str]) {
    let all = format!("{}{}", ended.out, ended.err);
    eprintln!("== {how}: exit {}\n{all}", ended.code);
    assert_eq!(ended.code, code, "{how}: {all}");
    for words in words {
        assert!(all.contains(words), "{how}: {words:?} is not in\n{all}");
    }
}

#[test]
fn a_server_that_stops_in_the_window_of_a_load_voids_it() {
    let stopping = Stopping::new();
    for (how, words) in [
        ("killed", [LOST, LAST_HEARD]),
        ("refuses", [LOST, LAST_HEARD]),
        ("closes", [LOST, LAST_HEARD]),
        ("resets", [LOST, LAST_HEARD]),
        ("silent", [SILENT, LAST_HEARD]),
        ("half-answers", [SILENT, LAST_HEARD]),
        ("half-silent", ["connections that had been answered waited in the end", "VOID"]),
    ] {
        assert_ended(how, &stopping.load(how, &["-d", "2s"]), VOID, &words);
    }
    // The other process takes the connections of the one that was killed.
    let half = stopping.load("half-killed", &["-d", "3s"]);
    assert_ended("half-killed", &half, 0, &["failed (", "sound"]);
    let well = stopping.load("never", &["-d", "1s"]);
    assert_ended("never", &well, 0, &["sound"]);
}

#[test]
fn a_load_of_many_requests_ends_when_the_server_is_gone() {
    let stopping = Stopping::new();
    let many = ["-n", "100000000", "--timeout", "1s", "--abort-after", "1s"];
    for how in ["killed", "refuses", "closes", "resets", "silent", "half-answers"] {
        let words = ["answered nothing and every request failed (--abort-after", "VOID"];
        assert_ended(how, &stopping.load(how, &many), VOID, &words);
    }
}

#[test]
fn a_server_that_stops_voids_a_load_from_several_machines() {
    let stopping = Stopping::new();
    for (how, words) in [("killed", LOST), ("closes", LOST), ("silent", SILENT), ("half-answers", SILENT)] {
        let from = ["--load-from", "here", "--load-from", "here", "-t", "1"];
        let timed = stopping.load(how, &[&from[..], &["-d", "2s"]].concat());
        assert_ended(how, &timed, VOID, &[words, LAST_HEARD]);
        let many = ["-n", "100000000", "--timeout", "1s", "--abort-after", "1s"];
        let counted = stopping.load(how, &[&from[..], &many].concat());
        assert_ended(how, &counted, VOID, &["answered nothing and every request failed"]);
    }
}

/// All of them in one heat, as in one of a study.
#[test]
fn servers_that_stop_in_a_race_have_no_figures() {
    let stopping = Stopping::new();
    let ways = [
        ("killed", "it ended (signal: 9"),
        ("silent", NO_ANSWER),
        ("refuses", "it gave no correct answer in 3 turns in a row (connect: Connection refused"),
        ("resets", NO_ANSWER),
        ("half-answers", NO_ANSWER),
    ];
    let commands = ways.map(|(how, _)| stopping.command(how));
    let mut race = stopping.home.drome(&["race"]);
    race.args(&commands).arg(stopping.command("never"));
    let ended = run(race.args(["--any-body", "-c", "4", "--budget", "1min"]));
    for ((how, words), name) in ways.into_iter().zip(["A", "B", "C", "D", "E"]) {
        let no_figures = format!("no start of {name} was sound, so it has no figures");
        let failed = format!("{name}: failed: ");
        assert_ended(how, &ended, VOID, &[&no_figures]);
        let why = ended.err.lines().find(|line| line.starts_with(&failed)).unwrap_or_default();
        assert!(why.contains(words), "{how}: {why:?} in {}", ended.err);
    }
}

#[test]
fn servers_that_stop_in_a_sweep_have_no_sound_figure() {
    let stopping = Stopping::new();
    for (how, words) in [
        ("killed", "under load it ended (signal: 9"),
        ("silent", SILENT),
        ("refuses", LOST),
        ("resets", LOST),
        ("half-answers", SILENT),
    ] {
        let few = ["-c", "16", "--shares", "0.5", "--repeats", "1", "--warmup", "0s", "--duration", "2s"];
        let start = stopping.command(how);
        let sweep = run(stopping.home.drome(&["sweep", "--start", &start, "--allow-busy"]).args(few));
        assert_ended(how, &sweep, VOID, &[words]);
    }
}

/// The older tools go on to the end of their time, or end by themselves, each in its own way; drome's verdict is beside their report.
#[test]
fn a_tool_whose_server_stops_ends_as_the_tool_itself_does() {
    let stopping = Stopping::new();
    for how in ["killed", "refuses", "silent"] {
        let of = |tool: fn(&str, &[&str]) -> tools::Ended| {
            let server = stopping.server(how);
            let ended = tool("wrk", &["-t2", "-c16", "-d2s", &format!("http://{}/", server.address)]);
            end_all_of(server);
            ended
        };
        let (real, drome) = (of(tools::real), of(tools::drome));
        let told = |ended: &tools::Ended| (ended.code, ended.out.contains("Socket errors"));
        assert_eq!(told(&drome), told(&real), "{how}: {drome:?} {real:?}");
        assert!(drome.err.contains("this measurement is void"), "{how}: {}", drome.err);
    }
}

#[test]
fn a_pipeline_of_which_every_answer_closes_the_connection_is_void() {
    let address = crate::common::answers(
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        true,
        true,
    );
    let home = Home::new();
    let url = format!("http://{address}/");
    let ended = run(&mut home.drome(&["load", &url, "-c", "4", "-d", "500ms", "--pipeline", "4"]));
    assert_ended("pipeline", &ended, VOID, &["more than one in a hundred"]);
}
