//! `drome serve` over HTTP/2, judged by h2spec and asked by curl, nghttp and h2load.

use crate::common::{Finished, Home, Server, back_ends, everywhere, is_there_or_told, process, run, serve};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A page of 200,000 bytes, and its length.
const LARGE: (&str, usize) = ("/jpeg-200k.jpg", 200_000);

fn tool(program: &str, args: &[&str]) -> Finished {
    run(Command::new(program).args(args))
}

fn url(server: &Server, is_encrypted: bool, path: &str) -> String {
    format!("{}://{}{path}", if is_encrypted { "https" } else { "http" }, server.address)
}

/// What curl says of an answer over HTTP/2: version, status, type and length.
fn curl(server: &Server, is_encrypted: bool, path: &str, args: &[&str]) -> String {
    let how = if is_encrypted { "--http2" } else { "--http2-prior-knowledge" };
    let told = "%{http_version} %{http_code} %{content_type} %{size_download}";
    let url = url(server, is_encrypted, path);
    let all = [&["-sk", how, "-o", "/dev/null", "-w", told, &url], args].concat();
    tool("curl", &all).out
}

/// The judge of HTTP/2 servers, which `cargo xtask test` builds where Go is installed.
fn h2spec() -> Option<PathBuf> {
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/h2spec-v2.2.1+incompatible/h2spec");
    let why = "h2spec is missing: cargo xtask test builds it with Go";
    is_there_or_told(program.is_file(), why).then_some(program)
}

/// The port speaks HTTP/1.1, too. So without TLS, where nothing was agreed on, what is not the preface of HTTP/2 is a request of HTTP/1.1 that can't
/// be read: it gets a 400 there, and the connection ends. RFC 9113 section 3.4 leaves the GOAWAY out for such a peer; h2spec can't read the 400.
const EXCEPTION: &str = "× 2: Sends invalid connection preface";

#[test]
fn h2spec_finds_nothing_wrong_but_that_the_port_speaks_http_1_too() {
    let Some(program) = h2spec() else { return };
    everywhere(&[], |server, is_encrypted| {
        let port = server.address.port().to_string();
        let tls = if is_encrypted { &["-t", "-k"][..] } else { &[] };
        let args =
            [&["-h", "127.0.0.1", "-p", &port, "-P", "/hello", "-S"], tls, &["generic", "http2", "hpack"]]
                .concat();
        let finished = run(Command::new(&program).args(args));
        if is_encrypted {
            finished.assert_out(0, &["146 tests, 146 passed, 0 skipped, 0 failed"]);
        } else {
            finished.assert_out(1, &["146 tests, 145 passed, 0 skipped, 1 failed", EXCEPTION]);
        }
    });
}

#[test]
fn who_agreed_on_http_2_is_not_answered_in_http_1() {
    let script = "import socket, ssl, sys\n\
                  context = ssl._create_unverified_context()\n\
                  context.set_alpn_protocols(['h2'])\n\
                  peer = context.wrap_socket(socket.create_connection(('127.0.0.1', int(sys.argv[1]))))\n\
                  peer.settimeout(60)\n\
                  peer.sendall(b'GET /hello HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')\n\
                  print(b''.join(iter(lambda: peer.recv(4096), b'')).hex())\n";
    for io in back_ends() {
        let server = serve(&["--io", io, "--tls"]);
        let finished = tool("python3", &["-c", script, &server.address.port().to_string()]);
        let got = finished.out.trim();
        // SETTINGS come first, and GOAWAY with PROTOCOL_ERROR is the last.
        assert!(
            got.get(6..10) == Some("0400") && got.ends_with("0000080700000000000000000000000001"),
            "{got}"
        );
    }
}

#[test]
fn too_many_fields_cost_the_request_and_not_the_connection() {
    let fields: Vec<String> = (0..150).flat_map(|at| ["-H".to_owned(), format!("x-{at}: y")]).collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    everywhere(&[], |server, is_encrypted| {
        let url = url(server, is_encrypted, "/hello");
        let (how, told) = (
            if is_encrypted { "--http2" } else { "--http2-prior-knowledge" },
            "%{http_code} %{num_connects}\n",
        );
        let once = ["-sk", how, "-w", told, &url, "-o", "/dev/null"];
        assert_eq!(tool("curl", &[&once[..], &fields].concat()).out, "431 1\n");
        // Some versions of curl can't ask twice without TLS.
        if is_encrypted {
            let twice = [&once[..], &fields, &[&url, "-o", "/dev/null"]].concat();
            assert_eq!(tool("curl", &twice).out, "431 1\n431 0\n");
        }
    });
}

