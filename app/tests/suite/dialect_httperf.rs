//! httperf and drome in its place, against the same servers: what they print, send and end with is the same but for
//! times.

use crate::common::tools::{Ears, Ended, drome, real};
use crate::common::{process, serve};
use dialects::read;
use std::process::{Command, Stdio};

/// What Debian's build says of itself, not of the measurement.
const OWN_LIMIT: &str =
    "httperf: warning: open file limit > FD_SETSIZE; limiting max. # of open files to FD_SETSIZE\n";

/// drome's own word, on stderr.
const VOID: &str = "drome: this measurement is void";

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// Figures that are times, or made of times.
const TIMES: &[&str] = &[
    "client_core_use",
    "client_cpu_system_ns",
    "client_cpu_user_ns",
    "connect_burst_max",
    "connect_ns_mean",
    "connection_ns_max",
    "connection_ns_mean",
    "connection_ns_min",
    "connection_ns_p50",
    "connection_ns_sd",
    "connections_max",
    "connections_per_s",
    "duration_ns",
    "first_byte_ns_mean",
    "network_bytes_per_s",
    "rate_per_s",
    "rate_samples",
    "sampled_rate_per_s_max",
    "sampled_rate_per_s_mean",
    "sampled_rate_per_s_min",
    "sampled_rate_per_s_sd",
    "sent_per_s",
    "transfer_ns_mean",
];

/// Every number, a time or not, as `#`; of a histogram's lines, which are as many as times differ, none.
fn shape(out: &str) -> String {
    let is_bin = |line: &&str| !line.starts_with("    ");
    out.lines().filter(is_bin).map(|line| crate::common::tools::shape(line) + "\n").collect()
}

fn both(args: &[&str]) -> (Ended, Ended) {
    let (mut real, mut ours) = (real("httperf", args), drome("httperf", args));
    real.err = real.err.replace(OWN_LIMIT, "");
    ours.err =
        ours.err.lines().filter(|line| !line.starts_with(VOID)).map(|line| format!("{line}\n")).collect();
    (real, ours)
}

/// The same lines in the same order, the same first line, the same counts and sizes, the same words on stderr.
fn assert_same(args: &[&str]) {
    let (real, ours) = both(args);
    assert_eq!((ours.code, &ours.err), (real.code, &real.err), "{args:?}");
    assert_eq!(shape(&ours.out), shape(&real.out), "{args:?}");
    let echo = |out: &str| out.lines().find(|line| line.contains("--client=")).map(str::to_owned);
    assert_eq!(echo(&ours.out), echo(&real.out), "{args:?}");
    let counts = |out: &str| {
        let mut reading = read(out, "httperf").remove(0).reading;
        reading.figures.retain(|name, _| !TIMES.contains(&name.as_str()));
        (reading.figures, reading.status, reading.errors)
    };
    assert_eq!(counts(&ours.out), counts(&real.out), "{args:?}\n{}", ours.out);
}

