//! An import for people: as a document, and as a bar chart alone.

use super::{Cell, Row, cells};
use crate::document::Document;
use crate::table::Table;
use crate::{bars, units};
use model::Import;
use std::fmt::Write;

/// The whole import.
pub fn document(import: &Import) -> Document {
    let mut document = Document::titled(format!("{} (imported)", import.title)).items(preface(import));
    for (i, cell) in cells(import).iter().enumerate() {
        document = document
            .section(format!("cell-{}", i + 1), &cell.title)
            .sentence(format!("{}.", about(cell)))
            .table(table(cell))
            .bars(bars_of(cell))
            .items(notes(cell));
    }
    document
}

/// The bar chart alone; bars and nothing else if there is one cell and the scale is that of the original page. `None` if there
/// is nothing to draw.
pub fn chart(import: &Import) -> Option<String> {
    let cells = cells(import);
    let mut charts = Vec::new();
    for cell in &cells {
        let bars = bars_of(cell);
        if bars.is_empty() {
            continue;
        }
        let unit = bars::unit(&bars);
        let mut chart = if cells.len() > 1 { format!("{}\n", cell.title) } else { String::new() };
        if unit > bars::PAGE_UNIT {
            let _ = writeln!(chart, "one ■ = {unit} requests/s");
        }
        charts.push(chart + &bars::chart(&bars, unit));
    }
    (!charts.is_empty()).then(|| charts.join("\n"))
}

fn bars_of(cell: &Cell) -> Vec<(String, f64)> {
    cell.rows.iter().filter_map(|row| Some((row.name.clone(), row.get("rate_per_s")?))).collect()
}

/// What readers must know before they read the figures.
fn preface(import: &Import) -> Vec<String> {
    let names: Vec<&str> = import.sources.iter().map(|source| source.name.as_str()).collect();
    vec![
        format!("run {}, imported {} from {}", import.id, import.imported_at, names.join(", ")),
        "not measured by drome: figures as published, without intervals, ranks or verdicts".to_owned(),
    ]
}

/// The tool and the load, as far as they are known.
fn about(cell: &Cell) -> String {
    let mut words =
        vec![if cell.tool == "table" { "a table".to_owned() } else { format!("reports of {}", cell.tool) }];
    let number = |n: f64| units::count(n as u64);
    words.extend(cell.connections.map(|n| format!("{} connections", number(n))));
    words.extend(cell.offered_rate_per_s.map(|n| format!("open load at {}", units::requests_per_s(n))));
    words.extend(cell.command.filter(|command| *command != cell.title).map(|command| format!("`{command}`")));
    words.join(", ")
}

/// Whether the load is known to be closed, so that the latency is latency at saturation. Some tools do not say.
fn is_closed(cell: &Cell) -> bool {
    cell.offered_rate_per_s.is_none()
        && !["table", "wrk2", "httperf", "vegeta", "k6", "zrk"].contains(&cell.tool)
}

fn table(cell: &Cell) -> Table {
    let p99 = if is_closed(cell) { "p99 at saturation" } else { "p99" };
    let count = |n: Option<f64>| Some(units::count(n? as u64));
    Table::of(&cell.rows)
        .text("contender", |row| row.name.clone())
        .figure("requests/s", |row| row.get("rate_per_s").map(units::rate))
        .figure("mean latency", |row| row.time("latency_ns_mean"))
        .if_any()
        .figure("p50", |row| row.time("latency_ns_p50"))
        .if_any()
        .figure(p99, |row| row.time("latency_ns_p99"))
        .if_any()
        .figure("max", |row| row.time("latency_ns_max"))
        .if_any()
        .figure("received/s", |row| received(row).map(|n| format!("{}/s", units::bytes(n))))
        .if_any()
        .figure("RSS", |row| row.get("rss_bytes").map(units::bytes))
        .if_any()
        .figure("responses", |row| count(row.get("completed")))
        .if_any()
        .figure("errors", |row| count(row.errors()))
        .if_any()
        .table()
        .filterable()
}

/// Received bytes per second; those of bodies if only these are known.
fn received(row: &Row) -> Option<f64> {
    row.get("received_bytes_per_s").or_else(|| row.get("body_bytes_per_s"))
}

/// Notes on single readings, and lines of them that were not understood.
fn notes(cell: &Cell) -> Vec<String> {
    let mut notes = Vec::new();
    for row in &cell.rows {
        notes.extend(row.item.notes.iter().map(|note| format!("{}: {note}", row.name)));
        notes.extend(row.item.strange.iter().map(|line| format!("{}: not understood: {line}", row.name)));
    }
    notes
}
