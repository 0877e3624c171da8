//! `http_load`'s report. The program is in no registry that the tests may use, so the expected reports were written by hand from what is known of it. Where each line comes from:
//!
//! | line | from |
//! | --- | --- |
//! | `fetches` | every exchange, answered or lost |
//! | `max parallel` | `-parallel`, or the fetches if there were fewer; with `-rate`, what was under way at the same time |
//! | `bytes` | bytes of bodies, whatever came of the fetch |
//! | `in … seconds` | the measured window |
//! | `mean bytes/connection` | bytes / fetches; left out without a fetch |
//! | `fetches/sec, bytes/sec` | by the window; left out where it is 10 ms or shorter |
//! | `msecs/connect` | begin of the connection to open, whole microseconds; left out where none was opened |
//! | `msecs/first-response` | send to first bytes, whole microseconds; left out where nothing came |
//! | `timeouts` | fetches given up after `-timeout`; left out where none was |
//! | `bad byte counts` | fetches with other bytes than the first one of their URL; left out where none had |
//! | `code … --` | answers by status, in order |

use crate::harness::{MS, OK, exchange, file, job, parse, parse_line, printed, read};
use dialects::Printed;
use model::{Connecting, End, Exchange, Gaps, Load, Loss, Order, Tally, Until};
use proptest::prelude::*;
use std::time::Duration;

/// Began at `at`, connected after `connect` µs, answered after `response` µs more, with so many bytes.
fn fetch(at: u64, connect: u64, response: u64, body_bytes: u64, end: End) -> Exchange {
    let sent_ns = at + connect * 1000;
    let first_byte_ns = sent_ns + response * 1000;
    exchange(at, 0, [at, sent_ns, sent_ns, first_byte_ns, first_byte_ns + MS], body_bytes, end)
}

#[test]
fn a_run_in_which_something_went_wrong() {
    let mut job = job("http_load", "-parallel 3 -seconds 5 http://127.0.0.1:1/x");
    let lost = |loss| exchange(9, 0, [9 * MS, 0, 0, 0, 10 * MS], 0, End::Lost(loss));
    let printed = job.hear(&[
        fetch(MS, 40, 1_600, 12, OK),
        fetch(2 * MS, 53, 720, 12, OK),
        fetch(3 * MS, 1_172, 6_744, 7, End::Answered { status: 404, keeps_alive: true }),
        lost(Loss::Connect),
    ]);
    assert_eq!(printed.err, "http://127.0.0.1:1/x: byte count wrong\nhttp://127.0.0.1:1/x: can't connect\n");
    assert_eq!(job.hear(&[fetch(MS, 10, 500, 13, OK)]).err, "http://127.0.0.1:1/x: byte count wrong\n");
    let late = fetch(MS, 10, 500, 3, End::Lost(Loss::Timeout));
    assert_eq!(job.hear(&[late]).err, "http://127.0.0.1:1/x: timed out\n");
    let printed = job.print(&Tally { duration_ns: 5_000_010_000, ..Tally::default() });
    assert_eq!(printed.exit, Some(0));
    assert_eq!(
        printed.out,
        "6 fetches, 3 max parallel, 47 bytes, in 5.00001 seconds\n\
         7.83333 mean bytes/connection\n\
         1.2 fetches/sec, 9.39998 bytes/sec\n\
         msecs/connect: 0.257 mean, 1.172 max, 0.01 min\n\
         msecs/first-response: 2.0128 mean, 6.744 max, 0.5 min\n\
         1 timeouts\n\
         4 bad byte counts\n\
         HTTP response codes:\n  code 200 -- 3\n  code 404 -- 1\n"
    );
}

#[test]
fn what_was_not_measured_has_no_line() {
    let mut job = job("http_load", "-p 3 -f 5 http://127.0.0.1:1/x");
    let printed = job.print(&Tally { duration_ns: 10_000_000, ..Tally::default() });
    assert_eq!(printed.out, "0 fetches, 0 max parallel, 0 bytes, in 0.01 seconds\nHTTP response codes:\n");
}

