//! What `drome load` says where it can't do what was asked: what happened, to what, and what to do next.

use crate::common::certificates::Authority;
use crate::common::{Finished, Home, Server, answers, back_ends, run, serve};
use crate::judges::judge::{NGINX, PYTHON};
use std::process::Command;

/// Nobody listens here.
const NOBODY: &str = "127.0.0.1:9";

/// `drome load` against a URL, with a report for people.
fn load(url: &str, args: &[&str]) -> Finished {
    run(Home::new().drome(&["load", url]).args(args))
}

/// It ended with this code, and all of these words are in what it said.
fn assert_says(finished: &Finished, code: i32, words: &[&str]) {
    let text = format!("{}{}", finished.out, finished.err);
    assert_eq!(finished.code, code, "{text}");
    for word in words {
        assert!(text.contains(word), "no «{word}» in: {text}");
    }
}

#[test]
fn options_and_files_that_are_wrong_are_told_before_a_server_is_looked_for() {
    let home = Home::new();
    let junk = home.write("junk.pem", "this is not a certificate").display().to_string();
    let files = Authority::new(&home).sign("localhost", 4000);
    let (cert, key) = (files.certificate.display().to_string(), files.key.display().to_string());
    let cases: [(&[&str], &[&str]); 10] = [
        (&["--pipeline", "0"], &["--pipeline", "1..=10000"]),
        (&["--duration", "0s"], &["--duration", "a time above 0"]),
        (&["--cacert", &junk], &[&junk, "no certificate", "PEM"]),
        (&["--cacert", &key], &[&key, "a private key", "swapped"]),
        (&["--cacert", "/no/such/file"], &["/no/such/file"]),
        (&["--cert", &junk, "--key", &key], &[&junk, "no certificate", "PEM"]),
        (&["--cert", &cert, "--key", &junk], &[&junk, "no", "key", "PEM"]),
        (&["--cert", &cert], &["--key"]),
        // An address for documents (RFC 5737): no machine's own.
        (&["--source", "127.0.0.2,192.0.2.1"], &["192.0.2.1", "this machine's own", "ip address"]),
        (&["--source", "::1"], &["::1", "IPv6", "the target's kind"]),
    ];
    for (args, words) in cases {
        assert_says(&load(&format!("https://{NOBODY}/"), args), 2, words);
    }
}

#[test]
fn a_wrong_command_line_is_told_what_is_allowed() {
    let cases: [(&[&str], &str); 25] = [
        (&["-c", "0"], "at least 1"),
        (&["-n", "0"], "at least 1"),
        (&["-t", "0"], "at least 1"),
        (&["--rate", "0"], "above 0"),
        (&["--rate", "-5"], "above 0"),
        (&["--rate", "fast"], "above 0"),
        (&["--rate", "1g"], "2.5k or 1M"),
        (&["-c", "20", "-n", "10"], "-c 20 is above -n 10"),
        (&["-d", "soon"], "soon"),
        (&["-d", "1s", "-n", "5"], "cannot be used with"),
        (&["--arrivals", "often", "--rate", "1"], "poisson"),
        (&["--timeout", "0s"], "above 0"),
        (&["-H", "no colon"], "Name: value"),
        (&["--expect-sha256", "abc"], "64 hexadecimal"),
        (&["--body-file", "/no/such/file"], "/no/such/file"),
        (&["--ramp", "0..5k/10s"], "above 0"),
        (&["--ramp", "5k..-1k/10s"], "above 0"),
        (&["--ramp", "-1k..5k/10s"], "above 0"),
        (&["--ramp", "1k..5k"], "1k..20k/30s"),
        (&["--ramp", "1k,5k/1s"], "1k..20k/30s"),
        (&["--ramp", "1k..5k/0s"], "a time above 0"),
        (&["--steps", "/10s"], "at least 1"),
        (&["--steps", "1k,5k"], "1k,5k,20k/10s"),
        (&["--steps", "1k,0/1s"], "above 0"),
        (&["--steps", "1k/1s", "--ramp", "1..2/1s"], "cannot be used with"),
    ];
    for (args, words) in cases {
        load(&format!("http://{NOBODY}/"), args).assert_err(2, &[words]);
    }
    // It may be one of two options that is missing.
    load(&format!("http://{NOBODY}/"), &["--arrivals", "poisson"]).assert_err(2, &["--rate", "--ramp"]);
    for (url, words) in [
        ("http://", "not a URL"),
        ("ftp://a/", "only http"),
        ("http://no.such.host.invalid/", "can't resolve"),
    ] {
        load(url, &[]).assert_err(2, &[words]);
    }
}

