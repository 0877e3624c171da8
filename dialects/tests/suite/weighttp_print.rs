//! weighttp's command line and report. The tool is in no registry that the tests may use, so this is held against what
//! is known of it:
//!
//! | what | where it comes from |
//! | --- | --- |
//! | options, defaults, `-n` mandatory | the notes on weighttp 0.3/0.4, from its source |
//! | banner, `starting benchmark...` | the first lines of 0.3, from its source |
//! | `spawning thread #…: … concurrent requests, … total requests` | 0.3, from its source; later versions have it too |
//! | `progress: %3d% done`, a tenth of the first thread's requests at a time | 0.3, from its source |
//! | `finished in …`, `requests:`, `status codes:`, `traffic:`; whole numbers, cut off; KiB | the notes |
//! | a status of 400 or more fails, one below succeeds; what is errored is failed, too | 0.3, from its source |
//! | data is the bodies of what succeeded, http is all the rest | 0.3, from its source |
//! | messages of bad command lines, on stderr, help on stdout, code 1 | 0.3, from its source |
//! | the request: Host, User-Agent unless given, headers, Connection | 0.3, from its source |
//! | where nobody listens: one request, errored | drome's own; the tool tries them all |

use crate::harness::{self, one, parse};
use dialects::{Halt, Job, Printed};
use model::{End, Exchange, Loss, Tally};
use proptest::prelude::*;

fn job(line: &str) -> Box<dyn Job> {
    harness::job("weighttp", line)
}

fn printed(line: &str) -> Printed {
    harness::printed("weighttp", line)
}

fn exchange(worker: u64, end: End) -> Exchange {
    harness::exchange(worker << 32, 0, [1, 2, 3, 4, 5], 12, end)
}

fn answered(status: u16) -> End {
    End::Answered { status, keeps_alive: true }
}

#[test]
fn a_measurement_from_its_beginning_to_its_end() {
    let mut job = job("-n 21 -c 5 -t 2 -k http://127.0.0.1:8080/");
    let begin = "\
weighttp - a lightweight and simple webserver benchmarking tool

starting benchmark...
spawning thread #1: 3 concurrent requests, 11 total requests
spawning thread #2: 2 concurrent requests, 10 total requests
";
    assert_eq!(job.begin(), Printed::out(begin));
    // Only the first thread tells how far it is.
    let first = [exchange(0, answered(200)), exchange(1, answered(200)), exchange(0, answered(404))];
    assert_eq!(job.hear(&first), Printed::out("progress:   9% done\nprogress:  18% done\n"));
    let lost = [exchange(0, End::Lost(Loss::Receive)), exchange(1, answered(302))];
    assert_eq!(job.hear(&lost), Printed::out("progress:  27% done\n"));
    let tally = Tally {
        duration_ns: 2_003_004_999,
        sent: 5,
        received_bytes: 5_000_000,
        status: [(200, 2), (302, 1), (404, 1)].into(),
        error_causes: [("receive: it broke".to_owned(), 1)].into(),
        ..Tally::default()
    };
    let end = "
finished in 2 sec, 3 millisec and 4 microsec, 2 req/s, 2437 kbyte/s
requests: 21 total, 5 started, 5 done, 3 succeeded, 2 failed, 1 errored
status codes: 2 2xx, 1 3xx, 1 4xx, 0 5xx
traffic: 5000000 bytes total, 4999964 bytes http, 36 bytes data
";
    let expected = Printed { err: "error: receive: it broke (1 times)\n".to_owned(), ..Printed::out(end) };
    assert_eq!(job.print(&tally), expected);
}

#[test]
fn all_is_done_in_ten_steps() {
    let mut job = job("-n 1000 -c 10 http://127.0.0.1/");
    let out: String = (0..10).map(|_| job.hear(&[exchange(0, answered(200)); 100]).out).collect();
    let expected: String = (1..=10).map(|tenth| format!("progress: {:>3}% done\n", tenth * 10)).collect();
    assert_eq!(out, expected);
}

#[test]
fn where_nobody_listens_one_was_tried() {
    let mut job = job("-n 10 http://127.0.0.1:1/");
    let printed = job.fail(&Halt::Connect(std::io::Error::from_raw_os_error(111)));
    assert_eq!(
        (printed.err.as_str(), printed.exit),
        ("error: connect() failed: Connection refused (111)\n", Some(0))
    );
    assert!(
        printed.out.contains("\nrequests: 10 total, 1 started, 1 done, 0 succeeded, 1 failed, 1 errored\n")
    );
    let printed = job.fail(&Halt::Other { why: "no".to_owned(), errno: None });
    assert_eq!((printed.err.as_str(), printed.exit), ("error: no\n", Some(2)));
}