/// Ends the same way, with the same words on both streams, before anything is measured.
fn assert_equal(args: &[&str]) {
    let (real, ours) = both(args);
    assert_eq!((ours.code, ours.out, ours.err), (real.code, real.out, real.err), "{args:?}");
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn reports_have_the_same_lines_counts_and_sizes() {
    let server = serve(&[]);
    let port = server.address.port().to_string();
    for line in [
        "--uri /hello",
        "--uri /hello --num-conns 20",
        "--uri /hello --num-conns 5 --num-calls 4",
        "--uri=/hello --num-conns=4 --num-calls=20 --burst-length=5",
        "--uri /hello --num-conns 3 --num-calls 2 --burst-length 9",
        "--uri /hello --num-conns 20 --rate 100 --hog",
        "--uri /hello --num-conns 5 --period 0.02",
        "--uri /hello --num-conns 5 --period=d0.02 --timeout 5 --think-timeout 1.5",
        "--uri /nothing --num-conns 4 --num-calls 2",
        "--uri /hello --http-version 1.0 --num-conns 3 --num-calls 2",
        "--uri /hello --method HEAD --num-calls 3",
        "--uri /hello --server 127.0.0.1 --server-name some.name --num-conns 2",
        "--uri /hello --verbose --num-conns 3 -d 3",
        "--uri /hello -vv --num-conns 3",
        "--uri /hello -V --num-conns 3",
        "--uri /hello --client 1/3 --num-conns 2 --failure-status 504 --max-connections 3 --retry-on-failure",
        "--uri /p --wset 20,0.5 --num-calls 6 --num-conns 2 -v",
        "--uri / --wset=1000,1 --num-calls 3 --client=2/4 --verbose",
        "--uri /hello --send-buffer 4096 --recv-buffer 16384 --max-piped-calls 3 --num-conns 2",
        "--uri /hello --period u0,0 --num-conns 3",
        "--uri /hello --period e0.01 --num-conns 20",
        "--uri /hello --period=u0.005,0.015 --num-conns 20 --num-calls 2",
    ] {
        assert_same(&[&["--port", &port], words(line).as_slice()].concat());
    }
    let header = "X-A: b\\nX-B: \\101\\\\\\n";
    assert_same(&["--port", &port, "--uri", "/hello", "--num-calls", "2", "--add-header", header]);
}

#[test]
fn failures_are_counted_alike() {
    let cases: [(&[&str], &str); 5] = [
        (&["status=503"], "--num-conns 3 --num-calls 2"),
        (&["chunked"], "--num-conns 3 --num-calls 2"),
        (&["reset"], "--num-conns 3"),
        (&["delay=2s"], "--num-conns 2 --timeout 0.3"),
        (&["delay=20ms"], "--num-conns 3 --num-calls 2 --rate 50"),
    ];
    for (faults, line) in cases {
        let args: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
        let server = serve(&args);
        let port = server.address.port().to_string();
        assert_same(&[&["--port", &port, "--uri", "/hello"], words(line).as_slice()].concat());
    }
    // Nobody listens there: every connection is refused, and counted.
    let refused = control::machine::ports::free_port().unwrap().to_string();
    assert_same(&["--port", &refused, "--num-conns", "7"]);
    assert_same(&[
        "--port",
        &refused,
        "--num-conns",
        "7",
        "--rate",
        "100",
        "--num-calls",
        "4",
        "--burst-length",
        "2",
    ]);
}

/// A server that closes before all calls are answered fails the connection. httperf finds out by one more request,
/// which drome, told by the answer, does not send.
#[test]
fn a_connection_that_ends_too_early_is_an_error() {
    let ears = || Ears::new(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", true);
    let run = |tool: fn(&str, &[&str]) -> Ended| {
        let port = ears().port.to_string();
        let out = tool("httperf", &["--port", &port, "--num-conns", "2", "--num-calls", "3"]).out;
        let reading = read(&out, "httperf").remove(0).reading;
        let figures = ["completed", "failed", "header_bytes"].map(|name| reading.get(name));
        (figures, reading.errors, reading.status)
    };
    assert_eq!(run(drome), run(real));
}

#[test]
fn requests_are_the_same_bytes() {
    for line in [
        "--uri /a?b=c",
        "--http-version 1.0",
        "--no-host-hdr",
        "--no-host-hdr --http-version=1.0",
        "--server-name some.name --method POST --uri x",
        "--num-calls 4 --burst-length 4 --method HEAD",
        "--wset 20,1 --uri /p --num-calls 3 --burst-length 3",
        "--wset 5,0.25 --uri / --client 1/2 --num-calls 8 --burst-length 8",
        "--add-header A:b\\nC:\\r\\a\\n",
        "--add-header X:\\x5\\61\\n --no-host-hdr",
        "--ssl-no-reuse --hog --timeout 0.5",
    ] {
        let calls = read_calls(line);
        let sent = |tool: fn(&str, &[&str]) -> Ended| {
            let ears = Ears::new(OK, false);
            let port = ears.port.to_string();
            let _ =
                tool("httperf", &[&["--port", &port, "--timeout", "0.5"], words(line).as_slice()].concat());
            // A call may come in a piece of its own, or with others.
            let mut bytes = ears.first();
            while bytes.windows(4).filter(|end| end == b"\r\n\r\n").count() < calls {
                bytes.extend(ears.first());
            }
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(sent(drome), sent(real), "{line}");
    }
}

/// How many blank lines a command line makes the tool send.
fn read_calls(line: &str) -> usize {
    line.split("--num-calls ").nth(1).map_or(1, |rest| words(rest)[0].parse().unwrap())
}

#[test]
fn messages_are_printed_alike() {
    const CHUNKED: &[u8] =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n";
    const LINES: &[u8] = b"HTTP/1.1 404 No\r\nContent-Length: 7\r\n\r\none\ntwo";
    for (answer, line) in [
        (OK, "--print-reply --print-request"),
        (OK, "--print-reply=header"),
        (LINES, "--print-reply=body --print-request=body"),
        (LINES, "--print-re=x"),
        (LINES, "--print-reply"),
        (CHUNKED, "--print-reply --print-request=header --method=POST"),
    ] {
        let ears = Ears::new(answer, false);
        let port = ears.port.to_string();
        let args = [&["--port", &port], words(line).as_slice()].concat();
        if line.contains("re=x") {
            assert_equal(&args);
            continue;
        }
        assert_same(&args);
        let messages = |out: &str| out.split("Maximum").next().unwrap().to_owned();
        let (real, ours) = both(&args);
        assert_eq!(messages(&ours.out), messages(&real.out), "{line}");
    }
}

#[test]
fn bad_command_lines_are_the_tool_s_own_errors() {
    for line in [
        "--help",
        "-h --bogus",
        "-Vh",
        "--bogus",
        "--bogus=1",
        "-x",
        "-vx",
        "-d",
        "--num 3",
        "--s",
        "--w",
        "--num-conns",
        "--num-conns x",
        "--num-conns 5x",
        "--num-calls 99999999999999999999",
        "--port 70000",
        "--port -1",
        "--rate abc",
        "--rate 1x",
        "--burst-length 0",
        "--http-version 2",
        "--http-version 1.2",
        "--client 0",
        "--client 2/2",
        "--client x",
        "--client 1/x",
        "--period z3",
        "--period u1",
        "--period u2,x",
        "--period e",
        "--period 0.5x",
        "--period -1",
        "--timeout x",
        "--think-timeout x",
        "--hog=3",
        "--send-buffer x",
        "--recv-buffer x",
        "--failure-status 0",
        "--max-connections x",
        "--max-piped-calls x",
        "--wset 3",
        "--wset 3,2",
        "--wset x,1",
        "--wset 3,0.5x",
        "--session-cookies",
        "--server nosuchhost.invalid",
        "--runtime 5",
        "--add-header a\\qb --server nosuchhost.invalid -V",
    ] {
        assert_equal(&words(line));
    }
}

#[test]
fn encrypted_calls_are_counted_alike() {
    let server = serve(&["--tls"]);
    let port = server.address.port().to_string();
    assert_same(&["--ssl", "--port", &port, "--uri", "/hello", "--num-conns", "3", "--num-calls", "2"]);
}

/// The command line on page 004, but for the port; a server that can't pipeline had the second one.
#[test]
fn the_command_lines_of_the_page_run_unchanged() {
    let server = serve(&["--io", "epoll"]);
    let port = server.address.port().to_string();
    let line = format!(
        "--hog --num-conns 1000 --num-calls 1000 --burst-length 20 --port {port} --rate 1000 --uri=/pong"
    );
    let out = drome("httperf", &words(&line)).out;
    let reading = read(&out, "httperf").remove(0).reading;
    let of = |name: &str| reading.get(name);
    assert_eq!(of("connections_opened"), Some(1000.0), "{out}");
    // Where the machine is busy, a server may not keep up with the beginnings.
    assert!(of("completed").unwrap() + 1000.0 * of("failed").unwrap() >= 1e6, "{out}");
    let line = format!(
        "--hog --num-conns 100 --num-calls 1 --burst-length 1 --port {port} --rate 10000 --uri=/pong"
    );
    assert_same(&words(&line));
}

/// A sample every five seconds, the first one earlier for one of several clients.
#[test]
fn the_rate_of_replies_is_sampled() {
    let server = serve(&["--fault", "delay=20ms"]);
    let port = server.address.port().to_string();
    let line = format!("--port {port} --uri /hello --num-conns 1 --num-calls 60 --client 0/10 -v");
    let (real, ours) = both(&words(&line));
    let samples = |out: &str| {
        let reading = read(out, "httperf").remove(0).reading;
        let rates = out.lines().filter(|line| line.starts_with("reply-rate = ")).count();
        (reading.get("rate_samples"), rates)
    };
    for out in [real.out, ours.out] {
        let (samples, lines) = samples(&out);
        assert!(lines > 0 && samples == Some(lines as f64), "{out}");
    }
}

#[test]
fn an_interrupted_measurement_is_reported() {
    let ears = Ears::new(b"", false);
    let port = ears.port.to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_drome"));
    command.args(["httperf", "--port", &port]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = process::spawn(&mut command);
    ears.first();
    process::signal(&child, "-INT");
    let finished = process::ended(child);
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let found = read(&finished.out, "httperf").remove(0).reading;
    assert_eq!(
        (found.get("sent"), found.get("completed"), found.get("failed")),
        (Some(1.0), Some(0.0), Some(0.0))
    );
}
