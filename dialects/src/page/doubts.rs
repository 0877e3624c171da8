//! What in a report can't be right, or must not be read without a word. The figures stay as they are.

use super::complete::{connections, is_unanswered};
use crate::failures::STATUS;
use model::Reading;

/// No server answers more requests per second.
const MOST_PER_S: f64 = 1e8;

/// Where two figures of a report that say the same differ by this factor, one of them is wrong.
const MOST_APART: f64 = 2.0;

/// From this share of failed requests on, it is said.
const FAILED_SHARE: f64 = 0.01;

/// The tools that count all failed requests among those which they completed. Others count only answers with a status of failure so.
const FAILED_AMONG_COMPLETED: &[&str] = &["ab", "http_load", "k6"];

/// All doubts, each a sentence for people.
pub fn all(reading: &Reading) -> Vec<String> {
    let mut doubts: Vec<String> = contradiction(reading).into_iter().collect();
    let get = |name: &str| reading.get(name);
    let rate = get("rate_per_s");
    if let Some(rate) = rate.filter(|rate| *rate > MOST_PER_S) {
        doubts.push(format!("{rate:.0} requests/s is more than any server answers: the report is wrong"));
    }
    if reading.tool == crate::table::TOOL {
        return doubts;
    }
    if rate.is_none() {
        doubts.push("the report has no rate: it may be cut off".to_owned());
    } else if reading.tool == "ab" && !has_latency(reading) && !is_unanswered(reading) {
        // ab has them in every whole report.
        doubts.push("the report has no latency: it may be cut off".to_owned());
    }
    if let (Some(ns), Some(planned)) = (get("duration_ns"), get("planned_duration_ns"))
        && is_apart(ns, planned)
    {
        doubts.push(format!("it ran for {}, not for {} as it was to", seconds(ns), seconds(planned)));
    }
    let requests = get("completed").map(|n| n + get("failed").unwrap_or(0.0));
    if let (Some(rate), Some(n), Some(ns)) = (rate, requests, get("duration_ns"))
        && is_apart(rate, n / ns * 1e9)
        && get("completed").is_some_and(|n| is_apart(rate, n / ns * 1e9))
        && get("completed").is_some_and(|n| is_apart(rate, (n - bad_answers(reading)) / ns * 1e9))
    {
        doubts.push(format!(
            "{rate:.0} requests/s and {n:.0} requests in {} contradict each other",
            seconds(ns)
        ));
    }
    doubts.extend(disorder(reading));
    doubts.extend(failures(reading));
    doubts
}

fn has_latency(reading: &Reading) -> bool {
    reading.figures.keys().chain(reading.below.keys()).any(|name| name.starts_with("latency_ns_"))
}

fn is_apart(a: f64, b: f64) -> bool {
    a > b * MOST_APART || b > a * MOST_APART
}

fn seconds(ns: f64) -> String {
    format!("{} s", (ns / 1e6).round() / 1e3)
}

/// The page may have one command line for several reports.
fn contradiction(reading: &Reading) -> Option<String> {
    let given = connections(reading)?;
    let had = reading.get("connections").filter(|had| *had != given)?;
    Some(format!("the page's command line has {given} connections, the report {had}"))
}

/// Statistics of latency that are smaller than others which they can't be smaller than.
fn disorder(reading: &Reading) -> Option<String> {
    const ORDER: [&str; 8] = ["min", "p50", "p75", "p90", "p95", "p99", "p999", "max"];
    let of = |name: &str| reading.get(&format!("latency_ns_{name}"));
    let all: Vec<(&str, f64)> = ORDER.iter().filter_map(|name| Some((*name, of(name)?))).collect();
    let is_wrong = |pair: &&[(&str, f64)]| pair[0].1 > pair[1].1 * 1.01;
    let pair = all.windows(2).find(is_wrong).map(|pair| (pair[0].0, pair[1].0));
    let of_mean = || of("mean").zip(of("max")).filter(|(mean, max)| mean > max).map(|_| ("mean", "max"));
    let (small, large) = pair.or_else(of_mean)?;
    Some(format!("the latency's {small} is above its {large}"))
}

fn failures(reading: &Reading) -> Option<String> {
    let counted: u64 = reading.errors.values().sum();
    let failed = reading.get("failed").unwrap_or(0.0).max(counted as f64);
    if failed > 0.0 && is_unanswered(reading) {
        return Some(format!("all of {failed:.0} requests failed"));
    }
    let is_among = FAILED_AMONG_COMPLETED.contains(&reading.tool.as_str());
    let unanswered = if is_among { 0.0 } else { failed - bad_answers(reading) };
    let all = (reading.get("completed")? + unanswered).max(failed);
    (failed > all * FAILED_SHARE).then(|| format!("{failed:.0} of {all:.0} requests failed"))
}

/// The number of answers with a status of failure.
fn bad_answers(reading: &Reading) -> f64 {
    reading.errors.get(STATUS).map_or(0.0, |count| *count as f64)
}
