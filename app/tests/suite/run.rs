//! `drome run`: the whole walk with real servers, and everything that can go wrong on it.

use crate::common::{Finished, Home, process, processes_with, run, trials, wait_for};
use serde_json::Value;
use std::process::Stdio;

/// A study of real servers that takes seconds.
const STUDY: &str = r#"
title = "A small study"
source = "nowhere"
contenders = ["python-http-server", "node"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 4 } }
[[cell]]
title = "an open load"
workload = "pong"
load = { open = { rate_per_s = 200, connections = 4 } }
[design]
rounds = [ROUNDS]
slice = "20ms"
warmup = "50ms"
measure = "160ms"
precision = 0.9
budget = "2h"
[published]
metric = "rate_per_s"
hardware = "paper"
figures = { node = 125.97 }
"#;

/// A contender that does something wrong.
const CONTENDER: &str = r#"
title = "TITLE"
language = "sh"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = COMMAND
ready = "READY"
[serves]
hello = "/hello"
pong = "/pong"
"#;

fn study(home: &Home, rounds: &str, contenders: &str) {
    let text = STUDY.replace("ROUNDS", rounds).replace("\"python-http-server\", \"node\"", contenders);
    // Few starts: each may take long enough to get an answer on a slow machine.
    let text = text.replace("measure = \"160ms\"", "measure = \"500ms\"");
    home.write("own/studies/small.toml", &text.replace("figures = { node = 125.97 }", "figures = {}"));
}

/// For every server of these tests, however slow the machine.
const LONG_ENOUGH: &str = "30s";

fn contender(home: &Home, name: &str, command: &str) {
    contender_ready_within(home, name, command, LONG_ENOUGH);
}

fn contender_ready_within(home: &Home, name: &str, command: &str, ready: &str) {
    let text = CONTENDER.replace("TITLE", name).replace("COMMAND", command).replace("READY", ready);
    home.write(&format!("own/contenders/{name}/contender.toml"), &text);
}

fn drome(home: &Home, args: &[&str]) -> Finished {
    run(&mut home.with_catalog(args))
}

fn report(home: &Home) -> Value {
    let finished = drome(home, &["report", "--format", "json"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    serde_json::from_str(&finished.out).unwrap()
}

fn row<'j>(json: &'j Value, cell: usize, name: &str) -> &'j Value {
    let rows = json["cells"][cell]["contenders"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} is not in {rows:?}"))
}

#[test]
fn a_study_ranks_real_servers_and_its_report_has_the_documented_form() {
    let home = Home::new();
    home.write("own/studies/small.toml", &STUDY.replace("ROUNDS", "4, 4"));
    // As it is by default: the load generator polls.
    let mut command = home.with_catalog(&["run", "small", "--seed", "5"]);
    let finished = run(command.env(process::POLL, "1"));
    assert_eq!(finished.code, 0, "{}", finished.err);
    for words in [
        "drome serve",
        "Node.js",
        "Python http.server",
        "p99 at saturation",
        "noise floor",
        "■",
        "of reference",
        "126.0",
    ] {
        assert!(finished.out.contains(words), "{words} is not in\n{}", finished.out);
    }
    let json = report(&home);
    common_form(&json);
    let node = row(&json, 0, "node");
    assert_eq!(
        (node["trials"].as_u64(), node["failed"].as_u64(), node["published"].as_f64()),
        (Some(4), Some(0), Some(125.97))
    );
    assert!(
        node["rate_per_s"]["median"].as_f64().unwrap() > 0.0
            && node["rss_max_bytes"].as_u64().unwrap() > 1_000_000
    );
    assert!(node["server_cpu_ns_per_request"]["median"].as_f64().unwrap() > 0.0);
    assert_eq!(row(&json, 0, "reference")["trials"], 4);
    let floor = &json["noise_floor"]; // Unknown where too few trials were sound, as on a machine that is busy otherwise.
    assert!(floor.is_null() || floor.as_f64().unwrap() >= 0.0);
    let markdown = drome(&home, &["report", "--format", "markdown"]).out;
    assert!(
        markdown.contains("| rank | letters | contender |") && markdown.contains("## an open load"),
        "{markdown}"
    );
    let listed = drome(&home, &["list", "runs"]).out;
    assert!(listed.contains("small") && listed.contains("12 starts"), "{listed}");
    assert_eq!(
        drome(&home, &["report", "--format", "json"]).out,
        drome(&home, &["report", "--format", "json"]).out
    );
}

