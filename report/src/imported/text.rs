//! An import for people: for a terminal, as Markdown, and as a bar chart alone.

use super::{Cell, Row, cells};
use crate::table::{Side, Table};
use crate::text_style::{Ink, TextStyle};
use crate::{bars, markdown_text as md, units};
use model::Import;
use std::fmt::Write;

/// A column, shown if any row has a value for it.
type Column = (&'static str, fn(&Row) -> Option<String>);

/// For a terminal.
pub fn terminal(import: &Import, style: &TextStyle) -> String {
    let line = |text: &str| style.prose(text, Ink::Plain);
    let mut out = line(&format!("imported: {}", import.title));
    for text in preface(import) {
        out += &line(&text);
    }
    for cell in cells(import) {
        let _ = write!(out, "\n{}{}\n{}", line(&cell.title), line(&about(&cell)), table(&cell).fit(style));
        let chart = of_cell(&cell, style.columns()).map(|chart| format!("\n{}", style.words(&chart)));
        out.push_str(&chart.unwrap_or_default());
        let notes = notes(&cell);
        if !notes.is_empty() {
            let _ = write!(out, "\n{}", line(&notes.join("\n")));
        }
    }
    out
}

/// As Markdown, ready to be pasted.
pub fn markdown(import: &Import) -> String {
    let mut out = format!("# {} (imported)\n\n{}", md::words(&import.title), md::items(&preface(import)));
    for cell in cells(import) {
        let (title, about) = (md::words(&cell.title), md::prose(&about(&cell)));
        let _ = write!(out, "\n## {title}\n\n{about}.\n\n{}", table(&cell).markdown());
        let chart = of_cell(&cell, None).map(|chart| format!("\n{}", md::block(&chart)));
        out.push_str(&chart.unwrap_or_default());
        let notes = notes(&cell);
        if !notes.is_empty() {
            let _ = write!(out, "\n{}", md::items(&notes));
        }
    }
    out
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

fn of_cell(cell: &Cell, columns: Option<usize>) -> Option<String> {
    let bars = bars_of(cell);
    (!bars.is_empty()).then(|| bars::within(bars, columns))
}

/// What readers must know before they read the figures.
pub(crate) fn preface(import: &Import) -> Vec<String> {
    let names: Vec<&str> = import.sources.iter().map(|source| source.name.as_str()).collect();
    vec![
        format!("run {}, imported {} from {}", import.id, import.imported_at, names.join(", ")),
        "not measured by drome: figures as published, without intervals, ranks or verdicts".to_owned(),
    ]
}

/// The tool and the load, as far as they are known.
pub(crate) fn about(cell: &Cell) -> String {
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

pub(crate) fn table(cell: &Cell) -> Table {
    let p99 = if is_closed(cell) { "p99 at saturation" } else { "p99" };
    let columns: [Column; 8] = [
        ("mean latency", |row| row.time("latency_ns_mean")),
        ("p50", |row| row.time("latency_ns_p50")),
        (p99, |row| row.time("latency_ns_p99")),
        ("max", |row| row.time("latency_ns_max")),
        ("received/s", |row| received(row).map(|n| format!("{}/s", units::bytes(n)))),
        ("RSS", |row| row.get("rss_bytes").map(units::bytes)),
        ("responses", |row| row.get("completed").map(|n| units::count(n as u64))),
        ("errors", |row| row.errors().map(|n| units::count(n as u64))),
    ];
    let is_shown = |column: &&Column| cell.rows.iter().any(|row| column.1(row).is_some());
    let columns: Vec<&Column> = columns.iter().filter(is_shown).collect();
    let mut head = vec![("contender", Side::Left), ("requests/s", Side::Right)];
    head.extend(columns.iter().map(|(title, _)| (*title, Side::Right)));
    let mut table = Table::new(&head);
    for row in &cell.rows {
        let mut cells = vec![row.name.clone(), units::known(row.get("rate_per_s"), units::rate)];
        cells
            .extend(columns.iter().map(|(_, shown)| shown(row).unwrap_or_else(|| units::UNKNOWN.to_owned())));
        table.row(cells);
    }
    table
}

/// Received bytes per second; those of bodies if only these are known.
fn received(row: &Row) -> Option<f64> {
    row.get("received_bytes_per_s").or_else(|| row.get("body_bytes_per_s"))
}

/// Notes on single readings, and lines of them that were not understood.
pub(crate) fn notes(cell: &Cell) -> Vec<String> {
    let mut notes = Vec::new();
    for row in &cell.rows {
        notes.extend(row.item.notes.iter().map(|note| format!("{}: {note}", row.name)));
        notes.extend(row.item.strange.iter().map(|line| format!("{}: not understood: {line}", row.name)));
    }
    notes
}
