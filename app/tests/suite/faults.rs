//! The faults of `drome serve`: what a plain client sees of each, and what `drome load` counts.

use crate::common::{Home, Server, assert_accounted, back_ends, load, run, serve};
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

const HEAD: &str = "HTTP/1.1 200 OK\r\nServer: drome\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\
    Content-Type: text/plain\r\nContent-Length: 12\r\n";
const BODY: &str = "Hello World\n";
const GARBAGE: &[u8] = b"\x00\xff this is not HTTP\r\n\r\n";
const ASK: &[u8] = b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";

/// The answer where nothing befalls it.
fn hello() -> String {
    format!("{HEAD}\r\n{BODY}")
}

/// Answers with the date of [`HEAD`] in the place of their own.
fn undated(answers: &[u8]) -> String {
    let text = String::from_utf8_lossy(answers).into_owned();
    let mut parts = text.split("\r\nDate: ");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + "\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT" + &part[29..])
}

fn faulty(faults: &[&str]) -> Server {
    faulty_on("epoll", faults)
}

fn faulty_on(io: &str, faults: &[&str]) -> Server {
    let args: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
    serve(&[&["--io", io], &args[..]].concat())
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
    stream
}

/// Asks on a connection and reads so many bytes.
fn ask(stream: &mut TcpStream, bytes: usize) -> String {
    stream.write_all(ASK).unwrap();
    let mut answer = vec![0; bytes];
    stream.read_exact(&mut answer).unwrap();
    undated(&answer)
}

/// Reads until the server ends the connection, which it must, in order.
fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    undated(&answer)
}

/// Asks twice on one connection; both times comes `expected`, and nothing after it.
fn assert_sees(faults: &[&str], expected: &str) {
    for io in back_ends() {
        let server = faulty_on(io, faults);
        let mut stream = connect(&server);
        for _ in 0..2 {
            assert_eq!(ask(&mut stream, expected.len()), expected, "{io}, {faults:?}");
        }
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(rest(&mut stream), "", "{io}, {faults:?}");
    }
}

/// Asks on a connection of its own; `expected` comes, and the connection's end.
fn assert_sees_at_last(faults: &[&str], expected: &str) {
    for io in back_ends() {
        let server = faulty_on(io, faults);
        let mut stream = connect(&server);
        stream.write_all(ASK).unwrap();
        assert_eq!(rest(&mut stream), expected, "{io}, {faults:?}");
    }
}

#[test]
fn a_client_sees_each_answer_as_it_was_specified() {
    assert_sees(&[], &hello());
    assert_sees(&["status=503"], &hello().replace("200 OK", "503 Fault"));
    assert_sees(&["length=+5"], &hello().replace("12", "17"));
    assert_sees(&["length=-5"], &hello().replace("12", "7"));
    let unasked =
        "HTTP/1.1 408 Request Timeout\r\nServer: drome\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    assert_sees(&["unasked"], &(hello() + unasked));
    let chunked = HEAD.replace("Content-Length: 12", "Transfer-Encoding: chunked");
    let coded = "6\r\nHello \r\n6\r\nWorld\n\r\n0\r\n\r\n";
    assert_sees(&["chunked"], &format!("{chunked}\r\n{coded}"));
    assert_sees(&["chunked", "delay=1ms", "trickle=1kB/1ms"], &format!("{chunked}\r\n{coded}"));
    assert_sees_at_last(&["truncate"], &format!("{HEAD}\r\nHello "));
    assert_sees_at_last(&["truncate", "delay=1ms"], &format!("{HEAD}\r\nHello "));
    let http10 = HEAD.replace("HTTP/1.1", "HTTP/1.0").replace("Content-Length: 12\r\n", "");
    assert_sees_at_last(&["http10"], &format!("{http10}\r\n{BODY}"));
}

#[test]
fn garbage_is_no_http_and_the_connection_goes_on() {
    let server = faulty(&["garbage"]);
    let mut stream = connect(&server);
    for _ in 0..2 {
        assert_eq!(ask(&mut stream, GARBAGE.len()), String::from_utf8_lossy(GARBAGE));
    }
}

#[test]
fn a_reset_is_no_end() {
    let both = [&["reset"][..], &["reset", "delay=1ms"]];
    for (io, faults) in back_ends().iter().flat_map(|io| both.map(|faults| (io, faults))) {
        let server = faulty_on(io, faults);
        let mut stream = connect(&server);
        stream.write_all(ASK).unwrap();
        let error = stream.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(connect(&server).write(ASK).unwrap(), ASK.len(), "the server goes on");
    }
}