#[test]
fn the_request_is_the_tool_s() {
    let request = |line: &str| String::from_utf8(job(line).plan().asks[0].request.clone()).unwrap();
    let rest = "User-Agent: weighttp/0.3\r\nConnection: close\r\n\r\n";
    for (url, path, host) in [
        ("127.0.0.1", "/", "127.0.0.1"),
        ("http://127.0.0.1:80/x?y", "/x?y", "127.0.0.1"),
        ("127.0.0.1:81", "/", "127.0.0.1:81"),
        ("http://localhost:81/a/b", "/a/b", "localhost:81"),
    ] {
        assert_eq!(request(&format!("-n 1 {url}")), format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{rest}"));
    }
    let headers = request("-k -n1 -H A:1 127.0.0.1/ -H B:2");
    let expected = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: weighttp/0.3\r\nA:1\r\nB:2\r\n\
        Connection: keep-alive\r\n\r\n";
    assert_eq!(headers, expected);
    let job = parse("weighttp", &["-n1", "-H", "User-Agent: foo", "127.0.0.1"]).unwrap();
    let expected = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: foo\r\nConnection: close\r\n\r\n";
    assert_eq!(job.plan().asks[0].request, expected);
}

#[test]
fn the_plan_is_what_was_asked() {
    let plan = job("-n 100 -c 10 -t 3 127.0.0.1:81").plan().clone();
    let load = model::Load::Closed { connections: 10, per_connection: Some(1) };
    assert_eq!((plan.threads, plan.load, plan.until), (3, load, model::Until::Answered(100)));
    assert_eq!(plan.target.address.to_string(), "127.0.0.1:81");
    assert_eq!(job("-k -n 100 127.0.0.1:81").plan().load.per_connection(), None);
}

#[test]
fn what_is_wrong_is_the_tool_s_own_error() {
    let banner = "weighttp - a lightweight and simple webserver benchmarking tool\n\n";
    for (line, why) in [
        ("", "missing url argument\n"),
        ("-n 1", "missing url argument\n"),
        ("-n 1 a b", "too many arguments\n"),
        ("127.0.0.1", "number of requests has to be > 0\n"),
        ("127.0.0.1 -n", "number of requests has to be > 0\n"),
        ("-n 0 127.0.0.1", "number of requests has to be > 0\n"),
        ("-n x 127.0.0.1", "insane arguments\n"),
        ("-n 5 -c 6 127.0.0.1", "insane arguments\n"),
        ("-n 5 -c 2 -t 3 127.0.0.1", "insane arguments\n"),
        ("-n 5 -c 0 127.0.0.1", "number of concurrent clients has to be > 0\n"),
        ("-n 5 -t x 127.0.0.1", "thread count has to be > 0\n"),
        ("-n 500 -t 256 127.0.0.1", "thread count has to be > 0\n"),
        ("-n 5 -z 127.0.0.1", "unkown option: -z"),
        ("-n 5 --help 127.0.0.1", "unkown option: --"),
    ] {
        let printed = printed(line);
        assert_eq!((printed.err, printed.exit), (format!("error: {why}\n"), Some(1)), "{line}");
        assert!(printed.out.starts_with(&format!("{banner}weighttp <options> <url>\n")), "{line}");
    }
    for (line, why) in [
        ("-n 1 https://127.0.0.1/", "no ssl support yet"),
        ("-n 1 127.0.0.1:/x", "could not parse url"),
        ("-n 1 nosuchhost.invalid", "could not resolve hostname: nosuchhost.invalid"),
        ("-n 1 -6 127.0.0.1", "could not resolve hostname: 127.0.0.1"),
    ] {
        assert_eq!(
            printed(line),
            Printed { err: format!("error: {why}\n"), ..Printed::out(banner) }.exit(1),
            "{line}"
        );
    }
    assert_eq!(printed("-h").exit, Some(0));
    assert_eq!(printed("-kv"), Printed::out(format!("{banner}version:    0.3\n\n")).exit(0));
}

fn any_end() -> impl Strategy<Value = End> {
    prop_oneof![
        4 => (100u16..600).prop_map(answered),
        1 => Just(End::Lost(Loss::Receive)),
    ]
}

proptest! {
    #[test]
    fn what_is_printed_is_read(
        ends in prop::collection::vec(any_end(), 1..200),
        duration_ns in 1u64..100_000_000_000,
        around_bytes in 0u64..10_000_000,
        threads in 1u8..5,
    ) {
        let mut job = job(&format!("-n 1000 -c 20 -t {threads} 127.0.0.1"));
        let mut out = job.begin().out;
        let exchanges: Vec<_> = ends.iter().map(|end| exchange(1, *end)).collect();
        out += &job.hear(&exchanges).out;
        let statuses: Vec<u16> = exchanges.iter().filter_map(Exchange::status).collect();
        let succeeded = statuses.iter().filter(|status| **status < 400).count() as u64;
        let mut tally = Tally { duration_ns, sent: ends.len() as u64, ..Tally::default() };
        tally.received_bytes = succeeded * 12 + around_bytes;
        statuses.iter().for_each(|status| *tally.status.entry(*status).or_default() += 1);
        out += &job.print(&tally).out;
        let found = one("weighttp", &out);
        prop_assert!(found.strange.is_empty());
        let get = |name: &str| found.reading.get(name).unwrap();
        prop_assert_eq!(get("duration_ns") as u64, duration_ns / 1000 * 1000);
        prop_assert_eq!(get("completed") as u64, succeeded);
        prop_assert_eq!(get("failed") as u64, ends.len() as u64 - succeeded);
        prop_assert_eq!(get("received_bytes") as u64, tally.received_bytes);
        prop_assert_eq!(get("body_bytes") as u64, succeeded * 12);
        prop_assert_eq!((get("threads") as u8, get("connections") as u64), (threads, 20));
        prop_assert!((get("rate_per_s") - ends.len() as f64 * 1e9 / duration_ns as f64).abs() <= 1.0);
        let class = |low| statuses.iter().filter(|status| (low..low + 100).contains(*status)).count() as u64;
        for (name, low) in [("2xx", 200), ("3xx", 300), ("4xx", 400), ("5xx", 500)] {
            prop_assert_eq!(found.reading.status.get(name).copied().unwrap_or(0), class(low));
        }
    }
}
