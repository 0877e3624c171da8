//! Cells over TLS, HTTP/2, gRPC and WebSocket: the same start of a server is asked plainly and encrypted, and it resumes sessions where a cell says so, by
//! the server's own log.

use crate::common::catalog::{contender, study};
use crate::common::{DROME, Home, run, serve};

/// nginx, whose log says of every request what it came over. LOG: the log's path; TICKETS: what it does with sessions.
const CONF: &str = r#"
daemon off;
pid nginx.pid;
error_log stderr;
events { worker_connections 256; }
http {
    log_format transport "$server_port $server_protocol $ssl_protocol $ssl_session_reused";
    access_log LOG transport;
    keepalive_requests 1000000;
    server {
        listen {host}:{port};
        include tls*.conf;
        location = /hello { default_type text/plain; return 200 "Hello World\n"; }
    }
}
"#;

const TLS: &str = r#"
listen {host}:{tls_port} ssl http2;
ssl_certificate "{cert}";
ssl_certificate_key "{key}";
ssl_protocols TLSv1.3;
# Fewer than the cell asks for, which a report of it then says.
http2_max_concurrent_streams 2;
TICKETS
"#;

const CELLS: &str = r#"
[[cell]]
title    = "plain"
workload = "hello"
load     = { closed = { connections = 2 } }

[[cell]]
title    = "full"
workload = "hello"
load     = { closed = { connections = 2, per_connection = 1 } }
tls      = "full"

[[cell]]
title    = "resumed"
workload = "hello"
load     = { closed = { connections = 2, per_connection = 1 } }
tls      = "resumed"

[[cell]]
title    = "streams"
workload = "hello"
load     = { closed = { connections = 2 } }
protocol = "http2"
streams  = 4
tls      = "full"
"#;

/// A catalog with that nginx and a study of it in these cells; its log is `log` in the home.
fn home(tickets: &str, cells: &str) -> Home {
    let home = Home::new();
    home.write_study("small", &study(&["logged"], cells, &[]));
    let command =
        r#"["sh", "-c", "PATH=\"$PATH:/usr/sbin\" exec nginx -p \"$0\" -c \"$0/nginx.conf\"", "{dir}"]"#;
    let text = contender("nginx", command).replace(
        "[serves]",
        "files = [\"nginx.conf\"]\n[tls]\nfiles = [\"tls.conf\"]\nspeaks = [\"http1\", \"http2\"]\n[serves]",
    );
    home.write_contender("logged", &text);
    let log = home.path().join("log").display().to_string();
    home.write("own/contenders/logged/src/nginx.conf", &CONF.replace("LOG", &log));
    home.write("own/contenders/logged/src/tls.conf", &TLS.replace("TICKETS", tickets));
    home
}

#[test]
fn each_cell_is_asked_as_it_says_by_the_servers_own_log() {
    let home = home("", CELLS);
    let finished = run(&mut home.with_catalog(&["run", "small", "--allow-busy"]));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    // The port differs from start to start.
    let count = |words: &str| log.lines().filter(|line| line.split_once(' ').unwrap().1 == words).count();
    let (plain, full) = (count("HTTP/1.1 - -"), count("HTTP/1.1 TLSv1.3 ."));
    let (resumed, streams) = (count("HTTP/1.1 TLSv1.3 r"), count("HTTP/2.0 TLSv1.3 ."));
    assert_eq!(plain + full + resumed + streams, log.lines().count(), "nothing else was asked");
    let cells = home.findings()["cells"].as_array().unwrap().clone();
    let counted = |cell: usize| cells[cell]["contenders"][0]["answers"].as_u64();
    assert!(plain > 0 && full > 0 && streams > 0, "{plain} {full} {resumed} {streams}");
    // Only the first handshakes of a load can't resume: one for each connection that opens at once.
    assert!(resumed > 100, "{resumed} resumed, {full} full ones in all: {:?}", counted(2));
    let asked: Vec<String> = cells
        .iter()
        .map(|cell| format!("{} {} {}", cell["protocol"], cell["streams"], cell["tls"]))
        .collect();
    assert_eq!(
        asked,
        ["null null null", "null null \"full\"", "null null \"resumed\"", "\"http2\" 4 \"full\""]
    );
    let report = run(&mut home.drome(&["report"]));
    report.assert_out(
        0,
        &[
            "a new one for every request, TLS 1.3, each resuming a session",
            "HTTP/2 with 4 streams each, TLS 1.3",
        ],
    );
    // It allows two, and the load generator says so only where it was to open more.
    let trials = run(&mut home.drome(&["report", "--format", "csv"]));
    trials.assert_out(0, &["the server takes 2 requests at once on a connection, not 4"]);
    assert_eq!(trials.out.matches("requests at once on a connection").count(), 1, "{}", trials.out);
    home.assert_clean();
}

