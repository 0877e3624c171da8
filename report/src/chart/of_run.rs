//! All charts of a run that have something to show.

use super::{Caption, Chart, heat_map, load, percentiles, ranked, scatter, slope, trials};
use crate::RunReport;
use model::Findings;

/// The heat maps of all cells; then for each cell the ranking, CPU per request against p99, the latencies, the starts, and the
/// published beside the measured figures; then latency over the load for workloads that were measured at several rates.
pub fn of(told: &RunReport<'_>) -> Vec<Chart> {
    let (mut charts, starts) = (Vec::new(), told.measured.starts_in_cells());
    for (i, heat) in heat_map::of_findings(told.findings).into_iter().enumerate() {
        let name = if i == 0 { "heat".to_owned() } else { format!("heat-{}", i + 1) };
        charts.push(chart(name, heat.svg(), heat.caption));
    }
    for (i, cell) in told.findings.cells.iter().enumerate() {
        let named = |kind: &str| format!("{kind}-{}", i + 1);
        let ranked = ranked::of_cell(told.findings, cell);
        if ranked.rows.iter().any(|row| row.point.is_some()) {
            charts.push(chart(named("ranked"), ranked.svg(), ranked.caption));
        }
        let scatter = scatter::of_cell(cell);
        if !scatter.bubbles.is_empty() {
            charts.push(chart(named("scatter"), scatter.svg(), scatter.caption));
        }
        let percentiles = percentiles::of_cell(cell, i, &starts);
        if !percentiles.curves.is_empty() {
            charts.push(chart(named("percentiles"), percentiles.svg(), percentiles.caption));
        }
        let trials = trials::of_cell(cell, i, &starts);
        if !trials.rows.is_empty() {
            charts.push(chart(named("course"), trials.svg(), trials.caption));
        }
        let slope = slope::of_cell(told.findings, cell);
        // A single line has no ranking to compare.
        if slope.lines.len() > 1 {
            charts.push(chart(named("published"), slope.svg(), slope.caption));
        }
    }
    for (i, load) in load::of_findings(told.findings).into_iter().enumerate() {
        charts.push(chart(format!("load-{}", i + 1), load.svg(), load.caption));
    }
    charts
}

/// The one chart that shows most of a run: the heat map of its cells or, where there is none, the ranking of the first cell.
/// `None` for a run without cells.
pub fn overview(f: &Findings) -> Option<Chart> {
    if let Some(heat) = heat_map::of_findings(f).into_iter().next() {
        return Some(chart("heat".to_owned(), heat.svg(), heat.caption));
    }
    let ranked = ranked::of_cell(f, f.cells.first()?);
    Some(chart("ranked-1".to_owned(), ranked.svg(), ranked.caption))
}

fn chart(name: String, svg: String, caption: Caption) -> Chart {
    Chart { name, caption, svg }
}
