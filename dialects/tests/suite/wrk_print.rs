//! What wrk and wrk2 say of a measurement. For wrk the program itself is the judge, in the tests of the binary; for
//! wrk2 it is this table of where each line comes from:
//!
//! | line | from |
//! | --- | --- |
//! | `Running 30s test @ URL` | `-d`, in whole seconds, or minutes from 51 s on; the URL as it was given |
//! | `  2 threads and 100 connections` | `-t`, `-c` as they were given |
//! | `  Thread calibration: mean lat.: 1.234ms, …` | once a thread, if it runs for longer than 10 s and 5 ms for each connection of a thread: the mean until then |
//! | `…, rate sampling interval: 10ms` | twice the 90th percentile until then, at least 10 ms |
//! | `    Latency` | from when a request was due; after the calibration, where there was one |
//! | `    Req/Sec` | one thread's rate over such an interval; `-nan` where there was no calibration |
//! | `Latency Distribution (HdrHistogram - Recorded Latency)` | with `-L` or `-U`; the same latency |
//! | `Detailed Percentile spectrum` | five ticks for each halving of the distance to 1; milliseconds |
//! | `#[Mean …]`, `#[Max …]`, `#[Buckets …]` | milliseconds; the histogram is one of 1 µs to a day to three digits |
//! | `… Uncorrected Latency …` | with `-U`; from the actual send |
//! | `  N requests in T, XB read` and below | of the whole time, calibration included |

use crate::harness::{listen, one, parse, printed};
use dialects::{Halt, Job};
use model::tally::Beat;
use model::{Interval, Load, Tally, Until};
use proptest::prelude::*;
use stats::{Counts, Histogram};
use std::time::Duration;

/// A job whose URL is that of somebody who listens.
fn job(tool: &str, args: &[&str]) -> (Box<dyn Job>, String) {
    let (_listener, url) = listen();
    let args = [args, &[url.as_str()]].concat();
    let job = parse(tool, &args).unwrap_or_else(|printed| panic!("{printed:?}"));
    (job, url)
}

fn histogram(us: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    us.iter().for_each(|us| histogram.record(us * 1000));
    histogram
}

pub fn tally(us: &[u64], seconds: u64) -> Tally {
    let n = us.len() as u64;
    Tally {
        duration_ns: seconds * 1_000_000_000,
        sent: n,
        completed: n,
        status: [(200, n)].into(),
        received_bytes: n * 100,
        latency: histogram(us),
        service: histogram(us),
        threads: 1,
        ..Tally::default()
    }
}

#[test]
fn the_plan_is_what_the_options_say() {
    let (job, url) = job("wrk", &["-t3", "-c", "11", "--dur=2m", "-H", "A: b", "--timeout", "1"]);
    let plan = job.plan();
    assert_eq!(plan.load, Load::Closed { connections: 9, per_connection: None }, "as many for each thread");
    assert_eq!((plan.threads, plan.until), (3, Until::Elapsed(Duration::from_mins(2))));
    let host = url.trim_start_matches("http://").trim_end_matches("/x");
    let request = format!("GET /x HTTP/1.1\r\nA: b\r\nHost: {host}\r\n\r\n");
    assert_eq!(plan.asks[0].request, request.as_bytes());
    assert!(!job.wants_exchanges() && plan.pulse == Some(Duration::from_millis(100)));
    assert!(plan.timeout > Duration::from_hours(24), "nothing is given up");
}

#[test]
fn wrk2_asks_at_its_rate() {
    let (short, _) = job("wrk2", &["-R2k", "-d10s"]);
    let Load::Open { rate_per_s, connections, .. } = &short.plan().load else { panic!("open load") };
    assert_eq!((rate_per_s.to_string(), *connections), ("2000".to_owned(), 10));
    assert!(!short.plan().per_second, "no calibration comes to its end");
    assert!(job("wrk2", &["-R2k", "-d11s"]).0.plan().per_second);
}

#[test]
fn the_table_and_its_corrections() {
    let (mut job, url) = job("wrk", &["-t1", "-c1", "-d1s", "--latency"]);
    let begin = job.begin().out;
    assert_eq!(begin, format!("Running 1s test @ {url}\n  1 threads and 1 connections\n"));
    // Ten answers a second and connection: 100 ms apart; the one of 450 ms hides those of 350, 250 and 150.
    let mut tally =
        tally(&[50_000, 50_000, 50_000, 50_000, 50_000, 50_000, 50_000, 50_000, 450_000, 50_000], 1);
    let beat = |answers| Beat { answers, duration_ns: 100_000_000 };
    tally.pulse = [1, 1, 1, 1, 0, 0, 0, 1, 1, 4].map(beat).to_vec();
    let expected = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                    Latency   126.92ms  136.34ms 450.00ms   84.62%\n    \
                    Req/Sec    13.14     12.21    40.00     85.71%\n  \
                    Latency Distribution\n     50%   50.02ms\n     75%  150.08ms\n     90%  350.21ms\n     99%  450.30ms\n  \
                    10 requests in 1.00s, 0.98KB read\nRequests/sec:     10.00\nTransfer/sec:      0.98KB\n";
    assert_eq!(drop_last_digits(&job.print(&tally).out), drop_last_digits(expected));
}