#[test]
fn a_server_that_does_not_do_what_a_cell_asks_leaves_with_the_reason() {
    let never = home("ssl_session_tickets off; ssl_session_cache off;", CELLS);
    let finished = run(&mut never.with_catalog(&["run", "small", "--allow-busy"]));
    finished.assert_out(4, &["it resumed the TLS session in none of 4 handshakes"]);
    never.assert_clean();
}

#[test]
fn a_cell_that_can_not_be_asked_is_refused_before_anything_starts() {
    let cases = [
        ("streams = 2", "cell `c`: streams needs protocol = \"http2\""),
        ("tls = \"resumed\"", "cell `c`: tls = \"resumed\" needs new connections"),
        ("tls = \"half\"", "unknown variant `half`"),
        ("protocol = \"http2\"", "contender `logged` does not speak HTTP/2: name it in `speaks` at the top"),
        (
            "protocol = \"websocket\"\ntls = \"full\"",
            "cell `c`: the workload `hello` can't be asked in WebSocket",
        ),
    ];
    for (words, why) in cases {
        let cell = format!(
            "[[cell]]\ntitle = \"c\"\nworkload = \"hello\"\nload = {{ closed = {{ connections = 2 }} }}\n{words}\n"
        );
        let home = home("", &cell);
        run(&mut home.with_catalog(&["run", "small"])).assert_err(2, &[why]);
    }
    let instead = home("", CELLS);
    let file = instead.path().join("own/contenders/logged/contender.toml");
    let text = std::fs::read_to_string(&file).unwrap().replace("[tls]", "[tls]\ninstead = true");
    std::fs::write(&file, text).unwrap();
    run(&mut instead.with_catalog(&["run", "small"])).assert_err(2, &["`logged` listens with TLS instead"]);
    let home = home("", CELLS);
    home.add_contender("logged", r#"["true"]"#);
    run(&mut home.with_catalog(&["run", "small"]))
        .assert_err(2, &["contender `logged` does not listen with TLS: add [tls]"]);
}

#[test]
fn servers_of_a_race_are_asked_over_tls_and_http2_and_all_the_same() {
    let home = Home::new();
    let command = format!("{DROME} serve --tls --port {{port}} --fault delay=1ms");
    let race = [
        "race",
        &command,
        &command,
        "--url",
        "https://127.0.0.1:{port}/hello",
        "--http2",
        "--streams",
        "4",
        "-c",
        "2",
        "--rounds",
        "2",
        "-d",
        "100ms",
        "--warmup",
        "10ms",
        "--allow-busy",
    ];
    let finished = run(&mut home.drome(&race));
    assert!(matches!(finished.code, 0 | 4), "{}{}", finished.out, finished.err);
    finished.assert_out(finished.code, &["kept open, HTTP/2 with 4 streams each, TLS 1.3"]);
    let cell = &home.findings()["cells"][0];
    assert!(cell["contenders"][0]["metric"]["median"].as_f64().unwrap() > 100.0, "{cell:#}");
    home.assert_clean();
    // A server that does not speak it is told so, and not raced by another protocol.
    let plain = format!("{DROME} serve --port {{port}}");
    let finished = run(&mut home.drome(&[
        "race",
        &plain,
        &plain,
        "--url",
        "https://127.0.0.1:{port}/",
        "--ready",
        "1s",
    ]));
    finished.assert_err(2, &["it was not ready within 1s", "the server does not speak TLS"]);
    run(&mut home.drome(&["race", &plain, &plain, "--streams", "4"]))
        .assert_err(2, &["--streams needs --http2"]);
    let mixed = ["race", "http://127.0.0.1:1/", "https://127.0.0.1:2/"];
    run(&mut home.drome(&mixed)).assert_err(2, &["one is encrypted and one is not"]);
}

#[test]
fn servers_of_a_race_are_called_with_the_message() {
    let home = Home::new();
    let message = home.path().join("message");
    std::fs::write(&message, b"0123456789").unwrap();
    let running = serve(&[]);
    let command = format!("{DROME} serve --port {{port}}");
    let url = format!("http://{}/", running.address);
    let how = ["--grpc", "/x.Y/Echo", "--streams", "4", "-c", "2", "--rounds", "2", "-d", "100ms"];
    let rest = ["--warmup", "10ms", "--allow-busy", "--data"];
    for servers in [[command.as_str(); 2], [url.as_str(); 2]] {
        let mut race = home.drome(&["race"]);
        let finished = run(race.args(servers).args(how).args(rest).arg(&message));
        assert!(matches!(finished.code, 0 | 4), "{}{}", finished.out, finished.err);
        finished.assert_out(finished.code, &["a body of 10 bytes", "kept open, gRPC with 4 streams each"]);
        let findings = home.findings();
        assert_eq!(findings["race"]["held_equal"]["body_bytes"], 10, "{:#}", findings["race"]);
        let median = &findings["cells"][0]["contenders"][0]["metric"]["median"];
        assert!(median.as_f64().unwrap() > 100.0, "{median}");
    }
    // What is no answer of the method is the server's fault, and named.
    let wrong = ["race", &command, &command, "--grpc", "/x.Y/Fail", "--ready", "1s"];
    run(&mut home.drome(&wrong)).assert_err(2, &["it was not ready within 1s", "UNIMPLEMENTED"]);
    run(&mut home.drome(&["race", &command, &command, "--grpc", "x"]))
        .assert_err(2, &["/package.Service/Method"]);
}

#[test]
fn messages_and_calls_are_verified_and_measured_like_requests() {
    let home = Home::new();
    let cells = r#"
[[cell]]
title    = "messages"
workload = "message"
load     = { closed = { connections = 2 } }
protocol = "websocket"

[[cell]]
title    = "calls"
workload = "call"
load     = { closed = { connections = 2 } }
protocol = "grpc"
streams  = 4
"#;
    home.write_study("small", &study(&["echo"], cells, &[]));
    let text = contender("echo", r#"["{drome}", "serve", "--port", "{port}", "--fault", "delay=1ms"]"#)
        .replace("[version]", "speaks = [\"http1\", \"grpc\", \"websocket\"]\n[version]");
    home.write_contender("echo", &format!("{text}message = \"/websocket\"\ncall = \"/a.B/Echo\"\n"));
    let verified = run(&mut home.with_catalog(&["verify", "echo"]));
    verified.assert_out(0, &["3 of 3"]);
    let finished = run(&mut home.with_catalog(&["run", "small", "--allow-busy"]));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let cells = home.findings()["cells"].clone();
    for (cell, protocol) in ["websocket", "grpc"].into_iter().enumerate() {
        assert_eq!(cells[cell]["protocol"], protocol);
        let rates = &cells[cell]["contenders"];
        assert!(rates[1]["metric"]["median"].as_f64().is_some_and(|rate| rate > 100.0), "{rates:#}");
    }
    // A server that answers with other messages, and one whose method is another.
    home.write_contender("echo", &format!("{text}message = \"/echo\"\ncall = \"/a.B/Other\"\n"));
    let verified = run(&mut home.with_catalog(&["verify", "echo"]));
    assert_ne!(verified.code, 0);
    let told = verified.out + &verified.err;
    assert!(
        told.contains("WebSocket: message (/echo)") && told.contains("gRPC: call (/a.B/Other)"),
        "{told}"
    );
    assert!(told.contains("grpc-status 12 (UNIMPLEMENTED)"), "{told}");
    home.assert_clean();
}