#[test]
fn curl_gets_all_that_it_gets_over_http_1() {
    everywhere(&[], |server, is_encrypted| {
        let cases: [(&str, &[&str], &str); 9] = [
            ("/", &[], "2 200 text/html 228"),
            ("/hello", &[], "2 200 text/plain 12"),
            (LARGE.0, &[], "2 200 image/jpeg 200000"),
            (LARGE.0, &["-I"], "2 200 image/jpeg 0"),
            ("/json?n=7", &[], "2 200 application/json 36"),
            ("/json", &[], "2 400 text/plain 12"),
            ("/none", &[], "2 404 text/plain 10"),
            ("/websocket", &[], "2 400 text/plain 12"),
            ("/hello", &["-d", "body"], "2 405 text/plain 19"),
        ];
        for (path, args, expected) in cases {
            assert_eq!(curl(server, is_encrypted, path, args), expected, "{path} {args:?}");
        }
        let one = tool(
            "curl",
            &["-sk", "--http1.1", "-w", " %{http_version}", &url(server, is_encrypted, "/pong")],
        );
        assert_eq!(one.out, "PONG 1.1", "the same port speaks HTTP/1.1");
        let head = tool(
            "curl",
            &["-skI", "--http2", "--http2-prior-knowledge", &url(server, is_encrypted, "/hello")],
        );
        let fields = ["server: drome", "date: ", "content-type: text/plain", "content-length: 12"];
        assert!(fields.iter().all(|field| head.out.contains(field)), "{}", head.out);
    });
}

#[test]
fn bodies_are_sent_back_under_their_windows_or_refused() {
    let home = Home::new();
    let sizes = [0, 1, 16_384, 100_000, 3_000_000, 4 * 1024 * 1024, 5_000_000];
    everywhere(&[], |server, is_encrypted| {
        for size in sizes {
            let body: Vec<u8> = (0..size).map(|at| (at % 253) as u8).collect();
            let (sent, got) = (home.path().join("sent"), home.path().join("got"));
            std::fs::write(&sent, &body).unwrap();
            let how = if is_encrypted { "--http2" } else { "--http2-prior-knowledge" };
            let data = format!("@{}", sent.display());
            let args = [
                "-sk",
                how,
                "-w",
                "%{http_version} %{http_code}",
                "-o",
                got.to_str().unwrap(),
                "--data-binary",
                &data,
            ];
            let finished = tool("curl", &[&args[..], &[&url(server, is_encrypted, "/echo")]].concat());
            if size > 4 * 1024 * 1024 {
                assert_eq!(finished.out, "2 413", "{size}");
            } else {
                assert_eq!(finished.out, "2 200", "{size}");
                assert!(std::fs::read(&got).unwrap_or_default() == body, "{size}");
            }
        }
    });
}

#[test]
fn bodies_that_wait_for_a_window_at_each_connections_start_are_told() {
    let home = Home::new();
    let body = home.path().join("body");
    std::fs::write(&body, vec![b'b'; 100_000]).unwrap();
    everywhere(&[], |server, is_encrypted| {
        let protocol: &[&str] = if is_encrypted { &["--http2", "--insecure"] } else { &["--h2c"] };
        let target = url(server, is_encrypted, "/echo");
        let said = |how: &[&str]| {
            let args = [target.as_str(), "--method", "POST", "-n", "100", "-c", "2"];
            let mut load = home.drome(&["load"]);
            let finished = run(load.args(args).args(protocol).arg("--body-file").arg(&body).args(how));
            assert!(finished.out.contains("; 100 responses, "), "{} {}", finished.out, finished.err);
            finished.out.contains("waited for the server's flow control")
        };
        assert_eq!([said(&["--no-keepalive"]), said(&[])], [true, false]);
    });
}

#[test]
fn files_ranges_and_what_is_not_there() {
    let home = Home::new();
    home.write("root/small.txt", "0123456789");
    home.write("root/folder/index.html", "index");
    let large: String = (0..3_000_000).map(|at: u32| char::from(b'a' + (at % 23) as u8)).collect();
    home.write("root/large.txt", &large);
    let root = home.path().join("root");
    everywhere(&["--root", root.to_str().unwrap()], |server, is_encrypted| {
        let cases: [(&str, &[&str], &str); 8] = [
            ("/small.txt", &[], "2 200 text/plain 10"),
            ("/small.txt", &["-r", "2-4"], "2 206 text/plain 3"),
            ("/small.txt", &["-r", "20-"], "2 416 text/plain 22"),
            ("/small.txt", &["-I"], "2 200 text/plain 0"),
            ("/large.txt", &[], "2 200 text/plain 3000000"),
            ("/large.txt", &["-r", "100000-299999"], "2 206 text/plain 200000"),
            ("/folder", &[], "2 301 text/plain 18"),
            ("/none", &[], "2 404 text/plain 10"),
        ];
        for (path, args, expected) in cases {
            assert_eq!(curl(server, is_encrypted, path, args), expected, "{path} {args:?}");
        }
        let got = home.path().join("got");
        let how = if is_encrypted { "--http2" } else { "--http2-prior-knowledge" };
        tool("curl", &["-sk", how, "-o", got.to_str().unwrap(), &url(server, is_encrypted, "/large.txt")]);
        assert!(std::fs::read_to_string(&got).unwrap() == large);
    });
}