#[test]
fn with_a_rate_what_is_under_way_at_the_same_time_is_counted() {
    let mut job = job("http_load", "-rate 100 -seconds 5 http://127.0.0.1:1/x");
    // Told in the order of their ends: two, then three at the same time, the longest last.
    job.hear(&[fetch(0, 0, 1_000, 1, OK), fetch(MS, 0, 2_000, 1, OK)]);
    job.hear(&[
        fetch(20 * MS, 0, 100, 1, OK),
        fetch(20 * MS, 0, 200, 1, OK),
        fetch(10 * MS, 0, 90_000, 1, OK),
    ]);
    let printed = job.print(&Tally { duration_ns: 5_000_000_000, ..Tally::default() });
    assert!(printed.out.starts_with("5 fetches, 3 max parallel, 5 bytes, in 5 seconds\n"), "{}", printed.out);
}

#[test]
fn options_and_what_begins_like_them() {
    let plan = |line| job("http_load", line).plan().clone();
    let page = plan("-p 10 -s 5 http://127.0.0.1:1/");
    assert_eq!(page.load, Load::Closed { connections: 10, per_connection: Some(1) });
    assert_eq!((page.until, page.order), (Until::Elapsed(Duration::from_secs(5)), Order::Random));
    assert_eq!(page.timeout, Duration::from_mins(1));
    assert_eq!(
        String::from_utf8(page.asks[0].request.clone()).unwrap(),
        "GET / HTTP/1.0\r\nHost: 127.0.0.1\r\nUser-Agent: http_load 12mar2006\r\n\r\n"
    );
    assert_eq!(plan("-fe 7 -para 2 -ti 3 http://127.0.0.1:1/").until, Until::Closed(7));
    assert_eq!(plan("-p 1 -f 1 -ti 3 http://127.0.0.1:1/").timeout, Duration::from_secs(3));
    assert!(matches!(plan("-r 50 -f 9 http://127.0.0.1:1/").load, Load::Open { .. }));
    let proxied = plan("-prox 127.0.0.1:9 -p 1 -f 1 http://a.invalid/b");
    assert_eq!(proxied.target.address.to_string(), "127.0.0.1:9");
    assert!(
        proxied.asks[0].request.starts_with(b"GET http://a.invalid:80/b HTTP/1.0\r\nHost: a.invalid\r\n")
    );
}

/// `http_load` draws each time between two starts from nine to eleven tenths of the usual one.
#[test]
fn with_jitter_the_times_between_starts_vary_by_a_tenth() {
    let plan = |line| job("http_load", line).plan().clone();
    let varied = plan("-r 50 -jitter -f 9 http://127.0.0.1:1/");
    assert_eq!((varied.connecting.rate_per_s, varied.connecting.gaps), (Some(50.0), Gaps::Uniform(0.1)));
    assert!(matches!(varied.load, Load::Closed { per_connection: Some(1), .. }), "a fetch a connection");
    assert_eq!(varied.until, Until::Closed(9));
    let timed = plan("-j -r 50 -s 2 http://127.0.0.1:1/");
    assert_eq!(
        (timed.until, timed.connecting.gaps),
        (Until::Elapsed(Duration::from_secs(2)), Gaps::Uniform(0.1))
    );
    assert_eq!(plan("-r 50 -s 2 http://127.0.0.1:1/").connecting, Connecting::default());
}

#[test]
fn bad_command_lines() {
    for line in
        ["", "-p 1", "-p 1 -f 1", "-p 1 -f 1 a b", "-f 1 a", "-x", "-p 1 -f 1 -jitter http://a/", "-p"]
    {
        let printed = printed("http_load", line);
        assert!(
            printed.err.starts_with("usage:  http_load ") && printed.exit == Some(1),
            "{line}: {printed:?}"
        );
    }
    for (line, words) in [
        ("-p 0 -f 1 a", "http_load: parallel must be at least 1\n"),
        ("-p x -f 1 a", "http_load: parallel must be at least 1\n"),
        ("-p 5000 -f 1 a", "http_load: parallel may be at most 1021\n"),
        ("-r 1001 -f 1 a", "http_load: rate may be at most 1000\n"),
        ("-p 1 -s 0 a", "http_load: seconds must be at least 1\n"),
        ("-p 1 -f 1 /no/such/file", "/no/such/file: No such file or directory\n"),
        ("-p 1 -f 1 -sip /no/such/file http://127.0.0.1/", "/no/such/file: No such file or directory\n"),
        ("-p 1 -f 1 http://no.invalid/", "http_load: unknown host - no.invalid\n"),
    ] {
        assert_eq!(printed("http_load", line), Printed::err(words).exit(1), "{line}");
    }
}

