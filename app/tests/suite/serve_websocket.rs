//! `drome serve`'s WebSocket, asked by Python's `websockets`, by Node's `ws`, by drome itself, and byte by byte.

use crate::common::{Home, Server, back_ends, http, load, process, run, serve};
use std::io::{Read, Write};
use std::process::Command;
use std::time::Duration;

/// The request of RFC 6455 section 1.3, and what its answer says.
const UPGRADE: &str = "GET /websocket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const UPGRADED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// A client's close frame without a code, and the server's.
const CLOSE: &[u8] = b"\x88\x80\0\0\0\0";
const CLOSED: &[u8] = b"\x88\0";
const GOING_AWAY: &[u8] = b"\x88\x02\x03\xe9";

/// A client's text, under a mask that changes nothing.
fn text(of: &str) -> Vec<u8> {
    [&[0x81, 0x80 + of.len() as u8, 0, 0, 0, 0], of.as_bytes()].concat()
}

/// All that the server says to these bytes, until it closes.
fn said(server: &Server, bytes: &[u8]) -> Vec<u8> {
    let (mut stream, mut got) = (http::connect(server.address), Vec::new());
    stream.write_all(bytes).unwrap();
    let _ = stream.read_to_end(&mut got);
    got
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn real_clients_get_all_their_messages_back() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/serve_websocket/");
    for io in back_ends() {
        for (tls, scheme) in [(&[][..], "ws"), (&["--tls"][..], "wss")] {
            let server = serve(&[&["--io", io], tls].concat());
            let url = format!("{scheme}://{}/websocket", server.address);
            for (program, script) in [("/usr/bin/python3", "client.py"), ("node", "client.js")] {
                let client = run(Command::new(program).args([&format!("{folder}{script}"), &url]));
                client.assert_out(0, &["all came back"]);
            }
        }
    }
}

#[test]
fn drome_gets_the_messages_back_that_it_sends() {
    for io in back_ends() {
        let server = serve(&["--io", io]);
        for pipeline in ["1", "16"] {
            let args = ["--websocket", "-n", "3000", "-c", "4", "--pipeline", pipeline, "--body", "Grüße"];
            let (code, json) = load(server.address, "/websocket", &args);
            assert!(matches!(code, 0 | 4), "{json}");
            assert_eq!((&json["requests"]["completed"], &json["errors"]["total"]), (&3000.into(), &0.into()));
        }
    }
}

#[test]
fn wrong_handshakes_are_refused_and_all_are_logged() {
    let home = Home::new();
    let log = home.path().join("log");
    let server = serve(&["--access-log", log.to_str().unwrap()]);
    let cases = [
        ("Upgrade: websocket\r\n", "", 426),
        ("Version: 13", "Version: 12", 426),
        ("dGhl", "dG", 400),
        ("GET", "POST", 400),
        ("HTTP/1.1", "HTTP/1.0", 400),
        ("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\nabc", 400),
    ];
    for (from, to, status) in cases {
        let answer = lossy(&said(&server, UPGRADE.replacen(from, to, 1).as_bytes()));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{from} -> {to}: {answer}");
        assert_eq!(answer.contains("Sec-WebSocket-Version: 13\r\n"), status == 426, "{answer}");
    }
    let elsewhere = UPGRADE.replace("/websocket", "/hello");
    let closing = elsewhere.replace("Connection: Upgrade", "Connection: Upgrade, close");
    assert!(
        lossy(&said(&server, closing.as_bytes())).starts_with("HTTP/1.1 200 OK\r\n"),
        "no other path has one"
    );
    assert!(lossy(&said(&server, &[UPGRADE.as_bytes(), CLOSE].concat())).starts_with(UPGRADED));
    let logged = || std::fs::read_to_string(&log).unwrap();
    crate::common::wait_for(
        || logged().lines().count() == cases.len() + 2,
        "the log to have a line for each",
    );
    let statuses: Vec<_> =
        logged().lines().map(|line| line.split("\" ").nth(1).unwrap().to_owned()).collect();
    assert_eq!(statuses, ["426 -", "426 -", "400 -", "400 -", "400 -", "400 -", "200 12", "101 -"]);
    assert!(logged().contains("\"GET /websocket HTTP/1.1\" 101 -\n"), "{}", logged());
}

