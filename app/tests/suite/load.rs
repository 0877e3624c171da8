//! `drome load` against real servers: every request accounted for, every error in its kind.

use crate::common::counted::Counted;
use crate::common::{
    Home, answers, assert_accounted, assert_as_schema, load, nginx, process, run, serve, start,
};
use serde_json::{Value, json};

const HELLO_SHA256: &str = "d2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26";

fn errors(json: &Value, kind: &str) -> u64 {
    json["errors"][kind].as_u64().unwrap()
}

#[test]
fn the_json_is_as_documented() {
    let server = serve(&[]);
    let (code, json) = load(server.address, "/hello", &["-c", "4", "-n", "200"]);
    assert_eq!(code, 0, "{json}");
    assert_as_schema(&Home::new(), "load", &json);
    assert_eq!(json["schema"], 1);
    // Every request waits in the load generator, however shortly, until the kernel has it.
    assert!(json["schedule_lag_ns"]["p99"].as_u64().is_some());
    assert_eq!(
        json["requests"],
        json!({"sent":200,"completed":200,"in_flight_at_end":0,"verified":0,"due":null,"unsent_at_end":null})
    );
    assert_eq!(json["status"], json!({"200":200}));
    assert_eq!(json["bytes"]["body"], 200 * 12);
}

#[test]
fn nginx_counts_what_drome_counts() {
    for keep in [&[][..], &["--no-keepalive"]] {
        let home = Home::new();
        let server = nginx(&home, "location / { return 200 'Hello World\\n'; }");
        let args = [&["-c", "64", "-t", "1", "-d", "500ms", "--expect-length", "12"], keep].concat();
        let (code, json) = load(server.address, "/hello", &args);
        assert_eq!((code, errors(&json, "total")), (0, 0), "{json}");
        assert_accounted(&json);
        let completed = json["requests"]["completed"].as_u64().unwrap();
        let logged = || {
            let log = std::fs::read_to_string(home.path().join("access.log")).unwrap();
            log.lines().filter(|line| line.contains("GET /hello")).count() as u64
        };
        crate::common::wait_for(|| logged() >= completed, "nginx's log");
        assert!(logged() - completed <= 64, "{} logged, {completed} completed", logged());
    }
}

#[test]
fn chunked_answers_of_node_are_read_whole() {
    let script = "require('http').createServer((q, r) => { r.write('Hello '); r.end('World\\n'); }).listen({port}, '127.0.0.1')";
    let server = start("node", &["-e", script]);
    let (code, json) = load(server.address, "/", &["-c", "8", "-n", "500", "--expect-sha256", HELLO_SHA256]);
    assert_eq!((code, errors(&json, "total")), (0, 0), "{json}");
    assert_accounted(&json);
}

#[test]
fn answers_of_python_that_end_with_the_connection_are_read_whole() {
    let script = "
from http.server import *
class H(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b'Hello '); self.wfile.write(b'World\\n')
    def log_message(self, *a): pass
ThreadingHTTPServer(('127.0.0.1', {port}), H).serve_forever()";
    let server = start("python3", &["-c", script]);
    let (code, json) = load(server.address, "/", &["-c", "4", "-n", "300", "--expect-sha256", HELLO_SHA256]);
    assert_eq!((code, errors(&json, "total")), (0, 0), "{json}");
    assert_accounted(&json);
}

