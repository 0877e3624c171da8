//! wrk2's report. wrk2 measures latency from when a request was due, and only after a calibration.

use super::options::Options;
use super::report::{self, totals};
use super::stats::{Stats, Summary};
use super::units;
use model::Tally;
use stats::Counts;
use stats::histogram::Histogram;
use stats::spectrum::{TICKS_PER_HALF, spectrum};

/// The length of the steps in which answers are counted. wrk2's own steps are made from these afterwards.
pub const STEP_MS: u64 = 10;

/// The length of the calibration. It is extended for each connection of a thread, because wrk2 opens them one after
/// another.
const CALIBRATION_MS: u64 = 10_000;
const PER_CONNECTION_MS: u64 = 5;

/// The size of wrk2's histogram: from 1 µs to one day, with three digits.
const BUCKETS: usize = 27;
const SUB_BUCKETS: usize = 2048;

/// wrk2's percentiles.
const PERCENTS: [f64; 8] = [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0];

/// The end of the calibration, if it ends within the run.
pub fn calibrated_at_ms(options: &Options) -> Option<u64> {
    let of_thread = options.connections / options.threads;
    let at_ms = CALIBRATION_MS.saturating_add(of_thread.saturating_mul(PER_CONNECTION_MS));
    (at_ms < options.duration_s.saturating_mul(1000)).then_some(at_ms)
}

/// The whole report.
pub fn report(options: &Options, tally: &Tally) -> (Summary, String) {
    let at_ms = calibrated_at_ms(options).filter(|at_ms| tally.duration_ns > at_ms * 1_000_000);
    // Latencies are kept by whole seconds, so the second in which the calibration ends counts from its beginning.
    let is_before = |second: u64| at_ms.is_some_and(|at_ms| second < at_ms / 1000);
    let (mut before, mut latency, mut service) = (Counts::default(), Counts::default(), Counts::default());
    for second in &tally.series {
        if is_before(second.second) {
            before.merge(&second.latency);
        } else {
            latency.merge(&second.latency);
            service.merge(&second.service);
        }
    }
    let (latency, service) = match at_ms {
        Some(_) => (in_us(&latency), in_us(&service)),
        None => (in_us(&Counts::of(&tally.latency)), in_us(&Counts::of(&tally.service))),
    };
    let mut text = String::new();
    let mut rates = Stats::default();
    if let Some(at_ms) = at_ms.filter(|_| before.count() > 0) {
        let before = in_us(&before);
        let mean_us = before.mean_ns().unwrap_or(0.0) as u64;
        let interval_ms = ((before.quantile_ns(0.9).unwrap_or(0) as f64 / 1000.0 * 2.0) as u64).max(STEP_MS);
        // wrk2 prints this as it happens, each thread for itself.
        let line = format!(
            "  Thread calibration: mean lat.: {:.3}ms, rate sampling interval: {interval_ms}ms\n",
            mean_us as f64 / 1000.0
        );
        text += &line.repeat(options.threads as usize);
        rates = sampled(tally, at_ms, interval_ms);
    }
    let late: u64 = Counts::of(&tally.service)
        .pairs()
        .iter()
        .filter(|(ns, _)| ns / 1_000_000_000 >= options.timeout_s)
        .map(|(_, n)| n)
        .sum();
    let summary = Summary { latency: plain(&latency), rates, ..totals(tally, late) };
    text += report::HEAD;
    text += &latency_row(&latency);
    text += &rates_row(&summary.rates);
    if options.has_latency {
        text += &distribution(&latency, "Recorded Latency");
    }
    if options.has_uncorrected {
        let what = "Uncorrected Latency (measured without taking delayed starts into account)";
        text += &format!("\n{}", distribution(&service, what));
    }
    text += &report::end(&summary);
    (summary, text)
}

/// The histogram has three digits. It counts microseconds, as wrk2 does.
fn in_us(counts: &Counts) -> Histogram {
    let mut histogram = Histogram::new();
    counts.pairs().iter().for_each(|(ns, n)| histogram.record_n(ns / 1000, *n));
    histogram
}

