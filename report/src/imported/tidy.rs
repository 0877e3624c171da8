//! An import as CSV, one row per reading, with a column for every figure that any reading has, under drome's name for it.

use super::{Cell, Row, cells};
use crate::csv;
use model::Import;
use std::collections::BTreeSet;

/// The columns that every import has.
const HEAD: [&str; 10] =
    ["run", "imported", "source", "cell_title", "workload", "tool", "command", "contender", "server", "url"];

/// A header and one row per reading; a field is empty if the page does not say.
pub fn csv(import: &Import) -> String {
    let names: BTreeSet<&str> =
        import.items.iter().flat_map(|item| item.reading.figures.keys()).map(String::as_str).collect();
    let head = csv::line(HEAD.iter().copied().chain(names.iter().copied()));
    let cells = cells(import);
    let rows = cells.iter().flat_map(|cell| cell.rows.iter().map(move |row| (cell, row)));
    head + &rows.map(|(cell, row)| line(import, cell, row, &names)).collect::<String>()
}

fn line(import: &Import, cell: &Cell, row: &Row, names: &BTreeSet<&str>) -> String {
    let reading = &row.item.reading;
    let source = import.sources.get(row.item.source).map(|source| source.name.as_str());
    let fields = [
        Some(import.id.as_str()),
        Some("true"),
        source,
        Some(&cell.title),
        cell.workload,
        Some(&reading.tool),
        reading.command.as_deref(),
        Some(&row.name),
        reading.server.as_deref(),
        reading.url.as_deref(),
    ];
    let fields = fields.map(|field| field.unwrap_or_default().to_owned());
    let figures = names.iter().map(|name| row.get(name).map_or_else(String::new, |x| x.to_string()));
    csv::line(fields.into_iter().chain(figures))
}
