//! The measured window second by second, as rows; a field is empty if the figure is unknown.

use crate::records::{Field, Records, decimals, text};
use model::{Interval, Tally};
use stats::Histogram;

/// A second, and its latencies if any request was answered.
type Second<'t> = (&'t Interval, Option<Histogram>);

/// The columns. The last row may cover less than a second; its rate refers to its own length.
fn fields<'t>() -> [Field<Second<'t>>; 13] {
    [
        ("second", |(i, _)| text(i.second)),
        ("sent", |(i, _)| text(i.sent)),
        ("completed", |(i, _)| text(i.completed)),
        ("errors", |(i, _)| text(i.errors_by_kind.total())),
        ("rate_per_s", |(i, _)| decimals(i.rate_per_s()?, 3)),
        ("received_bytes", |(i, _)| text(i.received_bytes)),
        ("latency_ns_p50", |(_, latency)| text(latency.as_ref()?.quantile_ns(0.5)?)),
        ("latency_ns_p90", |(_, latency)| text(latency.as_ref()?.quantile_ns(0.9)?)),
        ("latency_ns_p99", |(_, latency)| text(latency.as_ref()?.quantile_ns(0.99)?)),
        ("latency_ns_max", |(_, latency)| text(latency.as_ref()?.max_ns()?)),
        ("client_core_use", |(i, _)| decimals(i.client_core_use()?, 4)),
        ("connections_open", |(i, _)| text(i.connections_open)),
        ("latency_unanswered", |(i, _)| text(i.unanswered)),
    ]
}

/// One row per second.
pub fn records(tally: &Tally) -> Records {
    let answered = |i: &Interval| (i.latency.count() > i.unanswered).then(|| i.latency.histogram());
    Records::of(tally.series.iter().map(|i| (i, answered(i))), fields())
}