/// The histogram has three digits, the report more.
fn drop_last_digits(report: &str) -> String {
    let short = |word: &str| match word.find('.') {
        Some(dot) => format!(
            "{}{}",
            &word[..dot],
            word[dot..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit())
        ),
        None => word.to_owned(),
    };
    report.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_slower_than_the_timeout_is_counted_and_left_out() {
    let (mut job, _) = job("wrk", &["-t1", "-c10", "-d10s", "--timeout", "1s"]);
    let out = job.print(&tally(&[1000, 1000, 1_500_000], 10)).out;
    assert!(out.contains("Latency     1.00ms    0.00us   1.00ms  100.00%\n"), "{out}");
    assert!(
        out.contains("  3 requests in 10.00s") && out.contains("connect 0, read 0, write 0, timeout 1\n"),
        "{out}"
    );
}

#[test]
fn errors_have_wrks_names() {
    let (mut job, _) = job("wrk", &[]);
    let mut tally = tally(&[1000; 6], 10);
    tally.status = [(200, 2), (302, 1), (404, 2), (500, 1)].into();
    (tally.errors.connect, tally.errors.send, tally.errors.receive, tally.errors.protocol) = (1, 2, 3, 4);
    let out = job.print(&tally).out;
    assert!(
        out.contains(
            "  Socket errors: connect 1, read 7, write 2, timeout 0\n  Non-2xx or 3xx responses: 3\n"
        )
    );
}

#[test]
fn nothing_is_not_a_number() {
    let out = job("wrk", &[]).0.print(&tally(&[], 1)).out;
    assert!(out.contains(
        "Latency     0.00us    0.00us   0.00us    -nan%\n    Req/Sec     0.00      0.00     0.00      -nan%\n"
    ));
    let out = job("wrk2", &["-R1", "-L"]).0.print(&tally(&[], 1)).out;
    assert!(out.contains(
        "Latency     -nanus    -nanus   0.00us    0.00%\n    Req/Sec       -nan      -nan   0.00      0.00%\n"
    ));
    assert!(
        out.contains(" 50.000%    0.00us\n")
            && out.contains("       0.000     1.000000            0          inf\n")
    );
}

fn second(second: u64, us: u64, service_us: u64) -> Interval {
    let of = |us| Counts::of(&histogram(&[us; 100]));
    Interval {
        second,
        duration_ns: 1_000_000_000,
        latency: of(us),
        service: of(service_us),
        ..Interval::default()
    }
}

/// Two threads, 12 s; 4 ms until the calibration, 1 ms and 2 ms afterwards.
fn twelve_seconds() -> Tally {
    let mut all = Histogram::new();
    (0..12).for_each(|i| all.record_n(if i < 10 { 4_000_000 } else { (i - 9) * 1_000_000 }, 100));
    let series = (0..12).map(|i| second(i, if i < 10 { 4000 } else { (i - 9) * 1000 }, 500)).collect();
    let beats = vec![Beat { answers: 1, duration_ns: 20_000_000 }; 2 * 600];
    Tally {
        duration_ns: 12_000_000_000,
        completed: 1200,
        status: [(200, 1200)].into(),
        received_bytes: 120_000,
        latency: all.clone(),
        service: all,
        series,
        pulse: beats,
        ..Tally::default()
    }
}

#[test]
fn wrk2_looks_at_what_comes_after_its_calibration() {
    let (mut job, url) = job("wrk2", &["-R100", "-d12s", "-c100", "-U"]);
    let report = job.begin().out + &job.print(&twelve_seconds()).out;
    let report = report.replace(&url, "http://127.0.0.1:8080/x");
    let golden = include_str!("golden/wrk2.txt");
    assert_eq!(report, golden, "{report}");
}

#[test]
fn without_a_calibration_all_counts() {
    let (mut job, _) = job("wrk2", &["-R100", "-d10s"]);
    let out = job.print(&tally(&[1000; 1000], 10)).out;
    assert!(!out.contains("calibration") && !out.contains("Distribution"), "{out}");
    assert!(out.contains(
        "Latency     1.00ms    0.00us   1.00ms  100.00%\n    Req/Sec       -nan      -nan   0.00      0.00%\n"
    ));
}

#[test]
fn command_lines_that_are_wrong() {
    let (_listener, url) = listen();
    let url = url.as_str();
    let cases: &[(&str, &[&str], &str)] = &[
        ("wrk", &[], ""),
        ("wrk", &["-z", url], "wrk: invalid option -- 'z'\n"),
        ("wrk", &["-R1", url], "wrk: invalid option -- 'R'\n"),
        ("wrk", &["-c"], "wrk: option requires an argument -- 'c'\n"),
        ("wrk", &["-t0", url], ""),
        ("wrk", &["-d0", url], ""),
        ("wrk", &["-d1x", url], ""),
        ("wrk", &["-c1", url], "number of connections must be >= threads\n"),
        ("wrk", &["a.b"], "invalid URL: a.b\n"),
        ("wrk2", &[url], "Throughput MUST be specified with the --rate or -R option\n"),
        ("wrk2", &["-R", "fast", url], ""),
        ("wrk2", &["-c1", url], "number of connections must be >= threads\n"),
    ];
    for (tool, args, err) in cases {
        let printed = parse(tool, args).err().expect("nothing to measure");
        assert_eq!((printed.err.as_str(), printed.exit), (*err, Some(1)), "{args:?}");
        assert!(
            printed.out.starts_with("Usage: wrk <options> <url>") && printed.out.ends_with("2h)\n"),
            "{args:?}"
        );
    }
    let printed = printed("wrk2", "-v");
    assert!(printed.out.starts_with("wrk 4.0.0 [epoll] Copyright (C) 2012 Will Glozer\nUsage"));
}

#[test]
fn nobody_there() {
    let refused = printed("wrk", "http://127.0.0.1:1/");
    assert_eq!(
        (refused.err.as_str(), refused.exit),
        ("unable to connect to 127.0.0.1:1 Connection refused\n", Some(1))
    );
    let unknown = printed("wrk", "gopher://127.0.0.1/");
    assert_eq!(unknown.err, "unable to resolve 127.0.0.1:gopher Servname not supported for ai_socktype\n");
    let refused = std::io::Error::from_raw_os_error(111);
    let printed = job("wrk", &[]).0.fail(&Halt::Connect(refused));
    assert!(
        printed.err.starts_with("unable to connect to 127.0.0.1:") && printed.exit == Some(1),
        "{printed:?}"
    );
}

prop_compose! {
    fn tallies()(us in prop::collection::vec(1..3_000_000_u64, 0..60), bad in 0..50_u64, seconds in 1..200_u64,
                 bytes in 0..u64::MAX >> 14, errors in (0..9_u64, 0..9_u64, 0..9_u64),
                 pulse in prop::collection::vec(0..500_000_u64, 0..20)) -> Tally {
        let mut tally = tally(&us, seconds);
        tally.status = [(200, us.len() as u64), (503, bad)].into();
        tally.received_bytes = bytes;
        (tally.errors.connect, tally.errors.receive, tally.errors.send) = errors;
        tally.pulse = pulse.into_iter().map(|answers| Beat { answers, duration_ns: 100_000_000 }).collect();
        tally
    }
}

/// 0.85 of a unit, to two decimals, is the coarsest that a figure is told.
fn is_told(read: Option<f64>, is: f64, smallest: f64) -> bool {
    read.is_some_and(|read| (read - is).abs() <= 0.007 * is + smallest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn what_is_printed_is_read(tally in tallies(), is_wrk2 in any::<bool>()) {
        let (tool, rate) = if is_wrk2 { ("wrk2", &["-R5", "-U", "-c99"][..]) } else { ("wrk", &["-c99", "--latency"][..]) };
        let (mut job, url) = job(tool, rate);
        let report = job.begin().out + &job.print(&tally).out;
        let found = one(tool, &report);
        let reading = &found.reading;
        let is_understood = found.strange.iter().all(|line| line.ends_with("nan (no figure)"));
        prop_assert!(is_understood && found.at == (0..report.trim_end().len()), "{}", report);
        prop_assert_eq!(reading.url.as_ref(), Some(&url));
        let (answers, seconds) = (tally.status.values().sum::<u64>() as f64, tally.duration_ns as f64 / 1e9);
        prop_assert_eq!((reading.get("completed"), reading.get("connections")), (Some(answers), Some(99.0)));
        prop_assert!(is_told(reading.get("duration_ns"), tally.duration_ns as f64, 0.0), "{}", report);
        prop_assert!(is_told(reading.get("received_bytes"), tally.received_bytes as f64, 0.005), "{}", report);
        prop_assert!(is_told(reading.get("rate_per_s"), answers / seconds, 0.005), "{}", report);
        let bad = tally.status[&503];
        prop_assert_eq!(reading.errors.get("status").copied().unwrap_or(0), bad);
        prop_assert_eq!(reading.errors.get("read").copied().unwrap_or(0), tally.errors.receive);
        if is_wrk2 && tally.latency.count() > 0 {
            for (name, p) in [("p50", 0.5), ("p99", 0.99), ("p9999", 0.9999)] {
                let is = tally.latency.quantile_ns(p).unwrap_or(0) as f64;
                prop_assert!(is_told(reading.get(&format!("latency_ns_{name}")), is, 5000.0), "{} {}", name, report);
                prop_assert!(is_told(reading.get(&format!("service_ns_{name}")), is, 5000.0), "{} {}", name, report);
            }
        }
    }
}
