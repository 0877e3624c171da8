//! `drome wrk` beside wrk itself, at the same time, against the same servers: the same lines, the same requests, the same ends.

use crate::common::counted::Counted;
use crate::common::tools::{Ended, drome, real, together, wire};
use crate::common::{Home, process, serve};
use dialects::Found;
use std::process::Command;

/// Answers come after a moment: whoever asks as fast as it can leaves the cores to other tests.
const LATER: [&str; 2] = ["--fault", "delay=2ms"];

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A report with every figure, its unit included, replaced: what is left must be equal.
fn shape(report: &str) -> Vec<String> {
    let is_figure = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) || word.starts_with("-nan");
    let word = |word: &str| {
        let sign = if word.ends_with(',') { "#," } else { "#" };
        if is_figure(word) { sign.to_owned() } else { word.to_owned() }
    };
    let lines = report.lines();
    lines.map(|line| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")).collect()
}

/// How wide the lines of the table and of the distribution are.
fn widths(report: &str) -> Vec<usize> {
    let is_row =
        |line: &&str| line.contains("Stats ") || line.trim_end().ends_with('%') || line.contains("% ");
    report.lines().filter(is_row).map(str::len).collect()
}

fn reading(ended: &Ended) -> Found {
    let mut found = dialects::read(&ended.out, "wrk");
    assert_eq!(found.len(), 1, "{ended:?}");
    found.remove(0)
}

/// Both, with the same arguments, and what is the same in both.
fn both(args: &[&str]) -> [Ended; 2] {
    let (theirs, ours) = together(|| real("wrk", args), || drome("wrk", args));
    assert_eq!(shape(&theirs.out), shape(&ours.out), "{args:?}\n{}\n{}", theirs.out, ours.out);
    assert_eq!(widths(&theirs.out), widths(&ours.out), "{args:?}\n{}\n{}", theirs.out, ours.out);
    assert_eq!(theirs.code, ours.code, "{args:?}\n{theirs:?}\n{ours:?}");
    [theirs, ours]
}

/// The same, of a measurement: bytes for each answer are equal, and so are the kinds of errors.
fn measured(args: &[&str]) -> [Found; 2] {
    let found = both(args).map(|ended| reading(&ended));
    let [theirs, ours] = &found;
    for name in ["threads", "connections", "planned_duration_ns"] {
        assert_eq!(theirs.reading.get(name), ours.reading.get(name));
    }
    let of_answer = |found: &Found| {
        Some(found.reading.get("received_bytes")? / found.reading.get("completed").filter(|n| *n > 0.0)?)
    };
    if let (Some(theirs), Some(ours)) = (of_answer(theirs), of_answer(ours)) {
        // Two decimals, and an answer that was cut off at the end.
        assert!((theirs / ours - 1.0).abs() < 0.05, "{args:?}: {theirs} {ours} bytes for an answer");
    }
    let seconds = |found: &Found| found.reading.get("duration_ns").unwrap() / 1e9;
    assert!((seconds(theirs) - seconds(ours)).abs() < 5.0);
    found
}

fn file(home: &Home, name: &str, text: &str) -> String {
    home.write(name, text).display().to_string()
}

#[test]
fn reports_have_the_same_lines() {
    let server = serve(&LATER);
    let url = format!("http://{}/hello", server.address);
    for args in [
        &["-d1s"][..],
        &["--latency", "-t1", "-c1", "-d1"],
        &["-t2", "-c5", "-d", "1s", "-L"],
        &["--threads=1", "--conn", "3", "--dur", "1s", "--header", "A: b"],
    ] {
        let found = measured(&[args, &[&url]].concat());
        assert!(found.iter().all(|f| f.reading.get("completed") > Some(10.0) && f.reading.errors.is_empty()));
    }
}

#[test]
fn statuses_are_counted_alike() {
    let server = serve(&LATER);
    for found in measured(&["-d1s", &format!("http://{}/nothing", server.address)]) {
        assert_eq!(found.reading.errors["status"] as f64, found.reading.get("completed").unwrap());
    }
    let server = serve(&[&LATER[..], &["--fault", "status=302@1"]].concat());
    for found in measured(&["-d1s", &format!("http://{}/hello", server.address)]) {
        assert!(found.reading.errors.is_empty());
    }
}

#[test]
fn connections_that_close_are_counted_alike() {
    for (fault, is_error) in [("close-after=3", false), ("drop-after=3", true), ("chunked", false)] {
        let server = serve(&[&LATER[..], &["--fault", fault]].concat());
        for found in measured(&["-d1s", "-t1", "-c2", &format!("http://{}/hello", server.address)]) {
            let read = found.reading.errors.get("read").copied();
            assert_eq!(read.is_some_and(|n| n > 0), is_error, "{fault}: {found:?}");
            assert!(found.reading.get("completed") > Some(10.0), "{fault}: {found:?}");
        }
    }
}

