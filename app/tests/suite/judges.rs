//! Real servers as judges of the load engine: whatever it says it sent, their own logs say they were asked.

mod grpc;
mod hyper;
pub mod judge;

use crate::common::{Home, assert_accounted, back_ends, is_there_or_told, run, wait_for};
use judge::{
    APACHE, CADDY, GORILLA, H2O, HAPROXY, Judge, LIGHTTPD, NETTY, NGHTTPD, NGINX, NODE, PYTHON, WEBSOCKETS,
    WS,
};
use serde_json::Value;
use std::net::SocketAddr;

const HELLO_SHA256: &str = "d2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26";

/// A way of asking.
struct Way {
    scheme: &'static str,
    path: &'static str,
    args: &'static [&'static str],
}

const fn plain(path: &'static str, args: &'static [&'static str]) -> Way {
    Way { scheme: "http", path, args }
}

const fn tls(path: &'static str, args: &'static [&'static str]) -> Way {
    Way { scheme: "https", path, args }
}

const WAYS: [Way; 17] = [
    plain("/hello", &["-n", "500"]),
    plain("/hello", &["-n", "500", "--no-keepalive"]),
    plain("/hello", &["-n", "500", "--requests-per-connection", "7"]),
    plain("/hello", &["-n", "500", "--pipeline", "8"]),
    plain("/hello", &["-n", "500", "--pipeline", "8", "--bursts"]),
    plain("/hello", &["-n", "500", "--pipeline", "8", "--requests-per-connection", "21"]),
    plain("/hello", &["-n", "500", "--http", "1.0"]),
    plain("/hello", &["-n", "500", "--http", "1.0", "--no-keepalive"]),
    plain("/chunked", &["-n", "48"]),
    plain("/chunked", &["-n", "48", "--pipeline", "3"]),
    // An answer without a length ends with its connection.
    plain("/chunked", &["-n", "48", "--http", "1.0"]),
    tls("/hello", &["-n", "500"]),
    tls("/hello", &["-n", "100", "--no-keepalive"]),
    tls("/hello", &["-n", "500", "--pipeline", "8"]),
    tls("/chunked", &["-n", "48"]),
    // Time is up while requests are under way.
    plain("/hello", &["--arrivals", "poisson", "--ramp", "1k..5k/300ms"]),
    plain("/hello", &["-d", "300ms", "--pipeline", "8"]),
];

/// The ways of asking in HTTP/2, with more requests than some servers take on one connection.
const WAYS_OF_HTTP2: [Way; 7] = [
    tls("/hello", &["-n", "500", "--http2"]),
    tls("/hello", &["-n", "20000", "--http2", "--streams", "16"]),
    tls("/hello", &["-n", "500", "--http2", "--streams", "16", "--requests-per-connection", "21"]),
    tls("/hello", &["-n", "100", "--http2", "--no-keepalive"]),
    tls("/chunked", &["-n", "48", "--http2", "--streams", "3"]),
    // Time is up while requests are under way.
    tls("/hello", &["--http2", "--streams", "4", "--arrivals", "poisson", "--ramp", "1k..5k/300ms"]),
    tls("/hello", &["-d", "300ms", "--http2", "--streams", "8"]),
];

/// The same without TLS.
const WAYS_OF_H2C: [Way; 6] = [
    plain("/hello", &["-n", "500", "--h2c"]),
    plain("/hello", &["-n", "20000", "--h2c", "--streams", "16"]),
    plain("/hello", &["-n", "500", "--h2c", "--streams", "16", "--requests-per-connection", "21"]),
    plain("/hello", &["-n", "100", "--h2c", "--no-keepalive"]),
    plain("/hello", &["--h2c", "--streams", "4", "--arrivals", "poisson", "--ramp", "1k..5k/300ms"]),
    plain("/hello", &["-d", "300ms", "--h2c", "--streams", "8"]),
];

/// Messages: text, binary, large, several in flight, on connections that end.
const WAYS_OF_WEBSOCKET: [Way; 9] = [
    plain("/text", &["-n", "500", "--websocket", "--body", "Grüße"]),
    plain("/in-flight", &["-n", "2000", "--websocket", "--body", "0123456789abcdef", "--pipeline", "16"]),
    plain(
        "/binary",
        &["-n", "500", "--websocket", "--body", "x", "-H", "Content-Type: application/octet-stream"],
    ),
    plain("/large", &["-n", "100", "--websocket", "--body-file", "{large}", "--pipeline", "3"]),
    plain("/empty", &["-n", "500", "--websocket"]),
    plain("/ends", &["-n", "500", "--websocket", "--body", "x", "--requests-per-connection", "7"]),
    tls("/text", &["-n", "500", "--websocket", "--body", "x", "--pipeline", "4"]),
    // Time is up while messages are under way.
    plain("/rate", &["--websocket", "--body", "x", "--arrivals", "poisson", "--ramp", "1k..5k/300ms"]),
    plain("/time", &["-d", "300ms", "--websocket", "--body", "x", "--pipeline", "8"]),
];

/// What drome says of one way of asking.
struct Claim {
    /// The target that no other way has, and the version of HTTP.
    target: String,
    version: &'static str,
    completed: u64,
    sent: u64,
}

/// Asks in one way. `file`: where the server keeps a file.
fn ask(address: SocketAddr, file: &dyn Fn(&str) -> String, number: usize, way: &Way, io: &str) -> Claim {
    let target = format!("{}?{io}-{number}", way.path);
    let url = format!("{}://{address}{target}", way.scheme);
    let cacert = file("ca.pem");
    let has = |arg| way.args.contains(&arg);
    // A message must come back as it is.
    let expect = if has("--websocket") { &[][..] } else { &["--expect-sha256", HELLO_SHA256] };
    let check = ["--format", "json", "--verify", "all"];
    let args = way.args.iter().map(|arg| arg.replace("{large}", &file("large")));
    let trust = if way.scheme == "https" { &["--cacert", cacert.as_str()][..] } else { &[] };
    let mut load = Home::new().drome(&["load", &url, "-c", "8", "--io", io]);
    let finished = run(load.args(args).args(check).args(expect).args(trust));
    let json: Value = serde_json::from_str(&finished.out).unwrap_or_else(|e| panic!("{e}: {}", finished.err));
    // Void is no failure here: on a machine that is busy otherwise, sends lag.
    let is_sound = matches!(finished.code, 0 | 4) && json["errors"]["total"] == 0 && json["plan"]["io"] == io;
    assert!(is_sound, "{url} {:?}: {} {json}", way.args, finished.err);
    assert_accounted(&json);
    let n = |of: &str| json["requests"][of].as_u64().unwrap();
    let (completed, sent) = (n("completed"), n("sent"));
    assert!(completed > 0);
    if let ["-n", wanted, ..] = way.args {
        let wanted: u64 = wanted.parse().unwrap();
        assert_eq!((completed, sent), (wanted, wanted), "{:?}", way.args);
    }
    let version = if has("--http2") || has("--h2c") {
        "2"
    } else if has("1.0") {
        "1.0"
    } else {
        "1.1"
    };
    Claim { target, version, completed, sent }
}

/// Asks in every way, and compares with what is in the logs.
fn judged(judge: &'static Judge, ways: &[Way]) {
    let mut court = judge.sit();
    let ways = ways.iter().filter(|way| court.has_chunked() || way.path != "/chunked");
    let ways: Vec<_> = ways.enumerate().collect();
    let cases = back_ends().iter().flat_map(|io| ways.iter().map(move |(n, way)| (*n, *way, io)));
    let file = |name: &str| court.path(name);
    let port = |way: &Way| if way.scheme == "https" { court.tls } else { court.plain };
    let claims: Vec<Claim> = cases.map(|(n, way, io)| ask(port(way), &file, n, way, io)).collect();
    for claim in &claims {
        let logged = || court.logged(&claim.target, claim.version);
        let is_there = || logged().iter().all(|(_, n)| *n >= claim.completed);
        wait_for(is_there, &format!("{} of {:?} in {:?}", claim.completed, claim.target, logged()));
    }
    court.rise();
    for Claim { target, version, completed, sent } in &claims {
        for (name, logged) in court.logged(target, version) {
            assert!(
                (*completed..=*sent).contains(&logged),
                "{name} was asked {target} {logged} times: {sent} sent, {completed} completed"
            );
        }
    }
}

#[test]
fn nginx_was_asked_what_drome_says_it_sent() {
    judged(&NGINX, &WAYS);
}

#[test]
fn apache_was_asked_what_drome_says_it_sent() {
    judged(&APACHE, &WAYS);
}

#[test]
fn lighttpd_was_asked_what_drome_says_it_sent() {
    judged(&LIGHTTPD, &WAYS);
}

#[test]
fn haproxy_and_nginx_behind_it_were_asked_what_drome_says_it_sent() {
    judged(&HAPROXY, &WAYS);
}

#[test]
fn node_was_asked_what_drome_says_it_sent() {
    judged(&NODE, &WAYS);
}

#[test]
fn python_was_asked_what_drome_says_it_sent() {
    judged(&PYTHON, &WAYS);
}

#[test]
fn nginx_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&NGINX, &WAYS_OF_HTTP2);
}