#[test]
fn requests_before_and_messages_behind_the_handshake_may_come_at_once() {
    for io in back_ends() {
        let server = serve(&["--io", io]);
        let sent =
            [b"GET /pong HTTP/1.1\r\nHost: a\r\n\r\n", UPGRADE.as_bytes(), &text("hi"), CLOSE].concat();
        let got = said(&server, &sent);
        let at = got.windows(UPGRADED.len()).position(|part| part == UPGRADED.as_bytes()).unwrap();
        let (before, behind) = got.split_at(at);
        assert!(lossy(before).starts_with("HTTP/1.1 200 OK\r\n") && before.ends_with(b"PONG"));
        assert_eq!(&behind[UPGRADED.len()..], [&b"\x81\x02hi"[..], CLOSED].concat());
        // Byte by byte: nothing depends on where the bytes are cut.
        let (mut stream, mut slow) = (http::connect(server.address), Vec::new());
        stream.set_nodelay(true).unwrap();
        for byte in &sent {
            stream.write_all(&[*byte]).unwrap();
            std::thread::sleep(Duration::from_micros(200));
        }
        stream.read_to_end(&mut slow).unwrap();
        assert_eq!(lossy(&slow).split("\r\n\r\n").nth(2), lossy(&got).split("\r\n\r\n").nth(2));
    }
}

#[test]
fn a_client_that_does_not_read_may_send_a_message_and_not_messages_without_end() {
    for io in back_ends() {
        let server = serve(&["--io", io]);
        let (mut stream, mut got) = (http::connect(server.address), vec![0; UPGRADED.len()]);
        stream.write_all(UPGRADE.as_bytes()).unwrap();
        stream.read_exact(&mut got).unwrap();
        let length = 3_000_000_u64;
        let payload: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        let start = [&[0x82, 0xff], &length.to_be_bytes()[..], &[0; 4]].concat();
        let message = [start, payload.clone()].concat();
        stream.write_all(&message).unwrap();
        let mut back = vec![0; message.len() - 4];
        stream.read_exact(&mut back).unwrap();
        assert!(back.ends_with(&payload));
        let is_cut_off = (0..200).any(|_| stream.write_all(&message).is_err());
        assert!(is_cut_off, "{io}: 600 MB were taken");
    }
}

#[test]
fn a_server_that_ends_or_waited_too_long_says_so() {
    for io in back_ends() {
        let mut server = serve(&["--io", io]);
        let (mut stream, mut got) = (http::connect(server.address), vec![0; UPGRADED.len()]);
        stream.write_all(UPGRADE.as_bytes()).unwrap();
        stream.read_exact(&mut got).unwrap();
        process::signal(&server.child, "-TERM");
        got.clear();
        stream.read_to_end(&mut got).unwrap();
        assert_eq!(got, GOING_AWAY, "{io}");
        assert_eq!(process::wait(&mut server.child).code(), Some(0));
        let impatient = serve(&["--io", io, "--idle-timeout", "400ms"]);
        let got = said(&impatient, UPGRADE.as_bytes());
        assert_eq!(got, [UPGRADED.as_bytes(), GOING_AWAY].concat(), "{io}");
    }
}

#[test]
fn each_fault_has_its_meaning_over_websocket() {
    let two: &[u8] = b"\x81\x02ab\x81\x02cd\x88\0";
    let cases: [(&str, &[u8]); 8] = [
        ("delay=20ms", two),
        ("trickle=3B/1ms", two),
        ("chunked", two),
        ("http10", two),
        ("length=+5", two),
        ("close-after=2", b"\x81\x02ab\x88\x02\x03\xe9"),
        ("drop-after=2", b"\x81\x02ab"),
        ("drop-after=1", b""),
    ];
    let sent = [UPGRADE.as_bytes(), &text("ab"), &text("cd"), CLOSE].concat();
    for io in back_ends() {
        for (fault, expected) in cases {
            let got = said(&serve(&["--io", io, "--fault", fault]), &sent);
            assert_eq!(lossy(&got), lossy(&[UPGRADED.as_bytes(), expected].concat()), "{io} {fault}");
        }
        let refused = lossy(&said(&serve(&["--io", io, "--fault", "status=503"]), &sent));
        assert!(refused.starts_with("HTTP/1.1 503 Fault\r\n") && refused.ends_with("\r\n\r\n"), "{refused}");
        let cut = said(&serve(&["--io", io, "--fault", "truncate"]), &sent);
        assert!(cut.len() < UPGRADED.len() && UPGRADED.as_bytes().starts_with(&cut), "{}", lossy(&cut));
        // A message in fragments is one answer, also where they come one by one; a ping is none.
        let server = serve(&["--io", io, "--fault", "drop-after=2"]);
        let mut stream = http::connect(server.address);
        for piece in
            [UPGRADE.as_bytes(), b"\x89\x80\0\0\0\0", b"\x01\x81\0\0\0\0a", b"\x80\x81\0\0\0\0b", CLOSE]
        {
            let _ = stream.write_all(piece);
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut got = Vec::new();
        let _ = stream.read_to_end(&mut got);
        let expected = [UPGRADED.as_bytes(), b"\x8a\0\x01\x01a\x80\x01b"].concat();
        assert_eq!(lossy(&got), lossy(&expected), "{io}");
    }
}
