//! `drome verify`, `install`, `new contender` and `run --as-published`, with real servers.

use crate::common::catalog::{keep_alive, study};
use crate::common::{Finished, Home, assert_has, run};
use serde_json::Value;

/// A Python server whose answers are the rest of the script's.
const SCRIPT: &str = r"
from http.server import *
import sys
class H(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def reply(self, status, kind, body):
        self.send_response(status); self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body))); self.end_headers(); self.wfile.write(body)
    def do_GET(self):
        path = self.path.split('?')[0]
        if path == '/hello': self.reply(200, 'text/plain', HELLO)
        elif path == '/pong': self.reply(200, 'text/plain', b'PONG')
        else: self.reply(UNKNOWN, 'text/plain', b'?')
    def log_message(self, *_): pass
ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()";

const CONTENDER: &str = r#"
title = "TITLE"
language = "Python"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.2.3"]
[run]
command = ["python3", "{src}/server.py", "{port}"]
[settings]
logging = "off"
[tuned]
because = "its manual: https://example.org/manual"
[tuned.settings]
workers = "1 of them"
[serves]
hello = "/hello"
pong = "/pong"
"#;

fn contender(home: &Home, name: &str, hello: &str, unknown: &str) {
    let folder = format!("own/contenders/{name}");
    home.write(&format!("{folder}/contender.toml"), &CONTENDER.replace("TITLE", name));
    let script = SCRIPT.replace("HELLO", hello).replace("UNKNOWN", unknown);
    home.write(&format!("{folder}/src/server.py"), &script);
}

fn drome(home: &Home, args: &[&str]) -> Finished {
    std::fs::create_dir_all(home.path().join("own")).unwrap();
    run(&mut home.with_catalog(args))
}

#[test]
fn the_reference_serves_workloads_of_ones_own() {
    let home = Home::new();
    let served = || {
        let finished = drome(&home, &["verify", "reference", "--format", "json"]);
        assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
        let json: Value = serde_json::from_str(&finished.out).unwrap();
        let row = json.as_array().or(json["contenders"].as_array()).unwrap()[0].clone();
        assert_eq!(row["right"], row["served"], "{row}");
        row["served"].as_u64().unwrap()
    };
    let before = served();
    let workload = "title = \"HTML, 2 KB\"\ncontent_type = \"text/html\"\nfile = \"html-2k.html\"\nbody = { html_bytes = 2000 }\n";
    home.write("own/workloads/html-2k.toml", workload);
    assert_eq!(served(), before + 1);
}

#[test]
fn catalog_verify_tells_all_that_is_wrong_with_each_on_both_tracks() {
    let home = Home::new();
    contender(&home, "good", r"b'Hello World\n'", "404");
    contender(&home, "bad", r"b'Hello Worle\n'", "200");
    let finished = drome(&home, &["verify", "good"]);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    assert_eq!(finished.out.matches("2 of 2").count(), 2, "{}", finished.out);
    assert!(finished.out.contains("good (tuned)") && finished.out.contains("1.2.3"), "{}", finished.out);

    let finished = drome(&home, &["verify", "good", "bad", "--format", "json"]);
    assert_eq!(finished.code, 3, "{}", finished.err);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    let of = |name: &str| json.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((of("good")["right"].as_u64(), of("bad@tuned")["right"].as_u64()), (Some(2), Some(1)));
    let wrong = of("bad")["wrong"].to_string();
    assert_has(
        &wrong,
        &["the body differs from byte 10 on", "in fragments", "?q=", "status 200 instead of 404"],
    );
    assert!(of("good")["hello_wire_bytes"].as_u64().unwrap() > 100);
    let tuned = drome(&home, &["verify", "good", "--tuned", "--format", "json"]);
    let tuned: Value = serde_json::from_str(&tuned.out).unwrap();
    assert_eq!((tuned.as_array().unwrap().len(), &tuned[0]["track"]), (1, &Value::from("tuned")));
    home.assert_clean();
}