#[test]
fn a_connection_ends_after_so_many_answers_announced_or_not() {
    let closes = format!("{HEAD}Connection: close\r\n\r\n{BODY}");
    for (faults, last) in [
        (&["close-after=3"][..], &closes),
        (&["drop-after=3"], &hello()),
        (&["close-after=3", "delay=1ms"], &closes),
        (&["drop-after=3", "delay=1ms"], &hello()),
    ] {
        let server = faulty(faults);
        for _ in 0..2 {
            let mut stream = connect(&server);
            for _ in 0..2 {
                assert_eq!(ask(&mut stream, hello().len()), hello(), "{faults:?}");
            }
            stream.write_all(ASK).unwrap();
            assert_eq!(&rest(&mut stream), last, "{faults:?}");
        }
    }
}

#[test]
fn a_delay_holds_back_each_answer_and_nobody_else() {
    const DELAY: Duration = Duration::from_secs(2);
    let server = faulty(&["delay=2s"]);
    let asked = Instant::now();
    let mut streams: Vec<TcpStream> = (0..40).map(|_| connect(&server)).collect();
    streams.iter_mut().for_each(|stream| stream.write_all(ASK).unwrap());
    for stream in &mut streams {
        let mut answer = vec![0; hello().len()];
        stream.read_exact(&mut answer).unwrap();
        assert!(asked.elapsed() >= DELAY && undated(&answer) == hello());
    }
    assert!(asked.elapsed() < DELAY * 35, "one after the other it would have been 40 delays, 80 s");
}

#[test]
fn a_connections_own_answers_wait_for_each_other_and_all_arrive() {
    let server = faulty(&["delay=100ms"]);
    let mut stream = connect(&server);
    let asked = Instant::now();
    stream.write_all(&ASK.repeat(3)).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&mut stream), hello().repeat(3));
    assert!(asked.elapsed() >= Duration::from_millis(300));
}

#[test]
fn a_trickle_comes_bit_by_bit() {
    let server = faulty(&["trickle=20B/30ms"]);
    let mut stream = connect(&server);
    let asked = Instant::now();
    stream.write_all(ASK).unwrap();
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    while answer.len() < hello().len() {
        let n = stream.read(&mut buffer).unwrap();
        answer.extend_from_slice(&buffer[..n]);
        assert!(n > 0 && (answer.len() % 20 == 0 || answer.len() == hello().len()), "{n}");
    }
    assert_eq!(undated(&answer), hello());
    let pauses = hello().len().div_ceil(20) as u32 - 1;
    assert!(asked.elapsed() >= Duration::from_millis(30) * pauses);
}

#[test]
fn a_peer_that_goes_away_takes_its_answers_with_it() {
    let server = faulty(&["delay=50ms", "trickle=1B/1ms"]);
    for _ in 0..20 {
        connect(&server).write_all(ASK).unwrap();
    }
    let mut stream = connect(&server);
    assert_eq!(ask(&mut stream, hello().len()), hello(), "a connection that took another one's place");
}

#[test]
fn a_large_answer_arrives_whole_at_a_reader_that_is_slow() {
    let server = faulty(&["delay=1ms", "trickle=50kB/1ms", "chunked"]);
    let mut stream = connect(&server);
    let last = b"GET /jpeg-200k.jpg HTTP/1.1\r\nConnection: close\r\n\r\n";
    stream
        .write_all(&[b"GET /jpeg-200k.jpg HTTP/1.1\r\nHost: h\r\n\r\n".repeat(59), last.to_vec()].concat())
        .unwrap();
    std::thread::sleep(Duration::from_millis(500)); // The server has to wait for this reader.
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.len() > 60 * 200_000 && answer.ends_with(b"0\r\n\r\n"), "{}", answer.len());
}

