//! The window second by second: a golden of the CSV and of what heads the log.

use model::{Ask, Errors, Interval, Load, Plan, Tally, Target, Until};
use stats::{Counts, Histogram};
use std::time::{Duration, UNIX_EPOCH};

fn measurement() -> (Plan, Tally) {
    let target = Target::resolve("http://127.0.0.1:8080/hello").unwrap();
    let load = Load::Closed { connections: 4, per_connection: None };
    let plan = Plan::new(target, Ask::default(), load, Until::Elapsed(Duration::from_millis(2500)));
    let second = |second: u64, duration_ns: u64, completed: u64| {
        let mut latency = Histogram::new();
        (0..completed).for_each(|i| latency.record(100_000 + i * 1000 * (second + 1)));
        Interval {
            second,
            duration_ns,
            sent: completed + 1,
            completed,
            errors_by_kind: Errors { status: second, ..Errors::default() },
            received_bytes: completed * 100,
            latency: Counts::of(&latency),
            service: Counts::of(&latency),
            client_cpu_ns: 300_000_000,
            client_idle_ns: 100_000_000,
            threads: 1,
            connections_open: 4,
            ..Interval::default()
        }
    };
    let series = vec![second(0, 1_000_000_000, 1000), second(1, 1_000_000_000, 0), second(2, 0, 1)];
    (plan, Tally { series, ..Tally::default() })
}

#[test]
fn seconds_as_csv() {
    insta::assert_snapshot!(report::series::records(&measurement().1).csv());
}

#[test]
fn seconds_as_a_log() {
    let (plan, tally) = measurement();
    let started = UNIX_EPOCH + Duration::from_millis(1_700_000_000_250);
    let log = String::from_utf8(report::hdr_log::report(&plan, &tally, started)).unwrap();
    // What compresses the histograms is not ours; app/tests/suite/load_series.rs reads them.
    let lines = log.lines().map(|line| line.split_once(",HISTFAAA").map_or(line, |(figures, _)| figures));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}