/// Closes a connection on which a request comes in pieces, whenever it gets to read them: the kernel counts the segments with
/// data (`tcpi_data_segs_in`, at byte 152 of `struct tcp_info`).
const FRAGILE: &str = r"
    def handle_one_request(self):
        import socket, struct, time
        peek = lambda: self.connection.recv(65536, socket.MSG_PEEK)
        while (seen := peek()) and b'\r\n\r\n' not in seen: time.sleep(0.001)
        info = self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        if seen and struct.unpack_from('I', info, 152)[0] > 1: self.close_connection = True
        else: super().handle_one_request()
    def log_message";

#[test]
fn a_known_fault_is_told_and_a_declaration_that_no_longer_holds_is_wrong() {
    let home = Home::new();
    for (name, is_fragile, is_declared) in
        [("known", true, true), ("unknown", true, false), ("mended", false, true)]
    {
        contender(&home, name, r"b'Hello World\n'", "404");
        let folder = format!("own/contenders/{name}");
        if is_fragile {
            let script = SCRIPT.replace("HELLO", r"b'Hello World\n'").replace("UNKNOWN", "404");
            home.write(
                &format!("{folder}/src/server.py"),
                &script.replace("    def log_message", &FRAGILE[1..]),
            );
        }
        if is_declared {
            let faults = "[faults]\nfragments = \"pieces end it\"\n[serves]";
            let text = CONTENDER.replace("TITLE", name).replace("[serves]", faults);
            home.write(&format!("{folder}/contender.toml"), &text);
        }
    }
    let finished = drome(&home, &["verify", "known"]);
    finished.assert_out(
        0,
        &["ok except for a known fault", "known, known fault: hello (/hello, in fragments)", "pieces end it"],
    );
    let finished = drome(&home, &["verify", "unknown"]);
    finished.assert_out(3, &["hello (/hello, in fragments): "]);
    let finished = drome(&home, &["verify", "mended"]);
    finished.assert_out(3, &["remove `fragments` from [faults]"]);
    home.assert_clean();
}

#[test]
fn who_is_absent_is_named_with_the_command_that_gets_him() {
    let home = Home::new();
    let text = CONTENDER.replace("TITLE", "absent").replace(
        "[version]",
        "[install]\nneeds = [\"no-such-compiler\"]\nhint = \"install it from https://example.org\"\nminutes = 3\n[version]",
    );
    home.write("own/contenders/absent/contender.toml", &text);
    home.write("own/contenders/absent/src/server.py", "");
    let why = "`no-such-compiler` is not on PATH; get it: install it from https://example.org";
    let finished = drome(&home, &["verify", "absent"]);
    finished.assert_out(1, &[why]);
    let finished = drome(&home, &["install", "absent", "reference"]);
    finished.assert_out(1, &[why]);
    finished.assert_err(1, &["about 3 min"]);
    assert_eq!(drome(&home, &["install", "reference"]).code, 0);
    let finished = drome(&home, &["install", "no-such-one"]);
    finished.assert_err(2, &["there is no contender `no-such-one`"]);
}