#[test]
fn calls_of_grpc_have_options_of_their_own() {
    let grpc = ["--grpc", "/a.B/C"];
    let alone: [&[&str]; 11] = [
        &["--http2"],
        &["--h2c"],
        &["--websocket"],
        &["--pipeline", "2"],
        &["--bursts"],
        &["--http", "1.0"],
        &["-m", "GET"],
        &["--body", "x"],
        &["--body-file", "/no/such/file"],
        &["--urls", "/no/such/file"],
        &["--expect-status", "200"],
    ];
    for args in alone {
        let words = ["--grpc <METHOD>", "cannot be used with"];
        load(&format!("http://{NOBODY}"), &[&grpc, args].concat()).assert_err(2, &words);
    }
    for method in ["", "/", "a.B/C", "/a.B", "/a.B/", "//C", "/a.B/C/D", "/a.B/C?d", "/a.B/C d", "/a.B/C#d"] {
        let finished = load(&format!("http://{NOBODY}"), &["--grpc", method]);
        finished.assert_err(2, &["write it like /package.Service/Method"]);
    }
    load(&format!("http://{NOBODY}"), &["--data", "x"]).assert_err(2, &["--grpc"]);
    let rows: [(&str, &[&str], &str); 3] = [
        ("/hello", &[], "--grpc has the path, so /hello of the URL"),
        ("/", &["--data", "/no/such/file"], "can't read --data /no/such/file"),
        ("/", &["--insecure"], "for https only"),
    ];
    for (path, args, words) in rows {
        load(&format!("http://{NOBODY}{path}"), &[&grpc, args].concat()).assert_err(2, &[words]);
    }
    // A server that has TLS and not HTTP/2.
    let (home, python) = (Home::new(), PYTHON.sit());
    let url = format!("https://{}", python.tls);
    let finished = run(home.drome(&["load", &url, "--insecure", "-n", "10"]).args(grpc));
    assert_says(&finished, 1, &["does not speak HTTP/2 on this port (ALPN)", "gRPC needs HTTP/2"]);
}

/// A server that shows a certificate for this name, good until this year; and who vouches for it.
fn certified(home: &Home, name: &str, until: i32) -> (Server, String) {
    let files = Authority::new(home).sign(name, until);
    let [cert, key] = [files.certificate, files.key].map(|file| file.display().to_string());
    (serve(&["--cert", &cert, "--key", &key]), home.path().join("ca.pem").display().to_string())
}

#[test]
fn a_certificate_that_is_not_to_be_believed_is_told_with_the_reason() {
    let cases: [(&str, i32, &[&str]); 2] = [
        ("127.0.0.1", 2020, &["the server's certificate has expired", "days ago", "--insecure"]),
        ("other.example", 4000, &["is for other.example, not 127.0.0.1", "--insecure"]),
    ];
    for (name, until, words) in cases {
        let home = Home::new();
        let (server, cacert) = certified(&home, name, until);
        let url = format!("https://{}/hello", server.address);
        for io in back_ends() {
            assert_says(&load(&url, &["--io", io, "-n", "64", "--cacert", &cacert]), 1, words);
            assert_says(&load(&url, &["--io", io, "-n", "64", "--insecure"]), 0, &["200: 64"]);
        }
    }
    let (home, other) = (Home::new(), Home::new());
    let (server, cacert) = certified(&home, "127.0.0.1", 4000);
    let url = format!("https://{}/hello", server.address);
    assert_says(&load(&url, &["-n", "64", "--cacert", &cacert]), 0, &["200: 64"]);
    let (_other, cacert) = certified(&other, "127.0.0.1", 4000);
    let words = ["unknown issuer", "--insecure or --cacert FILE"];
    assert_says(&load(&url, &["-n", "64", "--cacert", &cacert]), 1, &words);
}