#[test]
fn many_streams_at_once_are_all_answered_and_logged() {
    let home = Home::new();
    let log = home.path().join("log");
    let servers = Cell::new(0);
    everywhere(&["--access-log", log.to_str().unwrap()], |server, is_encrypted| {
        let (small, large) = (url(server, is_encrypted, "/hello"), url(server, is_encrypted, LARGE.0));
        for (target, requests, most) in
            [(&small, "5000", "32"), (&large, "500", "100"), (&small, "3000", "1")]
        {
            let finished = tool("h2load", &["-n", requests, "-c", "8", "-m", most, target]);
            let expected = format!("{requests} done, {requests} succeeded, 0 failed, 0 errored, 0 timeout");
            finished.assert_out(0, &[&expected]);
        }
        let mixed = tool("nghttp", &["-ns", "-m", "7", &small, &large, &small]);
        assert!(mixed.out.matches(" 200 ").count() >= 2, "{}", mixed.out);
        servers.set(servers.get() + 1);
        let line = "\"GET /hello HTTP/2.0\" 200 12\n";
        let is_logged =
            || std::fs::read_to_string(&log).unwrap().matches(line).count() > servers.get() * 8000;
        crate::common::wait_for(is_logged, "the log to have a line for each answer");
    });
}

#[test]
fn each_fault_has_its_meaning_over_http_2() {
    // The fault; what nghttp says, and does not say.
    let cases: [(&str, &[&str], &[&str]); 9] = [
        ("status=503", &[":status: 503", "content-length: 12"], &["recv GOAWAY"]),
        ("chunked", &[":status: 200"], &["content-length"]),
        ("length=+5", &["content-length: 17"], &[]),
        ("truncate", &[":status: 200", "recv RST_STREAM", "INTERNAL_ERROR"], &["END_STREAM\n"]),
        ("close-after=1", &["recv GOAWAY", "last_stream_id=", ":status: 200"], &[]),
        ("drop-after=1", &[":status: 200"], &["recv GOAWAY"]),
        ("http10", &["recv GOAWAY", ":status: 200"], &["content-length"]),
        ("trickle=5B/10ms", &["recv DATA frame <length=5,", "recv DATA frame <length=2,"], &["length=12,"]),
        ("delay=20ms", &[":status: 200", "content-length: 12"], &[]),
    ];
    for io in back_ends() {
        for (fault, expected, missing) in cases {
            let server = serve(&["--io", io, "--fault", fault]);
            let finished = tool("nghttp", &["-nv", &url(&server, false, "/hello")]);
            let words = finished.out.split("send HEADERS").nth(1).unwrap_or_default();
            for word in expected {
                assert!(words.contains(word), "{fault}: no «{word}»: {words}");
            }
            for word in missing {
                assert!(!words.contains(word), "{fault}: «{word}»: {words}");
            }
        }
        for fault in ["reset", "garbage", "unasked"] {
            let server = serve(&["--io", io, "--fault", fault]);
            let finished = tool("h2load", &["-n", "1", "-c", "1", &url(&server, false, "/hello")]);
            let is_answered = finished.out.contains("1 succeeded");
            assert_eq!(is_answered, fault == "unasked", "{fault}: {}", finished.out);
        }
    }
}

#[test]
fn delays_of_one_stream_do_not_hold_up_the_others() {
    for io in back_ends() {
        let server = serve(&["--io", io, "--fault", "delay=300ms"]);
        let start = std::time::Instant::now();
        tool("h2load", &["-n", "100", "-c", "1", "-m", "100", &url(&server, false, "/hello")])
            .assert_out(0, &["100 succeeded"]);
        let took = start.elapsed();
        assert!(took > Duration::from_millis(300) && took < Duration::from_secs(15), "{took:?}");
    }
}

#[test]
fn a_server_that_stops_says_so_and_ends_the_streams_that_it_has_begun() {
    for io in back_ends() {
        let mut server = serve(&["--io", io, "--fault", "trickle=1B/50ms"]);
        let mut get = Command::new("nghttp");
        get.args(["-nv", &url(&server, false, "/hello")]).stdout(Stdio::piped());
        let client = process::spawn(&mut get);
        std::thread::sleep(Duration::from_millis(200));
        process::signal(&server.child, "-TERM");
        let out = String::from_utf8(client.wait_with_output().unwrap().stdout).unwrap();
        assert!(out.contains("recv GOAWAY") && out.contains("; END_STREAM\n"), "{io}: {out}");
        assert_eq!(process::wait(&mut server.child).code(), Some(0));
    }
}

#[test]
fn a_preface_in_pieces_is_recognised_and_an_idle_connection_is_closed_with_goaway() {
    for io in back_ends() {
        let server = serve(&["--io", io, "--idle-timeout", "400ms"]);
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
        for piece in [&b"PRI"[..], b" * HTTP/2.0\r", b"\n\r\nS", b"M\r\n\r", b"\n\0\0", b"\0\x04\0\0\0\0\0"] {
            stream.write_all(piece).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut got = Vec::new();
        stream.read_to_end(&mut got).unwrap();
        assert_eq!(got[3..5], [4, 0], "SETTINGS come first");
        assert!(
            got.windows(9).any(|frame| frame == [0, 0, 0, 4, 1, 0, 0, 0, 0]),
            "SETTINGS are acknowledged"
        );
        assert!(
            got.ends_with(&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            "GOAWAY comes last: {got:?}"
        );
    }
}
