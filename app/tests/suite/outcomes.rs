//! A study whose contenders go wrong, each in its own way: what the tables, the exit codes and the gate say of each. Four rounds
//! unless `DROME_TEST_OUTCOME_ROUNDS` says otherwise.

use crate::common::catalog::{SERVES, contender as written, keep_alive, study};
use crate::common::{Home, assert_has, contender, run};

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
        self.send_header('Content-Type', 'text/html' if kind == 'lies' else 'text/plain')
        self.send_header('Content-Length', str(len(body or b'')))
        self.end_headers()
        self.wfile.write(body or b'')
    def log_message(self, *_): pass
def drain(*_):
    time.sleep(8)
    os._exit(0)
if kind == 'drains': signal.signal(signal.SIGTERM, drain)
if kind == 'litters' and os.fork() == 0:
    os.setsid(); os.execvp('sleep', ['sleep', '1000'])
http.server.ThreadingHTTPServer(('127.0.0.1', port), Handler).serve_forever()
";

fn rounds() -> u64 {
    std::env::var("DROME_TEST_OUTCOME_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4)
}

/// The round in which one byte is wrong.
fn wrong_round() -> u64 {
    rounds().min(10)
}

/// What they do: nothing wrong; end at once; are never ready; can't be had; send one wrong byte, once; answer as another type; stop slowly; leave
/// a process behind; die under load in every other start.
const CONTENDERS: [&str; 9] =
    ["sound", "crashes", "sleeps", "absent", "flips", "lies", "drains", "litters", "dies"];

fn home() -> Home {
    let home = Home::new();
    let rounds = format!("[{0}, {0}]", rounds());
    let design = [("rounds", rounds.as_str()), ("measure", "'200ms'")];
    home.write_study("wrong", &study(&CONTENDERS, &keep_alive(4), &design));
    home.add_contender("sound", SERVES);
    home.add_contender("crashes", r#"["sh", "-c", "echo the disk is on fire >&2; exit 3"]"#);
    let sleeps = written("sleeps", r#"["sleep", "1000"]"#);
    home.write_contender("sleeps", &sleeps.replace("[run]\n", "[run]\nready = \"1s\"\n"));
    let absent = written("absent", r#"["true"]"#).replace("\"echo\", \"1.0\"", "\"no-such-program\"");
    let install = "[install]\napt = [\"no-such-package\"]\n[version]";
    home.write_contender("absent", &absent.replace("[version]", install));
    for name in ["flips", "lies", "drains", "litters", "dies"] {
        let (turn, count) = (wrong_round(), home.path().join(name));
        home.write(&format!("own/contenders/{name}/src/server.py"), SERVER);
        let words = format!(r#""{name}", "{turn}", "{}""#, count.display());
        home.add_contender(name, &format!(r#"["python3", "{{src}}/server.py", "{{port}}", {words}]"#));
    }
    home
}

#[test]
fn each_failure_is_told_counted_and_in_the_exit_codes() {
    let home = home();
    let drome = |args: &[&str]| run(&mut home.with_catalog(args));
    let finished = drome(&["run", "wrong"]);
    eprintln!("{}{}", finished.out, finished.err);
    finished.assert_err(
        4,
        &[
            "crashes (keep-alive) has no sound start: failed: it ended (exit status: 3)",
            "sleeps (keep-alive) has no sound start: ",
            "lies (keep-alive) has no sound start: ",
            "absent does not take part: ",
            "apt-get install no-such-package",
        ],
    );
    assert_eq!(finished.err.matches("has no sound start").count(), 3, "{}", finished.err);
    finished.assert_out(
        4,
        &[
            "the disk is on fire",
            "it was not ready within 1s",
            "hello (/hello): content type text/html instead of text/plain",
            "the body differs from byte 10 on",
            "after the measurement, it did not stop within 5s of SIGTERM and was killed",
            "after the measurement, it left 1 process(es) behind after SIGTERM",
            "in its turn it ended (signal: 9",
            "\nDid not take part\nabsent: ",
        ],
    );
    let json = home.findings();
    assert_eq!(json["missing"][0]["name"], "absent");
    let rounds = rounds();
    // Of a contender: sound starts, failed ones.
    for (name, trials, failed) in [
        ("reference", rounds, 0),
        ("sound", rounds, 0),
        ("crashes", 0, 3),
        ("sleeps", 0, 3),
        ("flips", rounds - 1, 1),
        ("lies", 0, 3),
        ("drains", rounds, 0),
        ("litters", rounds, 0),
        ("dies", rounds.div_ceil(2), rounds / 2),
    ] {
        let row = contender(&json["cells"][0], name);
        let counted = (row["trials"].as_u64().unwrap(), row["failed"].as_u64().unwrap());
        assert_eq!(counted, (trials, failed), "{name}: {row}");
        assert_eq!(row["rate_per_s"].is_null(), trials == 0, "unknown is null, not 0: {name}: {row}");
    }
    home.assert_clean();

    let id = json["run"].as_str().unwrap();
    let gate = drome(&["compare", id, id, "--fail-if-slower", "3%"]);
    eprintln!("{}{}", gate.out, gate.err);
    assert_eq!(gate.code, 4, "{}", gate.err);
    assert_has(
        &gate.err,
        &[
            "crashes (keep-alive) failed in 3 of 3 starts",
            &format!("flips (keep-alive) failed in 1 of {rounds} starts"),
            &format!("dies (keep-alive) failed in {} of {rounds} starts", rounds / 2),
        ],
    );
    assert!(!gate.err.contains("drains (keep-alive) failed"), "what was measured counts: {}", gate.err);
    let allowed = drome(&["compare", id, id, "--fail-if-slower", "3%", "--allow-unknown"]);
    assert_eq!(allowed.code, 0, "{}", allowed.err);
}