#[test]
fn a_build_that_fails_is_told_with_its_last_lines_and_keeps_nobody_else_waiting() {
    let home = Home::new();
    contender(&home, "good", r"b'Hello World\n'", "404");
    let with_build = |command: &str| {
        CONTENDER
            .replace("TITLE", "x")
            .replace("[version]", &format!("[build]\ncommand = {command}\n[version]"))
    };
    home.write(
        "own/contenders/broken/contender.toml",
        &with_build(r#"["sh", "-c", "echo out of luck >&2; exit 7"]"#),
    );
    home.write(
        "own/contenders/fine/contender.toml",
        &with_build(r#"["sh", "-c", "echo x >> {build}/count"]"#),
    );
    for name in ["broken", "fine"] {
        let script = SCRIPT.replace("HELLO", r"b'Hello World\n'").replace("UNKNOWN", "404");
        home.write(&format!("own/contenders/{name}/src/server.py"), &script);
    }
    for _ in 0..2 {
        let finished = drome(&home, &["install", "broken", "fine", "--yes"]);
        finished.assert_err(1, &["out of luck"]);
        assert!(
            finished.out.contains("1.2.3") && finished.out.contains("missing: it is not built yet"),
            "{}",
            finished.out
        );
    }
    let folders = std::fs::read_dir(home.path().join("cache/contenders")).unwrap().flatten();
    let ready = folders.filter_map(|f| std::fs::read_to_string(f.path().join("build/count")).ok());
    assert_eq!(ready.collect::<String>(), "x\n", "what is built is not built again");
}

#[test]
fn what_another_compiler_built_is_built_anew_and_the_compiler_stands_beside_the_version() {
    let home = Home::new();
    contender(&home, "compiled", r"b'Hello World\n'", "404");
    let compiler = home.write("compiler", "cc (Debian) 12.1");
    let tables = format!(
        "[build]\ncommand = [\"sh\", \"-c\", \"cp '{0}' {{build}}/with\"]\n\
         [toolchain]\nname = \"cc\"\ncommand = [\"cat\", \"{0}\"]\nafter = \") \"\n[version]",
        compiler.display()
    );
    let text = CONTENDER.replace("TITLE", "compiled").replace("[version]", &tables);
    home.write("own/contenders/compiled/contender.toml", &text);
    let finished = drome(&home, &["install", "compiled", "--yes"]);
    finished.assert_out(0, &["1.2.3 (cc 12.1)"]);
    home.write("compiler", "cc (Debian) 14.2");
    let finished = drome(&home, &["verify", "compiled"]);
    let words = "it was built as 1.2.3 (cc 12.1) and is 1.2.3 (cc 14.2) now";
    finished.assert_out(1, &[words]);
    let finished = drome(&home, &["verify", "compiled", "--install", "--yes"]);
    finished.assert_out(0, &["1.2.3 (cc 14.2)"]);
    let folders = std::fs::read_dir(home.path().join("cache/contenders")).unwrap().flatten();
    let with = folders.filter_map(|f| std::fs::read_to_string(f.path().join("build/with")).ok());
    assert_eq!(with.collect::<String>(), "cc (Debian) 14.2");
    home.assert_clean();
}

#[test]
fn a_new_contender_verifies_as_it_is() {
    let home = Home::new();
    // Each takes its language: one that is missing fails here, and `cargo xtask test` gets it.
    for language in ["python", "node", "c-server", "rust", "perl"] {
        let name = format!("my-{language}");
        let finished = drome(&home, &["new", "contender", &name, "--from", language]);
        assert_eq!(finished.code, 0, "{}", finished.err);
        let again = drome(&home, &["new", "contender", &name, "--from", language]);
        again.assert_err(2, &["already exists"]);
        let finished = drome(&home, &["verify", &name, "--install", "--yes"]);
        finished.assert_out(0, &[&name]);
    }
    let finished = drome(&home, &["new", "contender", "x", "--from", "pyhton"]);
    finished.assert_err(2, &["did you mean `python`?"]);
    let finished = drome(&home, &["new", "contender", "../x", "--from", "python"]);
    finished.assert_err(2, &["use lower-case letters"]);
    home.assert_clean();
}

/// What a study of a page says besides.
const PAGE: &str = r#"
[published]
metric = "rate_per_s"
hardware = "paper"
[published.cells."keep-alive"]
good = 351.5
other = 120
[published.details."keep-alive"]
good = { latency_mean_ms = 28.45 }
"#;

const AS_PUBLISHED: &str = r#"
[[as_published]]
cell = "keep-alive"
command = ["ab", "-c", "2", "-n", "50", "{url}"]
[as_published.contenders.other]
command = ["http_load", "-p", "2", "-f", "20", "{urls}"]
"#;

/// The study of a page with two contenders on both tracks.
fn page() -> String {
    let study = study(&["good", "other"], &keep_alive(2), &[("rounds", "[2, 2]")]);
    let unequal = "tracks = [\"default\", \"tuned\"]\nunequal = [\"The other had twice the memory.\"]\n";
    format!("{unequal}{study}{PAGE}")
}

/// Both sittings are kept, can be shown again, and are no runs that others are compared with.
fn assert_kept(home: &Home, latest: &str) {
    let listed = drome(home, &["list", "runs"]).out;
    assert_eq!(listed.matches("  page  as published: 2 command lines\n").count(), 2, "{listed}");
    let again = drome(home, &["report", "--format", "json"]);
    assert_eq!((again.code, again.out.as_str()), (0, latest), "{}", again.err);
    let id = listed.lines().last().unwrap().split(' ').next().unwrap();
    let first = drome(home, &["report", id]);
    assert_has(&first.out, &["page: A small study, as published", id, "351.5", "no ranking"]);
    for args in [&["report", id, "--format", "csv"][..], &["compare", id, id]] {
        let finished = drome(home, args);
        finished.assert_err(2, &["run once"]);
    }
    let finished = drome(home, &["run", "page", "--resume"]);
    finished.assert_err(2, &["no run of page to resume"]);
}

#[test]
fn a_page_is_measured_as_it_did_and_fairly_and_both_stand_beside_its_figures() {
    let home = Home::new();
    contender(&home, "good", r"b'Hello World\n'", "404");
    contender(&home, "other", r"b'Hello World\n'", "404");
    home.write_study("page", &(page() + AS_PUBLISHED));
    let finished = drome(&home, &["run", "page", "--as-published", "--format", "markdown"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert_has(
        &finished.out,
        &[
            "$ ab -c 2 -n 50 http://127.0.0.1:",
            "Requests per second:",
            "$ http_load -p 2 -f 20",
            "20 fetches",
            "351.5",
            "too few figures to compare the two rankings",
        ],
    );
    let finished = drome(&home, &["run", "page", "--as-published", "--format", "json"]);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    assert_eq!(
        (json[0]["completed"].as_u64(), json[1]["completed"].as_u64()),
        (Some(50), Some(20)),
        "{json}"
    );
    assert!(json[0]["rss_max_bytes"].as_u64().is_none_or(|n| n > 1_000_000));
    assert_kept(&home, &finished.out);

    let finished = drome(&home, &["run", "page", "--format", "markdown"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert_has(
        &finished.out,
        &[
            "## Published and measured",
            "rank then",
            "| good | latency mean ms | 28.45 | ",
            "The other had twice the memory.",
            "## How each contender was set up",
            "good (tuned)",
            "https://example.org/manual",
            "on the wire",
        ],
    );
    home.write_study("none", &page());
    let finished = drome(&home, &["run", "none", "--as-published"]);
    finished.assert_err(2, &["does not say how its page measured"]);
    home.assert_clean();
}

#[test]
fn a_page_of_which_a_server_gives_no_figure_is_not_sound() {
    let home = Home::new();
    contender(&home, "good", r"b'Hello World\n'", "404");
    contender(&home, "other", r"b'Hello World\n'", "404");
    home.write_study("page", &(page() + AS_PUBLISHED));
    // It is there, and ends at once.
    let path = home.path().join("own/contenders/other/contender.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("[run]\ncommand = [", "[run]\ncommand = [\"false\", ")).unwrap();
    let finished = drome(&home, &["run", "page", "--as-published", "--format", "json"]);
    assert_eq!(finished.code, 4, "{}", finished.err);
    let json: Value = serde_json::from_str(&finished.out).unwrap();
    assert!(json[0]["rate_per_s"].is_f64() && json[1]["rate_per_s"].is_null(), "{json}");
    assert!(finished.err.contains("other (keep-alive) has no figure"), "{}", finished.err);
    // One that is not on this machine is no failure of it.
    std::fs::write(&path, text.replace("[run]", "[install]\nneeds = [\"no-such-program\"]\n[run]")).unwrap();
    let finished = drome(&home, &["run", "page", "--as-published", "--format", "json"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
}