/// The keys and types that DESIGN documents, as schema 1.
fn common_form(json: &Value) {
    assert_eq!(json["schema"], 1);
    for key in ["run", "study", "started_at"] {
        assert!(json[key].is_string(), "{key}");
    }
    assert!(json["environment"].is_object(), "{json}");
    let figure = |value: &Value| {
        value.is_null()
            || ["median", "low", "high"].iter().all(|k| value[k].is_number() || value[k].is_null())
    };
    for cell in json["cells"].as_array().unwrap() {
        assert!(cell["workload"].is_string() && cell["load"].is_object());
        for row in cell["contenders"].as_array().unwrap() {
            for key in ["trials", "void", "failed"] {
                assert!(row[key].is_u64(), "{key}: {row}");
            }
            for key in ["rate_per_s", "server_cpu_ns_per_request", "latency_ns_p99", "of_reference"] {
                assert!(row.get(key).is_some_and(figure), "{key}: {row}");
            }
            for key in
                ["name", "version", "rss_max_bytes", "tier", "rank_low", "rank_high", "bound", "published"]
            {
                assert!(row.get(key).is_some(), "{key}: {row}");
            }
        }
    }
}

#[test]
fn contenders_that_fail_are_named_with_the_reason_and_the_others_go_on() {
    let home = Home::new();
    contender(&home, "dies", r#"["sh", "-c", "echo the disk is on fire >&2; exit 3"]"#);
    contender_ready_within(&home, "sleeps", r#"["sleep", "1000"]"#, "1s");
    let script = r"
from http.server import *
import sys
class H(BaseHTTPRequestHandler):
    def do_GET(self):
        wrong = self.path == '/hello'
        self.send_response(200); self.send_header('Content-Type', 'text/html' if wrong else 'text/plain')
        self.end_headers(); self.wfile.write(b'Hello World!' if wrong else b'PONG')
HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()";
    home.write("own/contenders/lies/src/lies.py", script);
    contender(&home, "lies", r#"["python3", "{src}/lies.py", "{port}"]"#);
    contender(&home, "absent", r#"["true"]"#);
    let absent = home.path().join("own/contenders/absent/contender.toml");
    let text = std::fs::read_to_string(&absent)
        .unwrap()
        .replace("[version]", "[install]\napt = [\"no-such-package\"]\n[version]");
    std::fs::write(&absent, text.replace("[\"echo\", \"1.0\"]", "[\"no-such-program\"]")).unwrap();
    study(&home, "3, 3", r#""dies", "sleeps", "lies", "absent""#);

    let finished = drome(&home, &["run", "small"]);
    assert_eq!(finished.code, 4, "{}", finished.err);
    assert!(
        finished.err.contains("dies (keep-alive) has no sound start: failed: it ended (exit status: 3)"),
        "{}",
        finished.err
    );
    assert!(
        !finished.err.contains("absent (keep-alive)"),
        "what is not installed was not asked for: {}",
        finished.err
    );
    assert!(
        finished.err.contains("absent does not take part")
            && finished.err.contains("apt-get install no-such-package"),
        "{}",
        finished.err
    );
    for words in [
        "it ended (exit status: 3)",
        "the disk is on fire",
        "it was not ready within 1s",
        "hello (/hello): content type text/html instead of text/plain",
        "the body differs from byte 11 on",
        "\nDid not take part\nabsent: ",
    ] {
        assert!(finished.out.contains(words), "{words} is not in\n{}", finished.out);
    }
    let json = report(&home);
    assert!(row(&json, 0, "dies")["rate_per_s"].is_null(), "unknown is null, not 0");
    assert_eq!(row(&json, 0, "dies")["failed"], 3);
    assert!(row(&json, 0, "reference")["rate_per_s"]["median"].as_f64().unwrap() > 0.0);
    assert_eq!(json["missing"][0]["name"], "absent");
}

#[test]
fn a_server_that_dies_under_load_is_a_failed_start() {
    let home = Home::new();
    let script = r"
from http.server import *
import sys, os
n = 0
class H(BaseHTTPRequestHandler):
    def do_GET(self):
        global n
        # Only the load asks without closing: the verification is over, and one answer has been given under load.
        n += self.headers.get('Connection') != 'close'
        if n > 1: os._exit(7)
        body = {'/hello': b'Hello World\n', '/pong': b'PONG'}.get(self.path.split('?')[0])
        self.send_response(200 if body else 404); self.send_header('Content-Type', 'text/plain'); self.end_headers()
        self.wfile.write(body or b'')
    def log_message(self, *a): pass
HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()";
    home.write("own/contenders/weak/src/weak.py", script);
    contender(&home, "weak", r#"["python3", "{src}/weak.py", "{port}"]"#);
    study(&home, "1, 1", r#""weak""#);
    let finished = drome(&home, &["run", "small"]);
    assert!(
        finished.code == 4 && finished.out.contains("in its turn it ended (exit status: 7)"),
        "{}{}",
        finished.out,
        finished.err
    );
}

#[test]
fn what_a_server_leaves_behind_is_killed_and_said() {
    let home = Home::new();
    let python = r"import http.server as h, os, sys
if os.fork() == 0:
    os.setsid(); os.execvp('sleep', ['sleep', '1000'])
class H(h.BaseHTTPRequestHandler):
    def do_GET(self):
        body = {'/hello': b'Hello World\n', '/pong': b'PONG'}.get(self.path.split('?')[0])
        self.send_response(200 if body else 404); self.send_header('Content-Type', 'text/plain'); self.end_headers()
        self.wfile.write(body or b'')
    def log_message(self, *a): pass
h.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()";
    home.write("own/contenders/litters/src/litters.py", python);
    contender(&home, "litters", r#"["python3", "{src}/litters.py", "{port}"]"#);
    study(&home, "1, 1", r#""litters""#);
    let finished = drome(&home, &["run", "small"]);
    let told = "after the measurement, it left 1 process(es) behind after SIGTERM";
    assert!(finished.out.contains(told), "{}{}", finished.out, finished.err);
    assert_is_measured(&home, "litters");
    home.assert_clean();
}

/// What it did after the measurement does not undo it.
fn assert_is_measured(home: &Home, name: &str) {
    let report = report(home);
    let all = report["cells"][0]["contenders"].as_array().unwrap();
    let found = all.iter().find(|c| c["name"] == name).unwrap();
    assert_eq!((found["trials"].as_u64(), found["failed"].as_u64()), (Some(1), Some(0)), "{found}");
    assert!(found["rate_per_s"]["median"].as_f64().is_some_and(|rate| rate > 0.0), "{found}");
}

#[test]
fn a_server_that_drains_for_longer_than_it_may_keeps_its_measurement() {
    let home = Home::new();
    let python = r"import http.server as h, signal, sys, time
class H(h.BaseHTTPRequestHandler):
    def do_GET(self):
        body = {'/hello': b'Hello World\n', '/pong': b'PONG'}.get(self.path.split('?')[0])
        self.send_response(200 if body else 404); self.send_header('Content-Type', 'text/plain'); self.end_headers()
        self.wfile.write(body or b'')
    def log_message(self, *a): pass
signal.signal(signal.SIGTERM, lambda *a: time.sleep(60))
h.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()";
    home.write("own/contenders/drains/src/drains.py", python);
    contender(&home, "drains", r#"["python3", "{src}/drains.py", "{port}"]"#);
    study(&home, "1, 1", r#""drains""#);
    let finished = drome(&home, &["run", "small"]);
    assert!(
        finished.out.contains("after the measurement, it did not stop within"),
        "{}{}",
        finished.out,
        finished.err
    );
    assert_is_measured(&home, "drains");
    home.assert_clean();
}

#[test]
fn a_killed_run_leaves_no_server_keeps_every_start_and_goes_on() {
    let home = Home::new();
    study(&home, "4, 4", r#""python-http-server""#);
    let mut command = home.with_catalog(&["run", "small"]);
    let mut child = process::spawn(command.stdout(Stdio::null()).stderr(Stdio::null()));
    wait_for(|| trials(&home) >= 5, "a whole round, and a cell of the next");
    child.kill().unwrap(); // SIGKILL: drome itself can do nothing any more.
    process::wait(&mut child);
    let mark = home.path().display().to_string();
    wait_for(|| processes_with(&mark).is_empty(), "every server to be gone");
    wait_for(|| std::fs::read_dir(home.temporary()).unwrap().next().is_none(), "every folder to be gone");
    let kept = trials(&home);
    assert!(kept >= 5, "{kept}");

    let finished = drome(&home, &["run", "small", "--resume"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert_eq!(trials(&home), 4 * 2 * 2, "every start of the design, each once");
    assert_eq!(row(&report(&home), 1, "python-http-server")["trials"], 4);
    let finished = drome(&home, &["run", "small", "--resume"]);
    assert!(finished.code != 0 && finished.err.contains("all have ended"), "{}", finished.err);
}

#[test]
fn a_run_that_is_interrupted_keeps_its_trials() {
    let home = Home::new();
    study(&home, "30, 30", r#""python-http-server""#);
    let child = process::spawn(home.with_catalog(&["run", "small"]).stderr(Stdio::piped()));
    wait_for(|| trials(&home) >= 2, "two trials");
    run(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]));
    let finished = crate::common::finished(&process::output(child, "drome run"));
    assert_eq!(finished.code, 130);
    assert!(finished.err.contains("interrupted; every finished cell is kept"), "{}", finished.err);
    home.assert_clean();
    assert!(report(&home)["ended"].as_str().unwrap().contains("--resume"));
}

#[test]
fn a_name_that_is_unknown_gets_the_nearest_one() {
    let home = Home::new();
    let finished = run(&mut home.drome(&["run", "rasberry-pi"]));
    assert!(finished.code == 2 && finished.err.contains("did you mean `raspberry-pi`?"), "{}", finished.err);
    let finished = run(&mut home.drome(&["list", "ngnix"]));
    assert!(finished.code == 2 && finished.err.contains("did you mean `nginx`?"), "{}", finished.err);
    let finished = run(&mut home.drome(&["report", "no-such-run"]));
    assert!(finished.code == 2 && finished.err.contains("no run `no-such-run`"), "{}", finished.err);
    study(&home, "1, 1", r#""nginks""#);
    let finished = drome(&home, &["list"]);
    assert!(
        finished.code == 2
            && finished.err.contains("studies/small.toml:")
            && finished.err.contains("did you mean `nginx`?"),
        "{}",
        finished.err
    );
    let finished = run(&mut home.drome(&["list", "--catalog", "/no/such/folder"]));
    assert!(finished.code == 2 && finished.err.contains("/no/such/folder"), "{}", finished.err);
}

#[test]
fn a_store_that_is_not_understood_is_never_written_to() {
    let home = Home::new();
    run(&mut home.drome(&["list", "runs"]));
    let sound = std::fs::read(home.store()).unwrap();
    let mut newer = sound.clone();
    newer[60..64].copy_from_slice(&99_u32.to_be_bytes()); // SQLite's user_version
    let mut foreign = sound.clone();
    foreign[68..72].copy_from_slice(&7_u32.to_be_bytes()); // SQLite's application_id
    let mut corrupt = sound;
    corrupt[4000..].fill(0x5a);
    let cases = [
        (newer, "version 99"),
        (foreign, "not a drome store"),
        (b"just some text, and no database at all".repeat(99), "not a drome store"),
        (corrupt, "store"),
    ];
    for (bytes, words) in cases {
        std::fs::write(home.store(), &bytes).unwrap();
        let finished = run(&mut home.drome(&["report"]));
        assert!(
            finished.code != 0 && finished.err.contains(words) && finished.err.contains("--store"),
            "{}: {}",
            finished.code,
            finished.err
        );
        assert_eq!(std::fs::read(home.store()).unwrap(), bytes, "{words}: it was written to");
    }
    let finished = run(&mut home.drome(&["report", "--store", "/proc/no/store"]));
    assert!(finished.code == 1 && finished.err.contains("/proc/no/store"), "{}", finished.err);
}

#[test]
fn a_full_disk_ends_the_run_with_a_reason_and_keeps_what_was_stored() {
    let home = Home::new();
    study(&home, "30, 30", r#""python-http-server""#);
    run(&mut home.drome(&["list", "runs"]));
    // The workloads' files are there already: one of them is larger than the limit.
    run(&mut home.drome(&["verify", "reference"]));
    let (path, own) = (home.path().display(), home.path().join("own"));
    // A limit on the size of files stands for a disk that is full.
    let script = format!(
        "trap '' XFSZ; ulimit -f 500; DROME_HOME={path} DROME_CACHE={path}/cache TMPDIR={path}/tmp exec {} run small --catalog {}",
        env!("CARGO_BIN_EXE_drome"),
        own.display()
    );
    let finished = run(std::process::Command::new("sh").args(["-c", &script]));
    assert!(
        finished.code == 1 && finished.err.contains("free some space"),
        "{}: {}",
        finished.code,
        finished.err
    );
    assert!(report(&home)["cells"][0]["blocks"].as_u64().unwrap() >= 1);
    home.assert_clean();
}
