//! An import as JSON: schema 1 like drome's own findings, with `imported: true`. Keys that need a measurement by drome are
//! null; keys of a reading (`figures`, `status`, `tool`, `command`, …) are added.

use super::{Cell, Row, cells};
use model::Import;
use model::findings::SCHEMA;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A key of drome's own findings that needs a measurement by drome: null.
type Unmeasured = ();

/// Results of other tools, read from their reports.
#[derive(Serialize, JsonSchema)]
pub struct Report<'i> {
    /// 1: the version of this JSON.
    schema: u32,
    /// True; findings of drome's own runs lack this key.
    imported: bool,
    /// The name of the import in the store.
    run: &'i str,
    /// `import`.
    study: &'static str,
    /// The page's title, or the files' names.
    title: &'i str,
    /// The names of the files.
    source: String,
    /// When the files were read, in RFC 3339, UTC.
    started_at: &'i str,
    /// drome's version.
    drome: &'i str,
    seed: Unmeasured,
    environment: Unmeasured,
    quick: Unmeasured,
    /// `imported`.
    ended: &'static str,
    elapsed_s: Unmeasured,
    noise_floor: Unmeasured,
    /// The files that were read.
    sources: Vec<SourcePart<'i>>,
    /// Readings that can be compared with each other, in the order of the pages.
    cells: Vec<CellPart<'i>>,
    /// Empty: nothing was to be measured.
    missing: [(); 0],
}

/// A file that was read.
#[derive(Serialize, JsonSchema)]
struct SourcePart<'i> {
    /// The name as given.
    name: &'i str,
    /// The page's first heading.
    title: Option<&'i str>,
    /// The size of the file.
    bytes: u64,
    /// Lines that were not understood and belong to no single reading.
    strange: &'i [String],
}

/// Readings of the same tool, workload and command line except for host and port.
#[derive(Serialize, JsonSchema)]
struct CellPart<'i> {
    /// The title in reports.
    title: String,
    /// The tool.
    tool: &'i str,
    /// The command line of the first reading that has one.
    command: Option<&'i str>,
    /// The workload in the words of the page.
    workload: Option<&'i str>,
    /// What all readings have in common.
    load: LoadPart,
    blocks: Unmeasured,
    noise_floor: Unmeasured,
    /// From the fastest to the slowest; those without a rate come last.
    contenders: Vec<RowPart<'i>>,
}

/// The load, as far as all readings of a cell have the same.
#[derive(Serialize, JsonSchema)]
struct LoadPart {
    /// The number of connections.
    connections: Option<f64>,
    /// The offered rate of an open load, in requests/s.
    rate_per_s: Option<f64>,
}

/// One reading.
#[derive(Serialize, JsonSchema)]
struct RowPart<'i> {
    /// Its name, unique in its cell.
    name: String,
    /// The title on the page: the heading above, or the row of a table.
    title: Option<&'i str>,
    /// The tool.
    tool: &'i str,
    /// The tool's version, if the report has it.
    tool_version: Option<&'i str>,
    /// The name that the server gave itself; empty where the report shows that it gave none.
    version: Option<&'i str>,
    /// The command line, if the report has it.
    command: Option<&'i str>,
    /// The URL that was requested.
    url: Option<&'i str>,
    /// The name of the file.
    source: Option<&'i str>,
    /// 1: a report is one measurement.
    trials: u32,
    void: Unmeasured,
    failed: Unmeasured,
    /// Responses per second.
    rate_per_s: Option<Figure>,
    server_cpu_ns_per_request: Unmeasured,
    /// The median latency.
    latency_ns_p50: Option<Figure>,
    /// The 99th percentile of latency.
    latency_ns_p99: Option<Figure>,
    rss_max_bytes: Unmeasured,
    of_reference: Unmeasured,
    time_ns_more: Unmeasured,
    server_cpu_ns_more: Unmeasured,
    tier: Unmeasured,
    rank_low: Unmeasured,
    rank_high: Unmeasured,
    bound: Unmeasured,
    published: Unmeasured,
    /// All figures of the report by name; the unit is the end of the name.
    figures: &'i BTreeMap<String, f64>,
    /// Times that the report shows as 0, with what they are below: the smallest time that it can show.
    below: &'i BTreeMap<String, f64>,
    /// The number of responses by status, or by its class (`2xx`).
    status: &'i BTreeMap<String, u64>,
    /// The number of errors by the tool's own kinds.
    errors: &'i BTreeMap<String, u64>,
    /// Remarks: what the page says about the reading in words, and figures of it that contradict each other.
    notes: &'i [String],
    /// Lines that were not understood, as they stand.
    strange: &'i [String],
}

/// A figure of one measurement, so without an interval.
#[derive(Serialize, JsonSchema)]
struct Figure {
    /// The figure.
    median: f64,
    low: Unmeasured,
    high: Unmeasured,
}

/// The documented JSON.
pub fn json(import: &Import) -> String {
    crate::json(&of(import))
}

fn of(import: &Import) -> Report<'_> {
    let sources = import.sources.iter().map(|s| SourcePart {
        name: &s.name,
        title: s.title.as_deref(),
        bytes: s.bytes,
        strange: &s.strange,
    });
    let names: Vec<&str> = import.sources.iter().map(|source| source.name.as_str()).collect();
    Report {
        schema: SCHEMA,
        imported: true,
        run: &import.id,
        study: "import",
        title: &import.title,
        source: names.join(", "),
        started_at: &import.imported_at,
        drome: &import.drome,
        seed: (),
        environment: (),
        quick: (),
        ended: "imported",
        elapsed_s: (),
        noise_floor: (),
        sources: sources.collect(),
        cells: cells(import).into_iter().map(|cell| of_cell(import, cell)).collect(),
        missing: [],
    }
}

fn of_cell<'i>(import: &'i Import, cell: Cell<'i>) -> CellPart<'i> {
    CellPart {
        title: cell.title,
        tool: cell.tool,
        command: cell.command,
        workload: cell.workload,
        load: LoadPart { connections: cell.connections, rate_per_s: cell.offered_rate_per_s },
        blocks: (),
        noise_floor: (),
        contenders: cell.rows.into_iter().map(|row| of_row(import, row)).collect(),
    }
}

fn of_row<'i>(import: &'i Import, row: Row<'i>) -> RowPart<'i> {
    let reading = &row.item.reading;
    let figure = |name: &str| row.get(name).map(|median| Figure { median, low: (), high: () });
    RowPart {
        title: reading.title.as_deref(),
        tool: &reading.tool,
        tool_version: reading.version.as_deref(),
        version: reading.server.as_deref(),
        command: reading.command.as_deref(),
        url: reading.url.as_deref(),
        source: import.sources.get(row.item.source).map(|source| source.name.as_str()),
        trials: 1,
        void: (),
        failed: (),
        rate_per_s: figure("rate_per_s"),
        server_cpu_ns_per_request: (),
        latency_ns_p50: figure("latency_ns_p50"),
        latency_ns_p99: figure("latency_ns_p99"),
        rss_max_bytes: (),
        of_reference: (),
        time_ns_more: (),
        server_cpu_ns_more: (),
        tier: (),
        rank_low: (),
        rank_high: (),
        bound: (),
        published: (),
        figures: &reading.figures,
        below: &reading.below,
        status: &reading.status,
        errors: &reading.errors,
        notes: &row.item.notes,
        strange: &row.item.strange,
        name: row.name,
    }
}
