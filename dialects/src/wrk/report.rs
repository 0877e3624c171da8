//! wrk's report, with its own arithmetic.

use super::options::Options;
use super::stats::{Stats, Summary};
use super::units;
use model::{Beat, Tally};
use stats::Counts;

/// The largest rate that wrk counts.
const MAX_RATE: u64 = 10_000_000;

/// The interval between two samples of a thread's rate.
pub const SAMPLE_MS: u64 = 100;

/// What is printed before it begins.
pub fn running(options: &Options) -> String {
    let Options { threads, connections, duration_s, url, .. } = options;
    let time = units::time_s(*duration_s);
    format!("Running {time} test @ {}\n  {threads} threads and {connections} connections\n", url.whole)
}

/// Converts drome's counts to wrk's.
pub fn summary(options: &Options, tally: &Tally) -> Summary {
    let limit_us = options.timeout_s.saturating_mul(1_000_000);
    let mut latency = Stats::default();
    let mut timeouts = 0;
    // wrk does not count requests in flight at the end.
    for (ns, n) in Counts::of(&tally.service).pairs() {
        let us = ns / 1000;
        if us > limit_us { timeouts += n } else { latency.record(us, *n) }
    }
    let summary = Summary { latency, rates: rates(tally), ..totals(tally, timeouts) };
    corrected(options, summary)
}

/// Adds the requests that a waiting connection did not send, estimated from the time between two answers on a
/// connection.
fn corrected(options: &Options, mut summary: Summary) -> Summary {
    let of_each = summary.requests / options.connections.max(1);
    if let Some(expected) = summary.duration_us.checked_div(of_each) {
        summary.latency.correct(expected);
    }
    summary
}

/// All figures but latency and rates.
pub fn totals(tally: &Tally, timeouts: u64) -> Summary {
    let errors = &tally.errors;
    let bad: u64 = tally.status.iter().filter(|(status, _)| **status > 399).map(|(_, n)| n).sum();
    Summary {
        duration_us: tally.duration_ns / 1000,
        requests: tally.status.values().sum(),
        bytes: tally.received_bytes,
        errors: [
            ("connect", errors.connect + errors.local),
            ("read", errors.receive + errors.protocol + errors.unasked),
            ("write", errors.send),
            ("timeout", timeouts + errors.timeout),
            ("status", bad),
        ],
        latency: Stats::default(),
        rates: Stats::default(),
    }
}

/// A thread's rates, each since the last sample in which it had answers.
fn rates(tally: &Tally) -> Stats {
    let mut rates = Stats::default();
    let (mut answers, mut elapsed_ns) = (0, 0);
    for (beat, at_ns) in beats(tally) {
        if at_ns == beat.duration_ns {
            (answers, elapsed_ns) = (0, 0);
        }
        (answers, elapsed_ns) = (answers + beat.answers, elapsed_ns + beat.duration_ns);
        if answers > 0 {
            record_rate(&mut rates, answers, elapsed_ns);
            (answers, elapsed_ns) = (0, 0);
        }
    }
    rates
}

/// The steps of all threads, and the end of each. A thread's steps end where one more would not fit into the
/// measurement; the next thread's begin there.
pub fn beats(tally: &Tally) -> impl Iterator<Item = (Beat, u64)> {
    let mut at_ns = 0;
    tally.pulse.iter().map(move |beat| {
        at_ns = if at_ns + beat.duration_ns > tally.duration_ns {
            beat.duration_ns
        } else {
            at_ns + beat.duration_ns
        };
        (*beat, at_ns)
    })
}

/// Records the rate of some answers. wrk counts the elapsed time in whole milliseconds.
pub fn record_rate(rates: &mut Stats, answers: u64, elapsed_ns: u64) {
    let rate = (answers as f64 / (elapsed_ns / 1_000_000).max(1) as f64 * 1000.0) as u64;
    if rate <= MAX_RATE {
        rates.record(rate, 1);
    }
}

/// The report.
pub fn report(options: &Options, summary: &Summary) -> String {
    let mut text = HEAD.to_owned();
    text += &moments("Latency", &summary.latency, units::time_us);
    text += &moments("Req/Sec", &summary.rates, units::metric);
    if options.has_latency {
        text += "  Latency Distribution\n";
        for percent in [50, 75, 90, 99] {
            let value = units::time_us(summary.latency.percentile(f64::from(percent)) as f64);
            text += &format!("{percent:7}%{}\n", units::column(&value, 10));
        }
    }
    text + &end(summary)
}

/// The head of the table.
pub const HEAD: &str = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n";

fn moments(name: &str, stats: &Stats, format: fn(f64) -> String) -> String {
    let within =
        stats.within_sd_percent().map_or_else(|| "-nan".to_owned(), |percent| format!("{percent:.2}"));
    row(name, [format(stats.mean()), format(stats.sd()), format(stats.max as f64)], &within)
}

/// A row of the table.
pub fn row(name: &str, [mean, sd, max]: [String; 3], within: &str) -> String {
    let column = units::column;
    format!("    {name:10}{}{}{}{within:>8}%\n", column(&mean, 8), column(&sd, 10), column(&max, 9))
}

/// The report from the number of requests on.
pub fn end(summary: &Summary) -> String {
    let Summary { duration_us, requests, bytes, errors, .. } = summary;
    let [connect, read, write, timeout, status] = errors.map(|(_, n)| n);
    let time = units::time_us(*duration_us as f64);
    let mut text = format!("  {requests} requests in {time}, {}B read\n", units::binary(*bytes as f64));
    if connect + read + write + timeout > 0 {
        text +=
            &format!("  Socket errors: connect {connect}, read {read}, write {write}, timeout {timeout}\n");
    }
    if status > 0 {
        text += &format!("  Non-2xx or 3xx responses: {status}\n");
    }
    let per_s = |n: u64| n as f64 * 1e6 / (*duration_us).max(1) as f64;
    text += &format!("Requests/sec: {:9.2}\n", per_s(*requests));
    text + &format!("Transfer/sec: {:>10}B\n", units::binary(per_s(*bytes)))
}
