//! An import as rows, one per reading, with a column for every figure that any reading has, under drome's name for it. A
//! time that a report shows as 0 is in a column of its own, `…_below`, as the smallest time that the report can show.

use super::{Cell, Row, cells};
use crate::records::Records;
use model::Import;
use std::collections::BTreeSet;

/// The columns that every import has.
const HEAD: [&str; 10] =
    ["run", "imported", "source", "cell_title", "workload", "tool", "command", "contender", "server", "url"];

/// One row per reading; a field is empty if the page does not say.
pub fn records(import: &Import) -> Records {
    let readings = || import.items.iter().map(|item| &item.reading);
    let names: BTreeSet<&str> =
        readings().flat_map(|reading| reading.figures.keys()).map(String::as_str).collect();
    let below: BTreeSet<&str> =
        readings().flat_map(|reading| reading.below.keys()).map(String::as_str).collect();
    let figures = names.iter().map(|name| (*name).to_owned());
    let figures = figures.chain(below.iter().map(|name| format!("{name}_below")));
    let mut records = Records::new(HEAD.map(str::to_owned).into_iter().chain(figures));
    for cell in &cells(import) {
        cell.rows.iter().for_each(|row| records.row(fields(import, cell, row, &names, &below)));
    }
    records
}

fn fields(
    import: &Import,
    cell: &Cell,
    row: &Row,
    names: &BTreeSet<&str>,
    below: &BTreeSet<&str>,
) -> Vec<String> {
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
    let shown = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let figures = names.iter().map(|name| shown(row.get(name)));
    let below = below.iter().map(|name| shown(reading.below.get(*name).copied()));
    fields.into_iter().chain(figures).chain(below).collect()
}
