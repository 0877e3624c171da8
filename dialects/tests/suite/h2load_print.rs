//! h2load's command line and report, without a server. `app/tests/suite/dialect_h2load.rs` compares both with the real tool's.

use crate::harness::{self, MS, OK, file, one, parse};
use dialects::{Halt, Job, Printed};
use model::{Address, End, Exchange, Load, Loss, Protocol, Resumption, Tally, Until};
use proptest::prelude::*;
use std::time::Duration;

fn job(line: &str) -> Box<dyn Job> {
    harness::job("h2load", line)
}

fn refused(args: &[&str]) -> Printed {
    parse("h2load", args).err().unwrap_or_else(|| panic!("{args:?} was taken"))
}

/// An exchange of the connection with this number of this worker.
fn exchange(worker: u64, nth: u32, times_ns: [u64; 5], status: u16) -> Exchange {
    harness::exchange(worker << 32, nth, times_ns, 12, End::Answered { status, keeps_alive: true })
}

#[test]
fn a_measurement_from_its_beginning_to_its_end() {
    let mut job = job("-n 21 -c 5 -t 2 -m 3 http://127.0.0.1:8080/");
    let begin = "\
starting benchmark...
spawning thread #0: 3 total client(s). 11 total requests
spawning thread #1: 2 total client(s). 10 total requests
";
    assert_eq!(job.begin(), Printed::out(begin));
    let first = [
        exchange(0, 0, [0, MS / 10, MS, 2 * MS, 3 * MS], 200),
        exchange(1, 0, [0, MS / 5, MS, 2 * MS, 5 * MS], 302),
        exchange(0, 1, [0, MS / 10, 3 * MS, 8 * MS, 9 * MS], 404),
    ];
    // Only the first thread tells how far it is.
    let out = "Application protocol: h2c\nprogress: 9% done\nprogress: 18% done\n";
    assert_eq!(job.hear(&first), Printed::out(out));
    let lost = Exchange { end: End::Lost(Loss::Receive), ..first[0] };
    assert_eq!(job.hear(&[lost]), Printed::default());
    let mut tally = Tally {
        duration_ns: 2_003_004_999,
        sent: 4,
        received_bytes: 1_468_210,
        body_bytes: 36,
        status: [(200, 1), (302, 1), (404, 1)].into(),
        error_causes: [("receive: it broke".to_owned(), 1)].into(),
        served: vec![2, 1],
        ..Tally::default()
    };
    tally.errors.receive = 1;
    let end = "
finished in 2.00s, 1.50 req/s, 715.82KB/s
requests: 21 total, 4 started, 3 done, 2 succeeded, 2 failed, 1 errored, 0 timeout
status codes: 1 2xx, 1 3xx, 1 4xx, 0 5xx
traffic: 1.40MB (1468210) total, B () headers (space savings %), 36B (36) data
                     min         max         mean         sd        +/- sd
time for request:     2.00ms      6.00ms      4.00ms      2.00ms   100.00%
time for connect:      100us       200us       150us        70us   100.00%
time to 1st byte:     2.00ms      2.00ms      2.00ms         0us   100.00%
req/s           :       0.50        1.00        0.75        0.35   100.00%
";
    let err = "drome h2load: receive: it broke (1 times)\n".to_owned();
    assert_eq!(job.print(&tally), Printed { err, ..Printed::out(end) });
}

#[test]
fn a_test_that_time_ends_says_so_and_counts_no_warming_up() {
    let mut job = job("-D 1500ms --warm-up-time 1 -c 12 -n 3 http://127.0.0.1:8080/");
    let begin = "\
starting benchmark...
spawning thread #0: 12 total client(s). Timing-based test with 1s of warm-up time and 1.5s of main duration for measurements.
Warm-up started for thread #0.
";
    let clients = (1..=12).map(|n| format!("progress: {}% of clients started\n", n * 100 / 12));
    assert_eq!(job.begin().out, format!("{begin}{}", clients.collect::<String>()));
    let early = exchange(0, 0, [5 * MS, 6 * MS, 7 * MS, 8 * MS, 9 * MS], 200);
    assert_eq!(job.hear(&[early]).out, "Application protocol: h2c\n");
    let later = exchange(0, 1, [5 * MS, 6 * MS, 1005 * MS, 1006 * MS, 1007 * MS], 200);
    let over = "\
Warm-up phase is over for thread #0.
Main benchmark duration is started for thread #0.
";
    assert_eq!(job.hear(&[later, later]).out, over);
    let tally = Tally { duration_ns: 1500 * MS, sent: 3, status: [(200, 2)].into(), ..Tally::default() };
    let out = job.print(&tally).out;
    for line in [
        "Main benchmark duration is over for thread #0. Stopping all clients.\nStopped all clients for thread #0\n",
        "finished in 2.50s, 1.33 req/s, 0B/s\nrequests: 2 total, 3 started, 2 done, 2 succeeded, 0 failed, ",
        "time for request:     2.00ms      2.00ms ",
        "time for connect:        0us         0us         0us         0us     0.00%\n",
    ] {
        assert!(out.contains(line), "no {line} in {out}");
    }
}