#[test]
fn what_is_asked_next_waits_for_the_last_part_of_an_answer() {
    let home = Home::new();
    home.write(
        "own/workloads/long.toml",
        "title = \"Long\"\ncontent_type = \"text/html\"\nfile = \"long.html\"\nbody = { html_bytes = 30000000 }\n",
    );
    // No socket buffer holds the first part; this reader takes it all before the second part is due.
    let catalog = home.path().join("own").display().to_string();
    for io in back_ends() {
        let server = serve(&["--io", io, "--catalog", &catalog, "--fault", "trickle=20MB/500ms"]);
        let mut stream = connect(&server);
        stream.write_all(&[b"GET /long.html HTTP/1.1\r\nHost: h\r\n\r\n", ASK].concat()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answers = rest(&mut stream);
        assert!(answers.len() > 30_000_000 && answers.ends_with(&hello()), "{}", answers.len());
    }
}

#[test]
fn curl_says_what_each_fault_is() {
    // curl's own names of its exit codes: man curl, EXIT CODES.
    let cases = [
        (&["status=503"][..], 22), // HTTP page not retrieved
        (&["reset"], 56),          // failure in receiving network data
        (&["truncate"], 18),       // partial file
        (&["truncate", "chunked"], 18),
        (&["garbage"], 1),    // unsupported protocol: HTTP/0.9
        (&["length=+5"], 28), // timeout
        (&["chunked"], 0),
        (&["http10"], 0),
        (&["close-after=1"], 0),
        (&["delay=10ms", "trickle=30B/1ms"], 0),
    ];
    for (faults, code) in cases {
        let server = faulty(faults);
        let url = format!("http://{}/hello", server.address);
        let patience = if code == 28 { "1" } else { "60" };
        let finished = run(Command::new("curl").args(["-s", "-f", "-m", patience, &url]));
        assert_eq!(finished.code, code, "{faults:?}: {}", finished.err);
        assert!(code != 0 || finished.out == BODY, "{faults:?}: {}", finished.out);
    }
}

/// What `drome load` counts: completed, then the errors by kind.
fn counts(json: &Value) -> (u64, Vec<(String, u64)>) {
    let kinds = ["connect", "send", "receive", "timeout", "status", "body", "protocol", "unasked", "local"];
    let counted = kinds.map(|kind| (kind.to_owned(), json["errors"][kind].as_u64().unwrap()));
    (json["requests"]["completed"].as_u64().unwrap(), counted.into_iter().filter(|(_, n)| *n > 0).collect())
}

#[test]
fn drome_load_counts_every_fault_as_what_it_is() {
    let only = |kind: &str, n: u64| vec![(kind.to_owned(), n)];
    let cases = [
        (&["status=503"][..], 0, only("status", 40)),
        (&["reset"], 0, only("receive", 40)),
        (&["truncate"], 0, only("receive", 40)),
        (&["truncate", "chunked"], 0, only("receive", 40)),
        (&["truncate", "http10"], 0, only("body", 40)), // Such an answer has no other end.
        (&["garbage"], 0, only("protocol", 40)),
        (&["length=+5"], 0, only("timeout", 40)),
        // What follows an answer makes it a wrong one, once.
        (&["length=-5"], 0, only("body", 40)),
        (&["unasked"], 0, only("body", 40)),
        (&["drop-after=3"], 30, only("receive", 10)), // The fourth request on a connection is in vain.
        (&["close-after=3"], 40, vec![]),
        (&["chunked"], 40, vec![]),
        (&["http10"], 40, vec![]),
        (&["trickle=30B/1ms"], 40, vec![]),
        (&["delay=exp:2ms"], 40, vec![]),
        (&["stall=10ms/50ms,for=1s"], 40, vec![]),
        // Nobody reads on after the last answer of a connection.
        (&["unasked", "close-after=1"], 40, vec![]),
        (&["length=-5", "close-after=1"], 0, only("body", 40)),
        (&["delay=1h"], 0, only("timeout", 40)),
    ];
    for (n, (faults, completed, errors)) in cases.into_iter().enumerate() {
        let server = faulty_on(back_ends()[n % back_ends().len()], faults);
        let has_timeouts = errors.iter().any(|(kind, _)| kind == "timeout");
        let timeout = if has_timeouts { "100ms" } else { "30s" };
        // How many requests fall to each of several connections is not ours to say.
        let connections = if faults[0] == "drop-after=3" { "1" } else { "4" };
        let args = ["-c", connections, "-n", "40", "-t", "1", "--expect-length", "12", "--timeout", timeout];
        let (_, json) = load(server.address, "/hello", &args);
        assert_eq!(counts(&json), (completed, errors), "{faults:?}: {json}");
        assert_accounted(&json);
    }
}

#[test]
fn no_answer_comes_before_its_time() {
    let server = faulty(&["delay=uniform:20ms..40ms"]);
    let (code, json) = load(server.address, "/hello", &["-c", "50", "-n", "3000"]);
    assert_eq!(code, 0, "{json}");
    let latency = |of: &str| json["latency_ns"][of].as_f64().unwrap() / 1e6;
    assert!(latency("min") >= 20.0 && latency("mean") >= 29.0 && latency("max") >= 39.0, "{json}");
    assert!(
        json["duration_s"].as_f64().unwrap() < 70.0,
        "one after the other it would have been 90 s: {json}"
    );
}

#[test]
fn the_seed_decides_what_befalls_which_answers() {
    let errors = |seed: &str| {
        let server = serve(&[
            "--threads",
            "2",
            "--seed",
            seed,
            "--fault",
            "status=503@0.1",
            "--fault",
            "unasked@0.05",
        ]);
        let (_, json) = load(server.address, "/hello", &["-c", "8", "-n", "2000"]);
        assert_accounted(&json);
        let body = json["errors"]["body"].as_u64().unwrap();
        (json["errors"]["status"].as_u64().unwrap(), body)
    };
    let (first, again, other) = (errors("1"), errors("1"), errors("2"));
    assert!(first == again && first != other, "{first:?}, {again:?}, {other:?}");
    for (status, body) in [first, other] {
        // Five standard deviations of 2000 draws on either side of the shares. What follows an answer that is wrong already changes nothing.
        assert!((133..=267).contains(&status) && (44..=136).contains(&body), "{status}, {body}");
    }
}

#[test]
fn all_faults_at_once_are_accounted_for() {
    let faults = "status=503 status=204 reset truncate garbage length=+3 length=-3 unasked";
    let mut all: Vec<String> = faults.split(' ').map(|fault| format!("{fault}@0.05")).collect();
    all.extend(
        ["delay=lognormal:1ms,2ms", "trickle=100B/1ms", "close-after=20", "stall=5ms/100ms"]
            .map(String::from),
    );
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let manners =
        [&[][..], &["--pipeline", "4"], &["--rate", "2000"], &["--no-keepalive"], &["--io", "epoll"]];
    for (io, manner) in back_ends().iter().flat_map(|io| manners.map(|manner| (io, manner))) {
        let server = faulty_on(io, &all);
        let args = ["-c", "16", "-t", "2", "-n", "1000", "--timeout", "200ms", "--expect-length", "12"];
        let (_, json) = load(server.address, "/hello", &[&args, manner].concat());
        assert_accounted(&json);
        assert!(json["requests"]["completed"].as_u64().unwrap() > 0, "{json}");
        for kind in ["status", "receive", "protocol", "timeout", "body"] {
            // A connection that is closed after each answer leaves nothing to wait for, one with a pipeline
            // brings other answers' bytes.
            let is_certain = kind != "timeout" || !matches!(manner, ["--no-keepalive" | "--pipeline", ..]);
            assert!(!is_certain || json["errors"][kind].as_u64().unwrap() > 0, "no {kind}: {json}");
        }
    }
}

#[test]
fn the_help_has_every_fault_and_wrong_ones_are_refused_with_what_is_allowed() {
    let help = run(&mut Home::new().drome(&["serve", "--help"])).out;
    let forms = "stall=100ms/1s stall=100ms/1s,for=10s delay=5ms delay=exp:5ms delay=uniform:1ms..9ms \
        delay=normal:5ms,1ms delay=lognormal:5ms,1ms trickle=10B/100ms chunked http10 close-after=100 \
        drop-after=100 status=503@0.01 reset@0.01 truncate@0.01 garbage@0.01 length=+5@0.01 unasked@0.01";
    for form in forms.split_ascii_whitespace() {
        let lines = help.lines().filter(|line| line.trim_start().split(' ').next() == Some(form));
        assert_eq!(lines.count(), 1, "{form}: {help}");
    }
    let cases: [(&[&str], &str); 7] = [
        (&["melt=1s"], "unasked@0.01"),
        (&["delay=fast"], "delay=normal:5ms,1ms"),
        (&["status=99@0.1"], "status=503@0.01"),
        (&["reset@7"], "reset@0.01"),
        (&["delay=1ms", "delay=2ms"], "delay: given more than once"),
        (&["reset@0.6", "garbage@0.6"], "the shares add up to 1.2"),
        (&["chunked", "length=+1@0.1"], "leave out chunked"),
    ];
    for (faults, words) in cases {
        let args: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
        let finished = run(Home::new().drome(&["serve", "--port", "0"]).args(&args));
        finished.assert_err(2, &[words]);
    }
}
