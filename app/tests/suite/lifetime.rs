//! How connections and servers end: limits, idleness, stops; and Unix sockets.

use crate::common::http::{self, ask, connect, get, read};
use crate::common::{Home, PATIENCE, Server, back_ends, process, run, serve};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ASK: &[u8] = b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";

/// Waits for the end that the server makes.
fn assert_closed(stream: &mut TcpStream) {
    let mut rest = Vec::new();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"", "more than an end");
}

fn read_hello(stream: &mut TcpStream) {
    let mut text = String::new();
    while !text.ends_with("Hello World\n") {
        let mut bytes = [0; 1000];
        let n = stream.read(&mut bytes).unwrap();
        assert!(n > 0, "closed after {text:?}");
        text.push_str(&String::from_utf8_lossy(&bytes[..n]));
    }
}

/// Runs each test with each back end that this machine has.
macro_rules! with_every_back_end {
    ($($name:ident),* $(,)?) => {
        $(#[test] fn $name() { back_ends().iter().for_each(|io| on::$name(io)); })*
    };
}

with_every_back_end!(
    heads_that_are_too_long_are_told_so_even_to_who_does_not_listen_yet,
    bodies_are_passed_over_and_the_connection_goes_on,
    who_is_idle_is_let_go_and_who_is_slow_is_not,
    at_a_stop_what_was_asked_is_answered_and_who_asks_nothing_is_closed,
    an_answer_after_the_stop_says_that_it_is_the_last,
    a_stop_waits_for_who_reads_and_not_for_ever_for_who_does_not,
);

mod on {
    use super::*;

    pub fn heads_that_are_too_long_are_told_so_even_to_who_does_not_listen_yet(io: &str) {
        let server = serve(&["--io", io]);
        let long = "x".repeat(5_000_000);
        let head = ask(server.address, format!("GET / HTTP/1.1\r\nHost: h\r\nX: {long}").as_bytes());
        assert_eq!((head.status, head.field("connection")), (431, Some("close")));
        let many = "A: b\r\n".repeat(1000);
        assert_eq!(ask(server.address, format!("GET / HTTP/1.1\r\n{many}\r\n").as_bytes()).status, 431);
        assert_eq!(ask(server.address, format!("GET /{long}").as_bytes()).status, 414);
        assert_eq!(
            ask(server.address, format!("GET /{} HTTP/1.1\r\n\r\n", &long[..9000]).as_bytes()).status,
            414
        );
        for (bytes, status) in [
            (&b"GET /\r\n\r\n"[..], 400),
            (b"GET  / HTTP/1.1\r\n\r\n", 400),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
            (b"GET / HTTP/1.1\r\nA b\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
            (b"GET / HTTP/3.0\r\n\r\n", 505),
        ] {
            assert_eq!(ask(server.address, bytes).status, status, "{}", bytes.escape_ascii());
        }
    }

    pub fn bodies_are_passed_over_and_the_connection_goes_on(io: &str) {
        let server = serve(&["--io", io]);
        let body = vec![b'x'; 1_000_000];
        let mut stream = connect(server.address);
        stream.write_all(b"PUT /hello HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n").unwrap();
        stream.write_all(&body).unwrap();
        stream.write_all(b"GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 405 ") && text.ends_with("Hello World\n"), "{text}");
        let head = b"PUT /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n";
        assert_eq!(
            ask(server.address, &[&head[..], &body].concat()).status,
            405,
            "heard after all that was sent"
        );
    }

    pub fn who_is_idle_is_let_go_and_who_is_slow_is_not(io: &str) {
        let home = Home::new();
        let large = "x".repeat(30_000_000);
        home.write("site/large", &large);
        let root = home.path().join("site");
        let server = serve(&["--io", io, "--idle-timeout", "3s", "--root", root.to_str().unwrap()]);
        let mut slow = connect(server.address);
        slow.write_all(b"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").unwrap();
        let mut silent = connect(server.address);
        let mut asked = connect(server.address);
        asked.write_all(b"HEAD /none HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
        let mut begun = connect(server.address);
        begun.write_all(b"GET /large HTTP/1.1\r\nHo").unwrap();
        assert_eq!(read(&mut asked).status, 404);
        assert_closed(&mut silent);
        assert_closed(&mut begun);
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(read(&mut slow).body.len(), large.len(), "who reads slowly is not idle");
    }

    pub fn at_a_stop_what_was_asked_is_answered_and_who_asks_nothing_is_closed(io: &str) {
        let mut server = serve(&["--io", io, "--threads", "2"]);
        let (mut idle, mut asking) = (connect(server.address), connect(server.address));
        idle.write_all(ASK).unwrap();
        read_hello(&mut idle);
        asking.write_all(ASK).unwrap();
        read_hello(&mut asking);
        // While the server sleeps, one asks again, and another connects and asks.
        process::signal(&server.child, "-STOP");
        asking.write_all(ASK).unwrap();
        let mut new = connect(server.address);
        new.write_all(ASK).unwrap();
        process::signal(&server.child, "-TERM");
        process::signal(&server.child, "-CONT");
        for stream in [&mut asking, &mut new] {
            // Which a thread sees first, the request or the stop, is not ours to say; so `close` may stand there or not.
            assert_eq!(read(stream).text(), "Hello World\n");
            assert_closed(stream);
        }
        assert_closed(&mut idle);
        assert_eq!(process::wait(&mut server.child).code(), Some(0));
        assert!(TcpStream::connect(server.address).is_err());
    }

    pub fn an_answer_after_the_stop_says_that_it_is_the_last(io: &str) {
        let home = Home::new();
        home.write("site/large", &"x".repeat(30_000_000));
        home.write("site/small", "small");
        let root = home.path().join("site");
        let server = serve(&["--io", io, "--threads", "2", "--root", root.to_str().unwrap()]);
        let mut stream = connect(server.address);
        // The second must wait for its answer until the first one's has been read.
        let both = ["/large", "/small"].map(|path| format!("GET {path} HTTP/1.1\r\nHost: h\r\n\r\n"));
        stream.write_all(both.concat().as_bytes()).unwrap();
        stream.peek(&mut [0; 100]).unwrap();
        process::signal(&server.child, "-TERM");
        let since = Instant::now();
        while TcpStream::connect(server.address).is_ok() {
            assert!(since.elapsed() < PATIENCE, "it accepts still");
        }
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let told: Vec<_> = http::parse_all(&bytes)
            .iter()
            .map(|answer| (answer.body.len(), answer.field("connection").map(str::to_owned)))
            .collect();
        assert_eq!(told, [(30_000_000, None), (5, Some("close".to_owned()))]);
    }

    pub fn a_stop_waits_for_who_reads_and_not_for_ever_for_who_does_not(io: &str) {
        let home = Home::new();
        let large = "x".repeat(30_000_000);
        home.write("site/large", &large);
        let root = home.path().join("site");
        let mut server = serve(&["--io", io, "--root", root.to_str().unwrap()]);
        let ask = |server: &Server| {
            let mut stream = connect(server.address);
            stream.write_all(b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
            stream.peek(&mut [0; 100]).unwrap(); // The answer has begun.
            stream
        };
        let (mut reads, _reads_not) = (ask(&server), ask(&server));
        process::signal(&server.child, "-TERM");
        // It ends although one of them never reads; what the other one is owed it gets first.
        assert_eq!(read(&mut reads).body.len(), large.len());
        assert_eq!(process::wait(&mut server.child).code(), Some(0));
    }
}

/// A server at a Unix socket, when it listens.
fn serve_unix(home: &Home, path: &Path, io: &str) -> Child {
    let args = ["serve", "--io", io, "--threads", "2", "--unix", path.to_str().unwrap()];
    let mut child = process::spawn(home.drome(&args).stdout(Stdio::piped()));
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, format!("unix:{}\n", path.display()));
    child
}

#[test]
fn a_unix_socket_is_served_and_taken_away_again() {
    let home = Home::new();
    let path = home.path().join("socket");
    let curl = || {
        let url = "http://localhost/hello";
        run(Command::new("curl").args(["-s", "--unix-socket", path.to_str().unwrap(), url])).out
    };
    let mut killed = serve_unix(&home, &path, "epoll");
    assert_eq!(curl(), "Hello World\n");
    let finished = run(&mut home.drome(&["serve", "--unix", path.to_str().unwrap()]));
    finished.assert_err(2, &["is in use"]);
    killed.kill().unwrap();
    process::wait(&mut killed);
    assert!(path.exists(), "who is killed leaves the socket");
    let mut stopped = serve_unix(&home, &path, back_ends().last().unwrap());
    assert_eq!(curl(), "Hello World\n");
    let mut stream = UnixStream::connect(&path).unwrap();
    stream.write_all(b"GET /jpeg-200k.jpg HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(read(&mut stream).body.len(), 200_000);
    process::signal(&stopped, "-TERM");
    assert_eq!(process::wait(&mut stopped).code(), Some(0));
    assert!(!path.exists());
}

#[test]
fn a_unix_socket_does_not_take_the_place_of_a_file() {
    let home = Home::new();
    let path = home.write("precious", "text");
    let finished = run(&mut home.drome(&["serve", "--unix", path.to_str().unwrap()]));
    finished.assert_err(2, &["not a socket"]);
    assert_eq!(std::fs::read_to_string(path).unwrap(), "text");
    let finished = run(&mut home.drome(&["serve", "--unix", "a", "--port", "1"]));
    assert_eq!(finished.code, 2, "{}", finished.err);
}

#[test]
fn the_fixed_pages_have_a_date_too_and_it_goes_on() {
    let server = serve(&[]);
    let date = |path| get(server.address, path).field("date").unwrap().to_owned();
    let (first, missing) = (date("/hello"), date("/none"));
    assert!(first.len() == 29 && first.ends_with(" GMT") && missing.len() == 29, "{first}");
    crate::common::wait_for(|| date("/hello") != first, "the next second");
}