#[test]
fn all_urls_are_on_one_server() {
    let with = |list: &str, options: &str| {
        let (_file, path) = file(list);
        parse_line("http_load", &format!("-p 1 -f 1 {options} {path}"))
    };
    assert_eq!(with("http://127.0.0.1:1/a\nhttp://127.0.0.1:1/b\n", "").unwrap().plan().asks.len(), 2);
    let printed = with("http://127.0.0.1:1/a\nhttp://127.0.0.1:2/b\n", "").err().unwrap();
    assert!(printed.exit == Some(2) && printed.err.contains("all URLs must be on one server"), "{printed:?}");
    assert_eq!(
        with("http://a.invalid/\nhttp://b.invalid/\n", "-proxy 127.0.0.1:3").unwrap().plan().asks.len(),
        2
    );
    let printed = with("ftp://a/\n", "").err().unwrap();
    assert_eq!(printed, Printed::err("http_load: unknown protocol - ftp://a/\n").exit(1));
    assert_eq!(with("", "").err().unwrap().exit, Some(1));
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        fetches in prop::collection::vec((0..9_000_u64, 1..90_000_u64, 1..90_000_u64, 0..1_000_000_u64, 0..5_u8), 1..50),
        duration_ms in 20..100_000_u64,
    ) {
        let mut job = job("http_load", "-p 4 -s 5 http://127.0.0.1:1/x");
        for &(at, connect, response, bytes, kind) in &fetches {
            let end = match kind {
                0 => End::Lost(Loss::Timeout),
                1 => End::Answered { status: 404, keeps_alive: false },
                _ => OK,
            };
            job.hear(&[fetch(at * MS, connect, response, bytes, end)]);
        }
        let printed = job.print(&Tally { duration_ns: duration_ms * MS, ..Tally::default() });
        let found = read("http_load", &printed.out);
        prop_assert_eq!(found.len(), 1);
        let reading = &found[0].reading;
        let near = |name: &str, value: f64| {
            let read = reading.get(name).unwrap_or(f64::NAN);
            (read - value).abs() <= value.abs() * 6e-6
        };
        let (n, bytes) = (fetches.len() as f64, fetches.iter().map(|f| f.3).sum::<u64>() as f64);
        let connects: Vec<u64> = fetches.iter().map(|f| f.1).collect();
        prop_assert_eq!(reading.get("completed"), Some(n));
        prop_assert!(near("body_bytes", bytes) && near("duration_ns", duration_ms as f64 * 1e6));
        prop_assert!(near("rate_per_s", n * 1000.0 / duration_ms as f64));
        prop_assert!(near("connect_ns_mean", connects.iter().sum::<u64>() as f64 * 1e3 / n));
        prop_assert!(near("connect_ns_max", *connects.iter().max().unwrap() as f64 * 1e3));
        prop_assert!(near("connect_ns_min", *connects.iter().min().unwrap() as f64 * 1e3));
        let late = fetches.iter().filter(|f| f.4 == 0).count() as u64;
        prop_assert_eq!(reading.errors.get("timeouts").copied().unwrap_or(0), late);
        let missing = fetches.iter().filter(|f| f.4 == 1).count() as u64;
        prop_assert_eq!(reading.status.get("404").copied().unwrap_or(0), missing);
        prop_assert!(found[0].strange.is_empty());
    }

    #[test]
    fn no_command_line_panics(args in prop::collection::vec("[-a-zT0-9:/ .]{0,12}", 0..6)) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let _ = parse("http_load", &args);
    }
}