#[test]
fn slow_answers_are_counted_alike() {
    let server = serve(&["--fault", "delay=1300ms"]);
    let url = format!("http://{}/hello", server.address);
    for found in measured(&["-d3s", "-t1", "-c2", "--timeout", "1s", "--latency", &url]) {
        assert!(
            found.reading.errors["timeout"] >= 1 && found.reading.below.contains_key("latency_ns_max"),
            "{found:?}"
        );
    }
    let server = serve(&["--fault", "delay=1m"]);
    let url = format!("http://{}/hello", server.address);
    for found in measured(&["-d1s", "-t1", "-c2", &url]) {
        assert_eq!((found.reading.get("completed"), found.reading.get("rate_per_s")), (Some(0.0), Some(0.0)));
    }
}

#[test]
fn tls() {
    let server = serve(&[&LATER[..], &["--tls"]].concat());
    let found = measured(&["-d1s", "-t1", "-c2", &format!("https://{}/hello", server.address)]);
    assert!(found.iter().all(|f| f.reading.get("completed") > Some(10.0) && f.reading.errors.is_empty()));
}

#[test]
fn scripts_do_the_same() {
    let (home, server) = (Home::new(), serve(&LATER));
    let url = format!("http://{}/hello", server.address);
    let scripts = [
        ("bad.lua", "x = = 2"),
        (
            "prints.lua",
            "print('loaded', 1, nil); init = function(a) for i = 0, #a do io.write(i, '\\n') end end",
        ),
        ("delay.lua", "delay = function() return 100 end"),
        (
            "pipe.lua",
            "init = function() local one = wrk.format(nil, '/hello'); all = one .. one .. one end
                      request = function() return all end",
        ),
        (
            "done.lua",
            "done = function(s, l, r) print(s.requests > 0, s.errors.status, l.max > 0, l:percentile(50) > 0,
                      #l > 0, l.nothing, r.mean > 0, s.duration > 0, l.stdev >= 0, type(l(1))) end",
        ),
    ];
    for (name, text) in scripts {
        let path = file(&home, name, text);
        let [theirs, ours] = both(&["-d1s", "-t2", "-c2", "-s", &path, &url, "--", "x", "y"]);
        assert_eq!(theirs.err, ours.err.split("drome:").next().unwrap(), "{name}");
        let completed = [&theirs, &ours].map(|ended| reading(ended).reading.get("completed").unwrap());
        assert!(completed.iter().all(|n| *n > 5.0), "{name}: {completed:?}");
        if name == "delay.lua" {
            assert!(completed.iter().all(|n| *n <= 22.0), "{completed:?}");
        }
    }
}

/// The request line, the fields in any order, since wrk's changes from run to run, and the body.
fn sent(request: &str) -> (String, Vec<String>, String) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut fields: Vec<String> = head.split("\r\n").map(str::to_owned).collect();
    let line = fields.remove(0);
    fields.sort();
    (line, fields, body.to_owned())
}

#[test]
fn requests_are_the_same() {
    let home = Home::new();
    let post = file(
        &home,
        "post.lua",
        "wrk.method = 'POST'; wrk.body = 'a=b'; wrk.headers['Content-Type'] = 'x'; wrk.headers['host'] = 'low'",
    );
    let cases: [(&[&str], &str); 5] = [
        (&[], ""),
        (&["-H", "A: 1", "-H", "A: 2", "-H", "B:3", "-H", "no", "-H", "C: a: b"], "/x?y=1#f"),
        (&["-H", "Host: me", "-H", "Content-Length: 3"], "?q=1"),
        (&["-H", "host: me", "-H", "Empty: "], "/%20/"),
        (&["-s", &post], "/p"),
    ];
    for (args, path) in cases {
        let run = |program: fn(&str, &[&str]) -> Ended| {
            wire(
                |url| {
                    let url = format!("{url}{path}");
                    program("wrk", &[args, &["-d1s", "-t1", "-c1", &url]].concat());
                },
                OK,
                false,
            )
        };
        let (theirs, ours) = together(|| run(real), || run(drome));
        assert_eq!(sent(&theirs), sent(&ours), "{args:?} {path}");
    }
}