#[test]
fn what_tls_agreed_on_is_told_at_the_end() {
    let agreed = |protocol, cipher_suite, group| {
        let mut job = job("https://127.0.0.1:8080/");
        assert_eq!(job.hear(&[exchange(0, 0, [1, 2, 3, 4, 5], 200)]).out, "progress: 100% done\n");
        let agreed = Some(model::tally::Agreed { protocol, cipher_suite, group });
        job.print(&Tally { agreed, ..Tally::default() }).out
    };
    let known = "\
TLS Protocol: TLSv1.3
Cipher: TLS_AES_128_GCM_SHA256
Server Temp Key: X25519 253 bits
Application protocol: h2

finished in ";
    assert!(agreed("TLS 1.3", "TLS_AES_128_GCM_SHA256", Some("X25519")).starts_with(known));
    let of_1_2 = "\
TLS Protocol: TLSv1.2
Cipher: ECDHE-RSA-AES128-GCM-SHA256
Application protocol: h2

finished in ";
    assert!(agreed("TLS 1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", None).starts_with(of_1_2));
}

#[test]
fn where_nobody_listens_all_requests_are_errored() {
    let mut job = job("-n 10 -c 2 http://127.0.0.1:1/");
    let printed = job.fail(&Halt::Connect(std::io::Error::from_raw_os_error(111)));
    assert_eq!(printed.exit, Some(0));
    assert!(printed.err.starts_with("drome h2load: no connection could be opened: "), "{}", printed.err);
    let rest = "requests: 10 total, 0 started, 0 done, 0 succeeded, 10 failed, 10 errored, 0 timeout\n";
    let rates = "req/s           :       0.00        0.00        0.00        0.00   100.00%\n";
    assert!(printed.out.contains(rest) && printed.out.ends_with(rates), "{}", printed.out);
    let printed = job.fail(&Halt::Other { why: "no".to_owned(), errno: None });
    assert_eq!((printed.err.as_str(), printed.exit), ("drome h2load: no\n", Some(1)));
    let halted = job.print(&Tally { halted: Some("no ports".to_owned()), ..Tally::default() });
    assert_eq!((halted.out.as_str(), halted.exit), ("", Some(1)));
}

#[test]
fn the_plan_is_what_was_asked() {
    let plan = job("http://127.0.0.1:81/").plan().clone();
    let one = Load::Closed { connections: 1, per_connection: None };
    assert_eq!((plan.threads, plan.pipeline, plan.load, plan.until), (1, 1, one, Until::Answered(1)));
    assert_eq!((plan.protocol, plan.warmup, plan.target.tls), (Protocol::Http2, Duration::ZERO, false));
    let plan = job("-n 100 -c 10 -t 3 -m 5 https://127.0.0.1:81/").plan().clone();
    let ten = Load::Closed { connections: 10, per_connection: None };
    assert_eq!((plan.threads, plan.pipeline, plan.load, plan.until), (3, 5, ten, Until::Answered(100)));
    assert_eq!(
        (plan.protocol, plan.tls.insecure, plan.tls.resumption),
        (Protocol::Http2, true, Resumption::Off)
    );
    let plan = job("--duration=2m --warm-up-time=300ms http://127.0.0.1:81/").plan().clone();
    assert_eq!(plan.until, Until::Elapsed(Duration::from_mins(2)));
    assert_eq!(plan.warmup, Duration::from_millis(300));
}

