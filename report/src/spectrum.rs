//! The whole distribution of latency, as a table and as a part of the JSON.

use crate::table::{Side, Table};
use crate::units;
use serde::Serialize;
use stats::Histogram;
use stats::spectrum::{TICKS_PER_HALF, Tick, spectrum};

/// One point, as a part of the JSON.
#[derive(Serialize)]
pub struct Point {
    /// The share of answers.
    p: f64,
    /// They took at most so long.
    ns: u64,
    /// How many they are.
    count: u64,
}

/// The points of a histogram.
pub fn points(histogram: &Histogram) -> Vec<Point> {
    let point = |Tick { p, ns, count }| Point { p, ns, count };
    spectrum(histogram, TICKS_PER_HALF).into_iter().map(point).collect()
}

/// The same for people: the share, the duration that it was within, and one in how many took longer.
pub fn table(title: &'static str, histogram: &Histogram) -> Table {
    let columns = [(title, Side::Right), ("percentile", Side::Right), ("answers", Side::Right)];
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