#[test]
fn tls_and_plain_that_meet_are_told_apart() {
    let nginx = NGINX.sit();
    for io in back_ends() {
        let finished = load(&format!("https://{}/hello", nginx.plain), &["--io", io, "-n", "64"]);
        assert_says(&finished, 1, &["does not speak TLS", "http:// instead of https://"]);
        // nginx knows what it hears, and says so with a status; drome's own server answers in TLS.
        let finished = load(&format!("http://{}/hello", nginx.tls), &["--io", io, "-n", "64"]);
        assert_says(&finished, 4, &["VOID", "400", "no request was answered as expected"]);
    }
    let server = serve(&["--tls"]);
    let finished = load(&format!("http://{}/", server.address), &["-n", "64"]);
    assert_says(&finished, 4, &["VOID", "TLS", "https://"]);
}

#[test]
fn a_rate_that_is_not_kept_is_a_finding_with_what_was_reached_and_no_success() {
    // Two connections, ten answers a second each at most.
    let server = serve(&["--fault", "delay=100ms"]);
    let finished =
        load(&format!("http://{}/hello", server.address), &["-c", "2", "--rate", "1k", "-d", "1s"]);
    let words = [
        "verdict: the server did not keep up",
        " of the offered 1000 requests/s were answered",
        "2 connections",
        "offer a lower rate",
    ];
    assert_says(&finished, 4, &words);
}

#[test]
fn too_few_ports_are_named_and_more_addresses_have_more() {
    // A network of its own, with 32 ports; what is started in it ends with its shell.
    let in_network = |args: &str| {
        let drome = env!("CARGO_BIN_EXE_drome");
        let script = format!(
            "ip link set lo up && echo 32768 32799 > /proc/sys/net/ipv4/ip_local_port_range || exit 99
             {drome} serve --port 80 > /dev/null & server=$!
             trap 'kill $server' EXIT
             until curl -s -o /dev/null http://127.0.0.1/; do sleep 0.05; done
             {drome} load http://127.0.0.1/hello -c 64 -n 640 {args}"
        );
        run(Command::new("unshare").args(["--net", "--map-root-user", "sh", "-c", &script]))
    };
    for io in back_ends() {
        let words = ["ran out of local ports", "--source 127.0.0.2", "net.ipv4.ip_local_port_range"];
        let finished = in_network(&format!("--io {io}"));
        let code = if finished.out.contains("VOID") { 4 } else { 1 };
        assert_says(&finished, code, &words);
        let finished = in_network(&format!("--io {io} --source 127.0.0.2,127.0.0.3,127.0.0.4"));
        assert_says(&finished, 0, &["200: 640"]);
    }
}

#[test]
fn bytes_that_nobody_asked_for_are_named() {
    let server = serve(&["--fault", "unasked"]);
    let words = [
        "VOID",
        "no request was answered as expected",
        "40× body: another answer followed, which no request asked for",
    ];
    for io in back_ends() {
        let url = format!("http://{}/hello", server.address);
        assert_says(&load(&url, &["--io", io, "-c", "4", "-n", "40"]), 4, &words);
    }
    let longer = answers(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokok", true, false);
    let words = ["VOID", "10× body: longer than its Content-Length: 2 bytes announced, more received"];
    assert_says(&load(&format!("http://{longer}/"), &["-c", "1", "-n", "10"]), 4, &words);
}
