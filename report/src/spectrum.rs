//! The full latency distribution, as a table and as part of the JSON.

use crate::table::Table;
use crate::units;
use schemars::JsonSchema;
use serde::Serialize;
use stats::Histogram;
use stats::spectrum::{TICKS_PER_HALF, Tick, spectrum};

/// One point of the distribution, as part of the JSON.
#[derive(Serialize, JsonSchema)]
pub struct Point {
    /// The share of responses, from 0 to 1.
    p: f64,
    /// The latency that this share did not exceed, in nanoseconds.
    ns: u64,
    /// The number of responses that took no longer.
    count: u64,
}

/// The points of a histogram.
pub fn points(histogram: &Histogram) -> Vec<Point> {
    let point = |Tick { p, ns, count }| Point { p, ns, count };
    spectrum(histogram, TICKS_PER_HALF).into_iter().map(point).collect()
}

/// The distribution for people: the latency, the percentile, the number of responses that took no longer, and one in how many took longer.
pub fn table(title: &'static str, histogram: &Histogram) -> Table {
    let one_in = |n: f64| if n < 100.0 { format!("{n:.2}") } else { units::rate(n) };
    Table::of(&spectrum(histogram, TICKS_PER_HALF))
        .number(title, |tick| units::duration(tick.ns as f64))
        .number("percentile", |tick| format!("{:.6}", tick.p * 100.0))
        .number("responses", |tick| units::count(tick.count))
        .figure("one in", |tick| (tick.p < 1.0).then(|| one_in(1.0 / (1.0 - tick.p))))
        .table()
}
