//! What each protocol costs a contender: its cells side by side, where a study asks in several. They are compared, not ranked.

use crate::document::Document;
use crate::table::{INTERVAL, Table};
use crate::{figures, offered, units};
use model::Findings;
use model::findings::{CellFindings, ContenderFindings};
use model::study::Transport;
use std::collections::BTreeSet;

/// A contender in one of the cells.
struct Row<'f> {
    cell: &'f CellFindings,
    contender: &'f ContenderFindings,
}

/// A table for each contender with several protocols, or with and without TLS. Empty for a study that has only one way to ask.
pub(crate) fn document(f: &Findings) -> Document {
    let names: BTreeSet<&str> =
        f.cells.iter().flat_map(|cell| &cell.contenders).map(|c| c.name.as_str()).collect();
    let tables = names.into_iter().filter_map(|name| {
        let rows: Vec<Row<'_>> = f.cells.iter().filter_map(|cell| row(cell, name)).collect();
        let ways: BTreeSet<_> = rows.iter().map(|row| protocol(row.cell.transport)).collect();
        let title = rows.first()?.contender.title.clone();
        (ways.len() > 1).then(|| (title, table(&rows)))
    });
    let tables: Vec<_> = tables.collect();
    if tables.is_empty() {
        return Document::default();
    }
    let start = Document::default()
        .section("protocols", "What each protocol costs")
        .remark("For one server at a time, and without ranks: the work differs with the protocol. CPU/request is the CPU time of all of the server's processes.");
    tables.into_iter().fold(start, |document, (title, table)| document.heading(3, title).table(table))
}

/// The protocol, and whether it is encrypted; not how many streams or handshakes there are.
fn protocol(transport: Transport) -> String {
    let tls = if transport.tls.is_some() { " over TLS" } else { "" };
    format!("{}{tls}", transport.protocol.name())
}

fn row<'f>(cell: &'f CellFindings, name: &str) -> Option<Row<'f>> {
    let contender = cell.contenders.iter().find(|c| c.name == name)?;
    Some(Row { cell, contender })
}

fn table(rows: &[Row<'_>]) -> Table {
    let asked = |cell: &CellFindings| offered::cell_words(&cell.load, cell.transport);
    Table::of(rows)
        .text("protocol", |row| protocol(row.cell.transport))
        .text("asked", |row| format!("{}, {}", row.cell.workload, asked(row.cell)))
        .number("requests/s", |row| figures::rate(row.contender))
        .number(INTERVAL, |row| units::interval(row.contender.rate_per_s, units::rate))
        .figure("CPU/request", |row| Some(units::duration(row.contender.server_cpu_ns_per_request?.median)))
        .number(INTERVAL, |row| units::interval(row.contender.server_cpu_ns_per_request, units::duration))
        .text("bound", |row| figures::bound(row.cell, row.contender))
        .table()
        .named_by("asked")
        .called("protocols")
}
