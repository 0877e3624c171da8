//! A study whose contenders go wrong, each in its own way: what the tables, the exit codes and the gate say of each. Four rounds
//! unless `DROME_TEST_OUTCOME_ROUNDS` says otherwise.

use crate::common::{Finished, Home, run};
use serde_json::Value;

const STUDY: &str = r#"
title = "Servers that go wrong"
contenders = ["sound", "crashes", "flips", "drains", "dies"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 4 } }
[design]
rounds = [ROUNDS, ROUNDS]
slice = "20ms"
warmup = "20ms"
measure = "200ms"
precision = 0.9
budget = "2h"
"#;

const CONTENDER: &str = r#"
title = "TITLE"
language = "any"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = COMMAND
[serves]
hello = "/hello"
"#;

/// A server that counts its starts in a file, and does in the one that is its turn what it is named for.
const SERVER: &str = r"
import http.server, os, signal, sys, threading, time
port, kind, turn, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
with open(count, 'a') as file:
    file.write('x')
start, under_load = os.path.getsize(count), 0
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = -1 # head and body in one piece: in two, an answer may wait 40 ms for an acknowledgement
    def do_GET(self):
        global under_load
        # The verification closes every connection; the load keeps them.
        under_load += self.headers.get('Connection') != 'close'
        body = b'Hello World\n' if self.path.split('?')[0] == '/hello' else None
        if kind == 'flips' and start == turn: body = body and b'Hello Worle\n'
        if kind == 'dies' and start % 2 == 0 and under_load > 1: os.kill(os.getpid(), signal.SIGKILL)
        self.send_response(200 if body else 404)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(body or b'')))
        self.end_headers()
        self.wfile.write(body or b'')
    def log_message(self, *_): pass
def drain(*_):
    time.sleep(8)
    os._exit(0)
if kind == 'drains': signal.signal(signal.SIGTERM, drain)
http.server.ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
";

fn rounds() -> u64 {
    std::env::var("DROME_TEST_OUTCOME_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4)
}

/// The round in which one byte is wrong.
fn wrong_round() -> u64 {
    rounds().min(10)
}

fn study(home: &Home) {
    home.write("own/studies/wrong.toml", &STUDY.replace("ROUNDS", &rounds().to_string()));
    let contender = |name: &str, command: &str| {
        let text = CONTENDER.replace("TITLE", name).replace("COMMAND", command);
        home.write(&format!("own/contenders/{name}/contender.toml"), &text);
    };
    contender("sound", r#"["{drome}", "serve", "--port", "{port}"]"#);
    contender("crashes", r#"["sh", "-c", "echo the disk is on fire >&2; exit 3"]"#);
    for name in ["flips", "drains", "dies"] {
        let count = home.path().join(name);
        let (turn, count) = (wrong_round(), count.display());
        home.write(&format!("own/contenders/{name}/src/server.py"), SERVER);
        contender(
            name,
            &format!(r#"["python3", "{{src}}/server.py", "{{port}}", "{name}", "{turn}", "{count}"]"#),
        );
    }
}

fn drome(home: &Home, args: &[&str]) -> Finished {
    run(&mut home.with_catalog(args))
}

#[test]
fn each_failure_is_told_counted_and_in_the_exit_codes() {
    let home = Home::new();
    study(&home);
    let finished = drome(&home, &["run", "wrong"]);
    eprintln!("{}{}", finished.out, finished.err);
    assert_eq!(finished.code, 4, "{}", finished.err);
    assert!(
        finished.err.contains("crashes (keep-alive) has no sound start: failed: it ended (exit status: 3)")
    );
    assert_eq!(finished.err.matches("has no sound start").count(), 1, "{}", finished.err);
    for words in [
        "the disk is on fire",
        "the body differs from byte 10 on",
        "did not stop within 5s of SIGTERM and was killed",
        "in its turn it ended (signal: 9",
    ] {
        assert!(finished.out.contains(words), "{words} is not in\n{}", finished.out);
    }
    let json: Value = serde_json::from_str(&drome(&home, &["report", "--format", "json"]).out).unwrap();
    let rounds = rounds();
    // Of a contender: sound trials, failed ones.
    for (name, trials, failed) in [
        ("reference", rounds, 0),
        ("sound", rounds, 0),
        ("crashes", 0, 3),
        ("flips", rounds - 1, 1),
        ("drains", rounds, 0),
        ("dies", rounds.div_ceil(2), rounds / 2),
    ] {
        let rows = json["cells"][0]["contenders"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        let counted = (row["trials"].as_u64().unwrap(), row["failed"].as_u64().unwrap());
        assert_eq!(counted, (trials, failed), "{name}: {row}");
        assert_eq!(row["rate_per_s"].is_null(), trials == 0, "{name}: {row}");
    }
    home.assert_clean();

    let id = json["run"].as_str().unwrap();
    let gate = drome(&home, &["compare", id, id, "--fail-if-slower", "3%"]);
    eprintln!("{}{}", gate.out, gate.err);
    assert_eq!(gate.code, 4, "{}", gate.err);
    for words in [
        "crashes (keep-alive) failed in 3 of 3 trials".to_owned(),
        format!("flips (keep-alive) failed in 1 of {rounds} trials"),
        format!("dies (keep-alive) failed in {} of {rounds} trials", rounds / 2),
    ] {
        assert!(gate.err.contains(&words), "{words}: {}", gate.err);
    }
    assert!(!gate.err.contains("drains (keep-alive) failed"), "what was measured counts: {}", gate.err);
    let allowed = drome(&home, &["compare", id, id, "--fail-if-slower", "3%", "--allow-unknown"]);
    assert_eq!(allowed.code, 0, "{}", allowed.err);
}
