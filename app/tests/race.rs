//! `drome race` with real servers and known truths.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Home, run};
use serde_json::Value;

const DROME: &str = env!("CARGO_BIN_EXE_drome");

fn race(home: &Home, commands: &[&str], args: &[&str]) -> common::Said {
    let short = ["--duration", "200ms", "--warmup", "50ms", "--budget", "1s", "--seed", "1"];
    run(home.drome(&["race"]).args(commands).args(short).args(args))
}

#[test]
fn a_known_difference_is_found_with_its_direction() {
    let home = Home::new();
    let slow = format!("{DROME} serve --port {{port}} --spin-ns 1000000");
    let fast = format!("{DROME} serve --port {{port}}");
    let said = race(&home, &[&slow, &fast], &["--url", "http://127.0.0.1:{port}/hello", "-c", "1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("B is ") && said.out.contains("× A, 95 %"), "{}", said.out);
    let json: Value =
        serde_json::from_str(&run(&mut home.drome(&["report", "--format", "json"])).out).unwrap();
    let rows = json["cells"][0]["contenders"].as_array().unwrap();
    let b = rows.iter().find(|row| row["name"] == "B").unwrap();
    // An answer of the slow one takes at least the millisecond longer that it spins.
    assert!(b["time_ns_more"]["median"].as_f64().unwrap() < -900_000.0, "{b}");
    assert_eq!(b["trials"], 6, "both enter every one of three blocks twice");
    assert!(json["noise_floor"].as_f64().unwrap() > 0.0);
}

#[test]
fn unequal_work_is_refused_unless_allowed() {
    let home = Home::new();
    let python = "python3 -c 'import http.server as h
class H(h.BaseHTTPRequestHandler):
    def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b\"other\")
    def log_message(self, *a): pass
h.HTTPServer((\"127.0.0.1\", {port}), H).serve_forever()'";
    let drome = format!("{DROME} serve --port {{port}}");
    let said = race(&home, &[&drome, python], &[]);
    assert!(
        said.code == 2 && said.err.contains("not the same work") && said.err.contains("--any-body"),
        "{}",
        said.err
    );
    let said = race(&home, &[&drome, python], &["--any-body"]);
    assert!(said.code == 0 && said.out.contains("A is "), "{}{}", said.out, said.err);
}

#[test]
fn commands_that_can_not_race_are_refused_with_the_reason() {
    let home = Home::new();
    let drome = format!("{DROME} serve --port {{port}}");
    let said = race(&home, &[&drome, "sleep 5"], &[]);
    assert!(said.code == 2 && said.err.contains("has no {port}"), "{}", said.err);
    let said = race(&home, &[&drome, "echo gone {port}; exit 4"], &[]);
    assert!(
        said.code == 2 && said.err.contains("exit status: 4") && said.err.contains("gone"),
        "{}",
        said.err
    );
    let said = race(&home, &[&drome, &drome], &["--url", "http://127.0.0.1:{port}/none"]);
    assert!(said.code == 2 && said.err.contains("status 404"), "{}", said.err);
    let said = race(&home, &[&drome, &drome], &["--url", "http://192.0.2.1:{port}/"]);
    assert!(said.code == 2 && said.err.contains("not on this machine"), "{}", said.err);
    let said = race(&home, &[&drome], &[]);
    assert_eq!(said.code, 2);
}
