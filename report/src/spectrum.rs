//! The full latency distribution, as a table and as part of the JSON.

use crate::table::{Side, Table};
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
    let columns = [(title, Side::Right), ("percentile", Side::Right), ("responses", Side::Right)];
    let mut table = Table::new(&[&columns[..], &[("one in", Side::Right)]].concat());
    for Tick { p, ns, count } in spectrum(histogram, TICKS_PER_HALF) {
        let longer = (p < 1.0).then(|| 1.0 / (1.0 - p));
        table.row(vec![
            units::duration(ns as f64),
            format!("{:.6}", p * 100.0),
            units::count(count),
            units::known(longer, |n| if n < 100.0 { format!("{n:.2}") } else { units::rate(n) }),
        ]);
    }
    table
}