#[test]
fn the_protocol_is_that_of_the_options() {
    let http = "http://127.0.0.1:81/";
    let https = "https://127.0.0.1:81/";
    for (line, uri, protocol) in [
        ("", http, Protocol::Http2),
        ("-p h2c", http, Protocol::Http2),
        ("-p HTTP/1.1", http, Protocol::Http1),
        ("-p http/1.1", https, Protocol::Http2),
        ("--h1", http, Protocol::Http1),
        ("--h1", https, Protocol::Http1),
        ("--h1 -p h2c", http, Protocol::Http2),
        ("--npn-list http/1.1", https, Protocol::Http1),
        ("--npn-list http/1.1", http, Protocol::Http2),
        ("--h1 --npn-list h2,h2-16,h2-14,http/1.1", https, Protocol::Http2),
    ] {
        assert_eq!(job(&format!("{line} {uri}")).plan().protocol, protocol, "{line} {uri}");
    }
    let (_file, path) = file("body");
    let pipeline = |line: &str| job(&format!("-m 7 -d {path} {line} {http}")).plan().pipeline;
    assert_eq!([pipeline(""), pipeline("--h1")], [7, 1]);
}

#[test]
fn requests_are_the_tool_s() {
    let (_file, path) = file("a=b");
    let asks = |line: &str| -> Vec<String> {
        let asks = job(line).plan().asks.clone();
        asks.into_iter().map(|ask| String::from_utf8(ask.request).unwrap()).collect()
    };
    let agent = "user-agent: h2load nghttp2/1.52.0\r\n";
    let head = format!("Host: 127.0.0.1:81\r\n{agent}");
    assert_eq!(asks("http://127.0.0.1:81"), [format!("GET / HTTP/1.1\r\n{head}\r\n")]);
    // Only paths count behind the first URI.
    let several = ["/a?b", "/c", "/"].map(|path| format!("GET {path} HTTP/1.1\r\n{head}\r\n"));
    assert_eq!(asks("http://127.0.0.1:81/a?b /c http://other:99"), several);
    let (_list, list) = file("http://127.0.0.1:81/a?b\n/c\nhttps://other/\n");
    assert_eq!(asks(&format!("-i {list}")), several);
    assert_eq!(asks("-B http://127.0.0.1:81/x http://other/a?b /c /"), several);
    let posted = format!("POST / HTTP/1.1\r\n{head}x-y: z\r\nContent-Length: 3\r\n\r\na=b");
    assert_eq!(asks(&format!("-d {path} -H X-Y:z http://127.0.0.1:81/")), [posted]);
    let own = "-H :method:PUT -H :authority:me -H user-agent:it -H :scheme:http http://127.0.0.1/";
    assert_eq!(asks(own), ["PUT / HTTP/1.1\r\nHost: me\r\nuser-agent: it\r\n\r\n"]);
    assert_eq!(
        asks("--h1 -H host:other http://127.0.0.1/"),
        [format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{agent}host: other\r\n\r\n")]
    );
    assert!(job("-H :method:HEAD http://127.0.0.1/").plan().asks[0].head_only);
}

#[test]
fn connections_go_where_they_are_told_to() {
    let target = |line: &str| job(line).plan().target.clone();
    let there = target("--connect-to 127.0.0.1:82 https://nosuchhost.invalid:99/");
    assert_eq!(
        (there.address.to_string().as_str(), there.host.as_str()),
        ("127.0.0.1:82", "nosuchhost.invalid:99")
    );
    let own_port = |uri: &str| target(&format!("--connect-to [::1] {uri}")).address.to_string();
    let uris = ["http://nosuchhost.invalid:99/", "http://nosuchhost.invalid/", "https://[::2]/"];
    assert_eq!(uris.map(own_port), ["[::1]:99", "[::1]:80", "[::1]:443"]);
    let socket = target("-B unix:/tmp/x http://nosuchhost.invalid/");
    assert_eq!(
        (socket.address, socket.host.as_str()),
        (Address::Unix("/tmp/x".into()), "nosuchhost.invalid")
    );
}

/// All of these are the words of h2load 1.52.
#[test]
fn what_is_wrong_is_the_tool_s_own_error() {
    let uri = "http://127.0.0.1:81/";
    let cases: &[(&[&str], &str)] = &[
        (&[], "no URI or input file given"),
        (&["-n", "5x", uri], "-n: bad option value: 5x"),
        (&["-n", "-1", uri], "-n: bad option value: -1"),
        (&["--requests", "99999999999999999999", uri], "-n: bad option value: 99999999999999999999"),
        (&["-c1e3", uri], "-c: bad option value: 1e3"),
        (
            &["-n0", uri],
            "-n: the number of requests must be strictly greater than 0 if timing-based test is not being run.",
        ),
        (&["-c0", uri], "-c: the number of clients must be strictly greater than 0."),
        (&["-c2", uri], "-n, -c: the number of requests must be greater than or equal to the clients."),
        (
            &["-t2", uri],
            "-c, -t: the number of clients must be greater than or equal to the number of threads.",
        ),
        (&["-t0", uri], "-t: the number of threads must be strictly greater than 0."),
        (&["-m0", uri], "-m: the max concurrent streams must be strictly greater than 0."),
        (&["-D", "1.5", uri], "-D: value error 1.5"),
        (&["-D5x", uri], "-D: value error 5x"),
        (&["--warm-up-time", "x", uri], "--warm-up-time: value error x"),
        (&["-z", uri], "h2load: invalid option -- 'z'"),
        (&["-n"], "h2load: option requires an argument -- 'n'"),
        (&["--requests"], "h2load: option '--requests' requires an argument"),
        (&["--foo", uri], "h2load: unrecognized option '--foo'"),
        (&["127.0.0.1:81"], "invalid URI: 127.0.0.1:81"),
        (&["http://"], "invalid URI: http://"),
        (&["/x"], "invalid URI: /x"),
        (&[uri, "x y"], "invalid URI: x y"),
        (&["-Hx", uri], "-H: invalid header: x"),
        (&["-H:", uri], "-H: invalid header: :"),
        (&["-H:x", uri], "-H: invalid header: :x"),
        (&["-Hx: ", uri], "-H: invalid header - value missing: x: "),
        (&["-pfoo", uri], "-p: unsupported protocol foo"),
        (&["-d/nonexistent", uri], "-d: Could not open file /nonexistent"),
        (&["-d/dev/null", uri], "-d: Could not mmap file /dev/null"),
        (&["-i/nonexistent"], "cannot read input file: /nonexistent"),
        (&["-i/dev/null"], "no URI available"),
        (&["-Bx", uri], "--base-uri: invalid base URI: x"),
        (&["-Bunix:", uri], "--base-uri: invalid UNIX domain socket path: unix:"),
        (&["--connect-to=:1", uri], "--connect-to: Invalid value :1"),
        (&["--connect-to=a:b", uri], "--connect-to: Invalid value a:b"),
        (&["http://nosuchhost.invalid/"], "getaddrinfo() failed: Name or service not known"),
        (&["http://nghttp2.org/"], "Using h2load against public server nghttp2.org should be prohibited."),
    ];
    for (args, why) in cases {
        let expected = Printed::err(format!("{why}\n")).exit(1);
        assert_eq!(refused(args), expected, "{args:?}");
    }
    assert_eq!(refused(&["--version"]), Printed::out("h2load nghttp2/1.52.0\n").exit(0));
    assert!(refused(&["-h"]).out.starts_with("Usage: h2load [OPTIONS]... [URI]...\n"));
}

#[test]
fn the_help_has_every_option_that_is_taken() {
    let help = refused(&["--help"]).out;
    for name in
        ["requests", "clients", "threads", "input-file", "max-concurrent-streams", "header", "no-tls-proto"]
    {
        assert!(help.contains(&format!("--{name}=")), "{name}");
    }
    for name in ["data", "duration", "warm-up-time", "base-uri", "npn-list", "connect-to"] {
        assert!(help.contains(&format!("--{name}=")), "{name}");
    }
}

fn any_end() -> impl Strategy<Value = Option<u16>> {
    prop_oneof![4 => (200u16..600).prop_map(Some), 1 => Just(None)]
}

proptest! {
    /// What is printed is read back, to the digits that are printed.
    #[test]
    fn what_is_printed_is_read(
        ends in prop::collection::vec((any_end(), 1u64..10_000_000_000, 0u64..1_000_000), 1..100),
        duration_ns in 1_000_000u64..100_000_000_000,
        around_bytes in 0u64..10_000_000_000,
        threads in 1usize..3,
        is_http1 in any::<bool>(),
    ) {
        let http1 = if is_http1 { "--h1" } else { "" };
        let mut job = job(&format!("-n 1000 -c 20 -t {threads} {http1} http://127.0.0.1:81/"));
        let mut out = job.begin().out;
        let each = |(at, (status, service_ns, connect_ns)): (usize, &(Option<u16>, u64, u64))| {
            let (open, connection) = (1 + connect_ns, at as u64);
            let times = [1, open, open, open + service_ns / 2, open + service_ns];
            let end = status.map_or(End::Lost(Loss::Ended), |status| End::Answered { status, keeps_alive: true });
            Exchange { connection, ..harness::exchange(0, 0, times, 12, end) }
        };
        let exchanges: Vec<_> = ends.iter().enumerate().map(each).collect();
        out += &job.hear(&exchanges).out;
        let statuses: Vec<u16> = ends.iter().filter_map(|(status, ..)| *status).collect();
        let done = statuses.len() as u64;
        let mut tally = Tally { duration_ns, sent: ends.len() as u64, body_bytes: done * 12, ..Tally::default() };
        tally.received_bytes = done * 12 + around_bytes;
        tally.errors.receive = ends.len() as u64 - done;
        statuses.iter().for_each(|status| *tally.status.entry(*status).or_default() += 1);
        out += &job.print(&tally).out;
        let found = one("h2load", &out);
        prop_assert_eq!(&found.strange, &Vec::<String>::new());
        let get = |name: &str| found.reading.get(name);
        let is_near = |name: &str, value: f64, error: f64| {
            let read = get(name).unwrap_or_else(|| panic!("no {name} in {out}"));
            assert!((read - value).abs() <= error, "{name} is {read}, not {value}: {out}");
        };
        let succeeded = statuses.iter().filter(|status| **status < 400).count();
        is_near("completed", succeeded as f64, 0.0);
        is_near("failed", (ends.len() - succeeded) as f64, 0.0);
        is_near("requests", 1000.0, 0.0);
        is_near("sent", ends.len() as f64, 0.0);
        is_near("received_bytes", tally.received_bytes as f64, 0.0);
        is_near("body_bytes", done as f64 * 12.0, 0.0);
        is_near("threads", threads as f64, 0.0);
        is_near("connections", 20.0, 0.0);
        is_near("rate_per_s", done as f64 * 1e9 / duration_ns as f64, 0.005);
        prop_assert_eq!(get("head_bytes"), None, "what is not known is no figure");
        // Two decimals of the unit, which is at most a second.
        is_near("duration_ns", duration_ns as f64, 0.01e9);
        let answered = ends.iter().filter(|(status, ..)| status.is_some());
        let services: Vec<f64> = answered.map(|(_, service_ns, _)| *service_ns as f64).collect();
        if let Some(most) = services.iter().copied().reduce(f64::max).filter(|most| *most >= 1e3) {
            let mean = services.iter().sum::<f64>() / services.len() as f64;
            is_near("latency_ns_max", most, 0.01e9);
            is_near("latency_ns_mean", mean, 0.01e9);
        }
        for (name, low) in [("2xx", 200), ("3xx", 300), ("4xx", 400), ("5xx", 500)] {
            let class = statuses.iter().filter(|status| (low..low + 100).contains(*status)).count() as u64;
            prop_assert_eq!(found.reading.status.get(name).copied().unwrap_or(0), class);
        }
    }
}

#[test]
fn a_lost_request_has_no_time() {
    let mut job = job("-n 2 http://127.0.0.1:81/");
    job.hear(&[harness::exchange(0, 0, [1, 2, 3, 4, 5 * MS], 0, End::Lost(Loss::Ended))]);
    job.hear(&[harness::exchange(1, 0, [MS, 2 * MS, 2 * MS, 3 * MS, 4 * MS], 12, OK)]);
    let out = job.print(&Tally::default()).out;
    assert!(
        out.contains("time for request:     2.00ms      2.00ms      2.00ms         0us   100.00%\n"),
        "{out}"
    );
    assert!(out.contains("time to 1st byte:     2.00ms      2.00ms "), "{out}");
}
