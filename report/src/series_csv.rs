//! The measured window second by second as CSV (RFC 4180); a field is empty if the figure is unknown.

use model::{Interval, Tally};

/// The header. The last row may cover less than a second; its rate refers to its own length.
const HEAD: &str = "second,sent,completed,errors,rate_per_s,received_bytes,latency_ns_p50,latency_ns_p90,\
                    latency_ns_p99,latency_ns_max,client_core_use,connections_open,latency_unanswered\n";

/// A header and one row per second.
pub fn report(tally: &Tally) -> String {
    let rows: String = tally.series.iter().map(row).collect();
    format!("{HEAD}{rows}")
}

fn row(i: &Interval) -> String {
    let is_answered = i.latency.count() > i.unanswered;
    let latency = if is_answered { i.latency.histogram() } else { stats::Histogram::new() };
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|p| cell(latency.quantile_ns(p)));
    let rate = cell(i.rate_per_s().map(|rate| format!("{rate:.3}")));
    let client = cell(i.client_core_use().map(|share| format!("{share:.4}")));
    format!(
        "{},{},{},{},{rate},{},{p50},{p90},{p99},{},{client},{},{}\n",
        i.second,
        i.sent,
        i.completed,
        i.errors,
        i.received_bytes,
        cell(latency.max_ns()),
        i.connections_open,
        i.unanswered
    )
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |v| v.to_string())
}
