//! Real servers of gRPC as judges: whatever drome says it called, they say they were called; a call that fails is no answer.

use super::judge::{GRPC_GO, GRPC_JAVA, GRPC_PYTHON, Judge, RunningJudge};
use crate::common::{Home, assert_accounted, back_ends, run, wait_for};
use serde_json::Value;

/// A way of calling: the scheme, the method, the number of bytes of the message, further arguments.
struct Way {
    scheme: &'static str,
    method: &'static str,
    bytes: usize,
    args: &'static [&'static str],
}

const fn plain(method: &'static str, bytes: usize, args: &'static [&'static str]) -> Way {
    Way { scheme: "http", method, bytes, args }
}

const fn tls(method: &'static str, bytes: usize, args: &'static [&'static str]) -> Way {
    Way { scheme: "https", method, bytes, args }
}

const WAYS: [Way; 7] = [
    plain("Echo", 0, &["-n", "500"]),
    plain("Echo", 100, &["-n", "5000", "--streams", "16"]),
    plain("Echo", 100, &["-n", "500", "--streams", "16", "--requests-per-connection", "21"]),
    plain("Echo", 100, &["-n", "100", "--no-keepalive"]),
    // More than the window that a stream has at first.
    plain("Echo", 100_000, &["-n", "200", "--streams", "3"]),
    plain("Fail", 100, &["-n", "200", "--streams", "3"]),
    // Time is up while calls are under way.
    plain("Echo", 100, &["-d", "300ms", "--streams", "8"]),
];

const WAYS_WITH_TLS: [Way; 3] = [
    tls("Echo", 100, &["-n", "500", "--streams", "4"]),
    tls("Fail", 0, &["-n", "200"]),
    tls("Echo", 100, &["--streams", "4", "--arrivals", "poisson", "--ramp", "500..2k/300ms"]),
];

/// What drome says of one way of calling.
struct Claim {
    /// The method, whose service no other way has.
    target: String,
    ended: u64,
    sent: u64,
}

fn call(court: &RunningJudge, number: usize, way: &Way, io: &str) -> Claim {
    let address = if way.scheme == "https" { court.tls } else { court.plain };
    let (target, url) = (format!("/{io}.Way{number}/{}", way.method), format!("{}://{address}", way.scheme));
    let home = Home::new();
    let message: Vec<u8> = (0..way.bytes).map(|at| (at % 251) as u8).collect();
    let data = home.path().join("message");
    std::fs::write(&data, message).unwrap();
    let (data, cacert) = (data.display().to_string(), court.cacert());
    let (io_args, data_args) = (["-c", "8", "--io", io, "--format", "json"], ["--data", data.as_str()]);
    let checks = ["--expect-body", data.as_str(), "--verify", "all"];
    let mut load = home.drome(&["load", &url, "--grpc", &target]);
    load.args(io_args).args(way.args).args(checks);
    // An empty message needs no file.
    load.args(if way.bytes > 0 { &data_args[..] } else { &[] });
    let trust = ["--cacert", cacert.as_str()];
    let finished = run(load.args(if way.scheme == "https" { &trust[..] } else { &[] }));
    let json: Value = serde_json::from_str(&finished.out).unwrap_or_else(|e| panic!("{e}: {}", finished.err));
    assert_accounted(&json);
    let n = |of: &str| json["requests"][of].as_u64().unwrap();
    let (completed, sent) = (n("completed"), n("sent"));
    let errors = json["errors"]["total"].as_u64().unwrap();
    assert_eq!((json["plan"]["http"].as_str(), json["plan"]["io"].as_str()), (Some("gRPC"), Some(io)));
    if way.method == "Fail" {
        assert_eq!((finished.code, completed, errors), (4, 0, sent), "{json}");
        let cause = &json["errors"]["causes"]["status: grpc-status 13 (INTERNAL) instead of 0"];
        assert_eq!((cause.as_u64(), json["errors"]["status"].as_u64()), (Some(sent), Some(sent)), "{json}");
    } else {
        // Void is no failure here: on a machine that is busy otherwise, sends lag.
        assert!(matches!(finished.code, 0 | 4) && errors == 0 && completed > 0, "{} {json}", finished.err);
    }
    if let ["-n", wanted, ..] = way.args {
        assert_eq!((completed + errors).to_string(), *wanted, "{:?}", way.args);
        assert_eq!(sent.to_string(), *wanted, "{:?}", way.args);
    }
    Claim { target, ended: completed + errors, sent }
}

/// Calls in every way, and compares with what the server has counted.
fn judged(judge: &'static Judge, ways: &[&[Way]]) {
    let mut court = judge.sit();
    let ways: Vec<&Way> = ways.iter().copied().flatten().collect();
    let cases = back_ends().iter().flat_map(|io| ways.iter().enumerate().map(move |(n, way)| (n, *way, io)));
    let claims: Vec<Claim> = cases.map(|(n, way, io)| call(&court, n, way, io)).collect();
    for Claim { target, ended, .. } in &claims {
        let logged = || court.logged(target, "");
        wait_for(|| logged()[0].1 >= *ended, &format!("{ended} calls of {target} in {:?}", logged()));
    }
    court.rise();
    for Claim { target, ended, sent } in &claims {
        for (name, logged) in court.logged(target, "") {
            assert!(
                (*ended..=*sent).contains(&logged),
                "{name} was called {target} {logged} times: {sent} sent, {ended} ended"
            );
        }
    }
}

#[test]
fn python_was_called_what_drome_says_it_sent() {
    judged(&GRPC_PYTHON, &[&WAYS, &WAYS_WITH_TLS]);
}

#[test]
fn java_was_called_what_drome_says_it_sent() {
    judged(&GRPC_JAVA, &[&WAYS]);
}

#[test]
fn go_was_called_what_drome_says_it_sent() {
    if GRPC_GO.is_built() {
        judged(&GRPC_GO, &[&WAYS, &WAYS_WITH_TLS]);
    }
}