#[test]
fn wrong_answers_are_errors_of_their_kind_and_void() {
    let server = serve(&[]);
    let wrong_sha = HELLO_SHA256.replace('d', "e");
    let folder = tempfile::tempdir().unwrap();
    let wrong_body = folder.path().join("body").display().to_string();
    std::fs::write(&wrong_body, "Hello Worle\n").unwrap();
    let cases = [
        ("status", &["--expect-status", "204"][..]),
        ("body", &["--expect-length", "13"]),
        ("body", &["--expect-sha256", &wrong_sha, "--verify", "all"]),
        ("body", &["--expect-body", &wrong_body, "--verify", "all"]),
    ];
    for (kind, expect) in cases {
        let (code, json) = load(server.address, "/hello", &[&["-c", "2", "-n", "50"][..], expect].concat());
        assert_eq!((code, errors(&json, kind), errors(&json, "total")), (4, 50, 50), "{json}");
        assert!(
            json["rate_per_s"] == 0.0 && json["verdict"]["valid"] == false && json["latency_ns"].is_null()
        );
        assert_accounted(&json);
    }
    let (code, json) = load(server.address, "/no-such-page", &["-c", "2", "-n", "50"]);
    assert_eq!((code, errors(&json, "status"), &json["status"]), (4, 50, &json!({"404":50})));
}

#[test]
fn an_open_load_counts_from_the_due_time() {
    let server = serve(&["--fault", "stall=100ms/1s"]);
    let (_, json) = load(server.address, "/hello", &["-c", "20", "--rate", "2000", "-d", "3s"]);
    let due = json["requests"]["due"].as_u64().unwrap();
    assert!((5_990..=6_010).contains(&due), "{json}");
    assert_accounted(&json);
    // A tenth of the requests is due in a stall. A generator that waits for answers would send but twenty into it.
    let latency = |p: &str| json["latency_ns"][p].as_f64().unwrap() / 1e6;
    assert!(latency("p99") > 80.0, "{json}");
    assert!(json["service_ns"]["p90"].as_f64().unwrap() / 1e6 < latency("p99"), "{json}");
    assert!(json["schedule_lag_ns"]["p50"].as_u64().is_some());
}

/// Windows of 300 ms and halts of 150 ms: about every other window has one across an end of it.
#[test]
fn a_halt_across_an_end_of_the_window_contradicts_nothing() {
    let server = serve(&["--fault", "stall=150ms/330ms"]);
    for _ in 0..8 {
        let (_, json) = load(server.address, "/hello", &["-c", "8", "--warmup", "100ms", "-d", "300ms"]);
        assert!(!json["verdict"]["reasons"].to_string().contains("Little"), "{json}");
    }
}

#[test]
fn poisson_arrivals_without_keep_alive() {
    let server = serve(&[]);
    let args =
        ["-c", "8", "--rate", "500", "--arrivals", "poisson", "--seed", "3", "-d", "1s", "--no-keepalive"];
    let (_, json) = load(server.address, "/pong", &args);
    assert!((400..600).contains(&json["requests"]["due"].as_u64().unwrap()), "{json}");
    assert_eq!(errors(&json, "total"), 0, "{json}");
    assert_accounted(&json);
}

#[test]
fn a_body_is_posted() {
    let server = serve(&[]);
    let (_, json) =
        load(server.address, "/hello", &["-c", "1", "-n", "3", "--body", "abc", "--expect-status", "405"]);
    assert_eq!(
        (errors(&json, "total"), &json["status"]),
        (0, &json!({"405":3})),
        "POST by default, and it is read whole"
    );
    let home = Home::new();
    let file = home.write("body", "abc").display().to_string();
    let (_, json) =
        load(server.address, "/hello", &["-c", "1", "-n", "3", "--body-file", &file, "-m", "GET"]);
    assert_eq!((errors(&json, "total"), &json["status"]), (0, &json!({"200":3})));
    let (_, json) = load(server.address, "/hello", &["-c", "1", "-n", "3", "-m", "HEAD", "-H", "X-A: b"]);
    assert_eq!((errors(&json, "total"), &json["bytes"]["body"]), (0, &json!(0)));
}

#[test]
fn the_warm_up_is_not_counted() {
    let server = serve(&["--spin", "1ms"]);
    let (_, json) = load(server.address, "/hello", &["-c", "1", "--warmup", "500ms", "-d", "500ms"]);
    let completed = json["requests"]["completed"].as_u64().unwrap();
    assert!((1..=500).contains(&completed), "half a second has room for 500 answers of 1 ms: {completed}");
    assert!(json["connect_ns"].is_null(), "connections were opened before the window");
    assert_accounted(&json);
}

