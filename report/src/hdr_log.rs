//! The measured window second by second as a log for the tools of `HdrHistogram`: one line of latency and one of service time
//! per second.

use model::{Load, Plan, Tally};
use stats::interval_log::{Line, interval_log};
use std::time::{Duration, SystemTime};

/// The log of a measurement whose window opened at `started`.
pub fn report(plan: &Plan, tally: &Tally, started: SystemTime) -> Vec<u8> {
    let from = match plan.load {
        Load::Closed { .. } => "from when a request was sent; at saturation",
        Load::Open { .. } => "from when a request was due",
    };
    let comments = [
        &format!("drome load {}", plan.target.url),
        &format!("Tag=latency: nanoseconds {from}; requests without an answer count with their age"),
        "Tag=service: nanoseconds from when a request was sent",
    ];
    let lines = tally.series.iter().flat_map(|second| {
        let line = |tag, counts| Line {
            tag,
            start: Duration::from_secs(second.second),
            length: Duration::from_nanos(second.duration_ns),
            counts,
        };
        [line("latency", &second.latency), line("service", &second.service)]
    });
    interval_log(started, &comments, lines)
}