fn plain(histogram: &Histogram) -> Stats {
    let mut stats = Stats::default();
    Counts::of(histogram).pairs().iter().for_each(|(us, n)| stats.record(*us, *n));
    stats
}

/// The rates of each thread in steps of this length, from the calibration on.
fn sampled(tally: &Tally, from_ms: u64, interval_ms: u64) -> Stats {
    let mut rates = Stats::default();
    let (mut answers, mut since_ns) = (0, 0);
    for (beat, at_ns) in report::beats(tally) {
        if at_ns <= from_ms * 1_000_000 {
            (answers, since_ns) = (0, 0);
            continue;
        }
        (answers, since_ns) = (answers + beat.answers, since_ns + beat.duration_ns);
        if since_ns >= interval_ms * 1_000_000 {
            report::record_rate(&mut rates, answers, since_ns);
            (answers, since_ns) = (0, 0);
        }
    }
    rates
}

fn latency_row(latency: &Histogram) -> String {
    let (Some(mean), Some(sd), Some(max)) = (latency.mean_ns(), latency.sd_ns(), latency.max_ns()) else {
        return report::row(
            "Latency",
            ["-nanus".to_owned(), "-nanus".to_owned(), units::time_us(0.0)],
            "0.00",
        );
    };
    let (low, high) = ((mean - sd) as i64, (mean + sd) as i64);
    let counts = Counts::of(latency);
    let within: u64 =
        counts.pairs().iter().filter(|(us, _)| (low..=high).contains(&(*us as i64))).map(|(_, n)| n).sum();
    let percent = format!("{:.2}", within as f64 * 100.0 / latency.count() as f64);
    report::row("Latency", [mean, sd, max as f64].map(units::time_us), &percent)
}

fn rates_row(rates: &Stats) -> String {
    match rates.within_sd_percent() {
        None => report::row("Req/Sec", ["-nan".to_owned(), "-nan".to_owned(), units::metric(0.0)], "0.00"),
        Some(percent) => {
            let moments = [rates.mean(), rates.sd(), rates.max as f64].map(units::metric);
            report::row("Req/Sec", moments, &format!("{percent:.2}"))
        }
    }
}

/// A histogram as text.
fn distribution(histogram: &Histogram, what: &str) -> String {
    let mut text = format!("  Latency Distribution (HdrHistogram - {what})\n");
    for percent in PERCENTS {
        let value = units::time_us(histogram.quantile_ns(percent / 100.0).unwrap_or(0) as f64);
        text += &format!("{percent:7.3}%{}\n", units::column(&value, 10));
    }
    text += "\n  Detailed Percentile spectrum:\n";
    let [value, percentile, count, inverse] = ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"];
    text += &format!("{value:>12} {percentile:>12} {count:>12} {inverse:>12}\n\n");
    let ticks = spectrum(histogram, TICKS_PER_HALF);
    for tick in &ticks {
        let inverse = 1.0 / (1.0 - tick.p);
        text +=
            &format!("{:12.3} {:12.6} {:12} {inverse:12.2}\n", tick.ns as f64 / 1000.0, tick.p, tick.count);
    }
    if ticks.is_empty() {
        text += &format!("{:12.3} {:12.6} {:12} {:12.2}\n", 0.0, 1.0, 0, f64::INFINITY);
    }
    let ms = |us: Option<f64>| us.map_or_else(|| "-nan".to_owned(), |us| format!("{:.3}", us / 1000.0));
    let (mean, sd, max) = (ms(histogram.mean_ns()), ms(histogram.sd_ns()), histogram.max_ns().unwrap_or(0));
    text += &format!("#[Mean    = {mean:>12}, StdDeviation   = {sd:>12}]\n");
    text +=
        &format!("#[Max     = {:12.3}, Total count    = {:12}]\n", max as f64 / 1000.0, histogram.count());
    text += &format!("#[Buckets = {BUCKETS:12}, SubBuckets     = {SUB_BUCKETS:12}]\n");
    text + "----------------------------------------------------------\n"
}
