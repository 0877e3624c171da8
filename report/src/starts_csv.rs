//! Every start of a run in heats as CSV, one a row and cell: what ratios and ranks are computed from. A field is empty where it is not
//! known.

use crate::csv;
use model::findings::{CellFindings, Findings, StartFigure};
use model::heat::HUB;

const HEAD: [&str; 12] = [
    "run",
    "study",
    "cell",
    "cell_title",
    "workload",
    "contender",
    "title",
    "version",
    "round",
    "heat",
    "metric",
    "figure",
];

/// A head and a row a start, cell by cell, in the order in which they were.
pub fn report(f: &Findings) -> String {
    let of_cell = |(nth, cell): (usize, &CellFindings)| -> String {
        let starts = cell.in_heats.iter().flat_map(|heats| &heats.starts);
        starts.map(|start| csv::line(row(f, nth, cell, start))).collect()
    };
    csv::line(HEAD) + &f.cells.iter().enumerate().map(of_cell).collect::<String>()
}

/// Rates per second, times in nanoseconds, memory in bytes.
fn row(f: &Findings, nth: usize, cell: &CellFindings, start: &StartFigure) -> [String; 12] {
    let contender = cell.contenders.iter().find(|c| c.name == start.contender);
    let title = if start.contender == HUB { "the hub of the heat" } else { "" };
    [
        f.run.clone(),
        f.study.clone(),
        (nth + 1).to_string(),
        cell.title.clone(),
        cell.workload.clone(),
        start.contender.clone(),
        contender.map_or_else(|| title.to_owned(), |c| c.title.clone()),
        contender.and_then(|c| c.version.clone()).unwrap_or_default(),
        (start.round + 1).to_string(),
        (start.heat + 1).to_string(),
        cell.metric.word().to_owned(),
        format!("{:.3}", start.figure),
    ]
}