#[test]
fn apache_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&APACHE, &WAYS_OF_HTTP2);
}

#[test]
fn lighttpd_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&LIGHTTPD, &WAYS_OF_HTTP2);
}

#[test]
fn node_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&NODE, &WAYS_OF_HTTP2);
}

#[test]
fn caddy_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&CADDY, &WAYS_OF_HTTP2);
}

#[test]
fn h2o_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&H2O, &WAYS_OF_HTTP2);
}

#[test]
fn nghttpd_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&NGHTTPD, &WAYS_OF_HTTP2);
}

#[test]
fn netty_was_asked_in_http2_what_drome_says_it_sent() {
    judged(&NETTY, &WAYS_OF_H2C);
}

#[test]
fn hyper_was_asked_in_http2_what_drome_says_it_sent() {
    let court = hyper::Hyper::sit();
    let nothing = |_: &str| String::new();
    for (io, (n, way)) in
        back_ends().iter().flat_map(|io| WAYS_OF_H2C.iter().enumerate().map(move |way| (io, way)))
    {
        let Claim { target, completed, sent, .. } = ask(court.address, &nothing, n, way, io);
        let counted = court.counted(&target);
        assert!(
            (completed..=sent).contains(&counted),
            "{target}: {counted} counted, {sent} sent, {completed} completed"
        );
    }
}

#[test]
fn websockets_got_the_messages_that_drome_says_it_sent() {
    judged(&WEBSOCKETS, &WAYS_OF_WEBSOCKET);
}

#[test]
fn ws_got_the_messages_that_drome_says_it_sent() {
    judged(&WS, &WAYS_OF_WEBSOCKET);
}

#[test]
fn gorilla_got_the_messages_that_drome_says_it_sent() {
    let has_go = std::process::Command::new("go").arg("version").output().is_ok();
    if is_there_or_told(has_go, "go is missing: install it from https://go.dev/dl") {
        judged(&GORILLA, &WAYS_OF_WEBSOCKET);
    }
}
