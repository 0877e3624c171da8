//! Results for services that follow benchmarks over time, and for those that show test results.

mod bencher;
mod benchmark_action;
mod junit;

pub use bencher::bencher;
pub use benchmark_action::{bigger_is_better, smaller_is_better};
pub use junit::{junit, junit_of_comparison};

use model::findings::{CellFindings, ContenderFindings, Figure, Findings};

/// One figure of a contender in a cell.
struct Measure {
    name: &'static str,
    unit: &'static str,
    is_better_higher: bool,
    figure: Figure,
}

/// The known figures of a contender.
fn measures(c: &ContenderFindings) -> Vec<Measure> {
    let memory = c.rss_max_bytes.map(|bytes| Figure { median: bytes as f64, low: None, high: None });
    let all = [
        ("throughput", "requests/s", true, c.rate_per_s),
        ("latency-p50", "ns", false, c.latency_ns_p50),
        ("latency-p99", "ns", false, c.latency_ns_p99),
        ("server-cpu", "ns/request", false, c.server_cpu_ns_per_request),
        ("memory", "bytes", false, memory),
    ];
    let known = all.into_iter().filter_map(|(name, unit, is_better_higher, figure)| {
        let figure = figure.filter(|figure| figure.median.is_finite())?;
        Some(Measure { name, unit, is_better_higher, figure })
    });
    known.collect()
}

/// What stays the same from run to run: the contender's title and, in a study, the cell's.
fn name(f: &Findings, cell: &CellFindings, c: &ContenderFindings) -> String {
    if f.race.is_some() { c.title.clone() } else { format!("{} / {}", cell.title, c.title) }
}

/// All contenders in all cells.
fn contenders(f: &Findings) -> impl Iterator<Item = (&CellFindings, &ContenderFindings)> {
    f.cells.iter().flat_map(|cell| cell.contenders.iter().map(move |c| (cell, c)))
}