#[test]
fn what_is_wrong_is_said_alike() {
    let (home, server) = (Home::new(), serve(&LATER));
    let url = format!("http://{}/hello", server.address);
    let scripts = [
        ("init.lua", "init = function() error('boo') end"),
        ("request.lua", "request = function() error('boo') end"),
        ("cut.lua", "request = function() return 'GET / HTT' end"),
        ("method.lua", "request = function() return 'FETCH / HTTP/1.1\\r\\n\\r\\n' end"),
    ];
    let scripts: Vec<String> = scripts.iter().map(|(name, text)| file(&home, name, text)).collect();
    let url = url.as_str();
    let mut cases: Vec<Vec<&str>> = scripts.iter().map(|path| vec!["-s", path, url]).collect();
    cases.extend([
        vec![],
        vec!["-h"],
        vec!["--help"],
        vec!["-z", url],
        vec!["-r", url],
        vec!["--foo=1", url],
        vec!["-c"],
        vec!["--threads"],
        vec!["--t", "1", url],
        vec!["--latency=3", url],
        vec!["-t3", "-c2", url],
        vec!["-t0", url],
        vec!["-c0", url],
        vec!["-d", "1x", url],
        vec!["-d", "0", url],
        vec!["-c", "1kb", url],
        vec!["--timeout", "1ms", url],
        vec!["nourl"],
        vec!["http://"],
        vec!["http://127.0.0.1:99999/"],
        vec!["http://127.0.0.1:80:80/"],
        vec!["http://a b/"],
        vec!["h1://127.0.0.1/"],
        vec!["http://127.0.0.1:1/"],
        vec!["http://[::1]:1/"],
        vec!["http://127.0.0.1:/"],
        vec!["gopherish://127.0.0.1/"],
        vec!["http://no-such-host.invalid/"],
    ]);
    for args in cases {
        let (theirs, ours) = (real("wrk", &args), drome("wrk", &args));
        assert_eq!((theirs.code, theirs.out, theirs.err), (ours.code, ours.out, ours.err), "{args:?}");
    }
}

#[test]
fn a_script_that_is_not_there_changes_nothing() {
    let server = serve(&LATER);
    let args =
        ["-d1s", "-t1", "-c1", "-s", "/no/such/script.lua", &format!("http://{}/hello", server.address)];
    let [theirs, ours] = both(&args);
    assert_eq!(theirs.err, ours.err.split("drome:").next().unwrap());
}

#[test]
fn the_version_is_told_and_then_the_usage() {
    let [theirs, ours] = [real("wrk", &["-v"]), drome("wrk", &["-v"])];
    let rest = |ended: &Ended| ended.out.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!((rest(&theirs), theirs.code), (rest(&ours), ours.code));
    assert!(ours.out.starts_with("wrk 4.1.0 [epoll] Copyright (C) 2012 Will Glozer\n"), "{}", ours.out);
}

#[test]
fn an_interrupted_run_reports_what_it_has() {
    let ours = Command::new(env!("CARGO_BIN_EXE_drome"));
    let programs = [(Command::new("wrk"), &[][..]), (ours, &["wrk"][..])];
    let ended = programs.map(|(mut program, first)| {
        let server = Counted::new(&["--fault", "delay=5ms"]);
        let url = server.url();
        let args = [first, &["-d4m", "-t1", "-c2", &url]].concat();
        let child = process::spawn_heard(program.args(args));
        process::interrupt_at_work(&child, || server.answers() > 10);
        let finished = process::ended(child);
        Ended {
            code: Some(finished.code),
            out: finished.out.replace(&server.server.address.to_string(), "127.0.0.1:80"),
            err: finished.err,
        }
    });
    let [theirs, ours] = &ended;
    assert_eq!((shape(&theirs.out), theirs.code), (shape(&ours.out), ours.code), "{ours:?}");
    // It had four minutes.
    for ended in [theirs, ours] {
        let reading = reading(ended).reading;
        assert!(reading.get("duration_ns").unwrap() < 200e9, "{ended:?}");
        assert!(reading.get("completed").unwrap() > 8.0, "{ended:?}");
    }
}

/// wrk2 is in no registry: drome alone.
#[test]
fn wrk2_keeps_its_rate() {
    let server = serve(&LATER);
    let ended =
        drome("wrk2", &["-t1", "-c4", "-d2s", "-R200", "-L", &format!("http://{}/hello", server.address)]);
    let found = dialects::read(&ended.out, "wrk2");
    assert_eq!((found.len(), ended.code), (1, Some(0)), "{ended:?}");
    let completed = found[0].reading.get("completed").unwrap();
    // Of a machine that stood still at the end, the last of them are not there.
    assert!((100.0..=401.0).contains(&completed), "{}", ended.out);
    // Within two seconds no rate of a thread is sampled, and wrk2 prints what C makes of 0 / 0.
    let is_of_threads = |why: &String| why.contains("nan");
    assert!(found[0].strange.iter().all(is_of_threads), "{:?}", found[0].strange);
}