#[test]
fn servers_that_break_the_rules_are_named_and_never_hang_the_load() {
    let endless: &'static [u8] =
        Box::leak([&b"HTTP/1.1 200 OK\r\nX: "[..], &[b'a'; 200_000]].concat().into());
    let cases: [(&'static [u8], bool, bool, &str); 6] = [
        (b"I am not HTTP\r\n\r\n", true, false, "protocol"),
        (endless, true, false, "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokok", true, false, "body"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", true, true, "receive"),
        (b"", true, true, "receive"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nnever ends", true, false, "timeout"),
    ];
    for (bytes, reads_first, closes, kind) in cases {
        let address = answers(bytes, reads_first, closes);
        let (_, json) = load(address, "/", &["-c", "2", "-d", "500ms", "--timeout", "200ms"]);
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
        assert!(errors(&json, kind) > 0, "{start}: {json}");
        assert!(!json["errors"]["causes"].as_object().unwrap().is_empty());
    }
}

#[test]
fn an_answer_before_any_request_is_noticed() {
    // It passes for the first request's; the answer to that one then comes when nothing is asked.
    let address = answers(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false, false);
    let (_, json) = load(address, "/", &["-c", "1", "--rate", "20", "-d", "500ms"]);
    assert!(errors(&json, "body") > 0, "{json}");
    let causes = json["errors"]["causes"].to_string();
    assert!(causes.contains("no request asked for"), "{causes}");
}

#[test]
fn a_refused_connection_is_said_at_once() {
    let nobody = format!("http://127.0.0.1:{}/", control::machine::ports::free_port().unwrap());
    let finished = run(&mut Home::new().drome(&["load", &nobody, "-d", "1h"]));
    finished.assert_err(1, &["refused", "is the server running"]);
}

#[test]
fn the_usual_connections_are_no_more_than_the_requests() {
    let server = serve(&[]);
    for (args, connections, requests) in
        [(&["-n", "10"][..], 10, 10), (&["-n", "200"], 64, 200), (&["-n", "10", "-c", "2"], 2, 10)]
    {
        let (_, json) = load(server.address, "/hello", args);
        let seen = (json["plan"]["connections"].as_u64(), json["requests"]["completed"].as_u64());
        assert_eq!(seen, (Some(connections), Some(requests)), "{args:?}: {json}");
    }
}

#[test]
fn too_few_descriptors_are_raised_or_named() {
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    let drome = env!("CARGO_BIN_EXE_drome");
    let with = |limits: &str, c: &str| {
        let script = format!("{limits}; exec {drome} load {url} -c {c} -n {c} --format json");
        run(std::process::Command::new("sh").args(["-c", &script]))
    };
    let raised = with("ulimit -Sn 100", "500");
    assert_eq!(raised.code, 0, "{}", raised.err);
    let refused = with("ulimit -n 100", "500");
    refused.assert_err(
        1,
        &["500 connections need 564 descriptors", "limit is 100", "ulimit -Hn 564", "fewer connections"],
    );
}

#[test]
fn an_interrupted_load_reports_what_it_has() {
    let server = Counted::new(&["--fault", "delay=5ms"]);
    let home = Home::new();
    let url = server.url();
    let mut command = home.drome(&["load", &url, "-d", "1h", "-c", "2", "--format", "json"]);
    let child =
        process::spawn(command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()));
    process::interrupt_at_work(&child, || server.answers() > 10);
    let finished = process::ended(child);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!((finished.code, &json["verdict"]["valid"]), (130, &json!(false)));
    // Of the answers that were logged by then, each connection may not have read its last.
    assert!(json["requests"]["completed"].as_u64().unwrap() > 8, "{json}");
    assert_accounted(&json);
}
