//! An import as JSON: schema 1 like drome's own findings, with `imported: true`. Keys that need a measurement by drome are
//! null; keys of a reading (`figures`, `status`, `tool`, `command`, …) are added.

use super::{Cell, Row, cells};
use model::Import;
use model::findings::SCHEMA;
use serde_json::{Value, json};

/// The documented JSON.
pub fn json(import: &Import) -> String {
    let sources: Vec<Value> = import
        .sources
        .iter()
        .map(|s| json!({"name": s.name, "title": s.title, "bytes": s.bytes, "strange": s.strange}))
        .collect();
    let names: Vec<&str> = import.sources.iter().map(|source| source.name.as_str()).collect();
    let value = json!({
        "schema": SCHEMA,
        "imported": true,
        "run": import.id,
        "study": "import",
        "title": import.title,
        "source": names.join(", "),
        "started_at": import.imported_at,
        "drome": import.drome,
        "seed": null,
        "environment": null,
        "quick": null,
        "ended": "imported",
        "elapsed_s": null,
        "noise_floor": null,
        "sources": sources,
        "cells": cells(import).iter().map(|c| of_cell(import, c)).collect::<Vec<_>>(),
        "missing": [],
    });
    serde_json::to_string_pretty(&value).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}")) + "\n"
}

fn of_cell(import: &Import, cell: &Cell) -> Value {
    json!({
        "title": cell.title,
        "tool": cell.tool,
        "command": cell.command,
        "workload": cell.workload,
        "load": {"connections": cell.connections, "rate_per_s": cell.offered_rate_per_s},
        "blocks": null,
        "noise_floor": null,
        "contenders": cell.rows.iter().map(|row| of_row(import, row)).collect::<Vec<_>>(),
    })
}

fn of_row(import: &Import, row: &Row) -> Value {
    let reading = &row.item.reading;
    let figure =
        |name: &str| row.get(name).map(|median| json!({"median": median, "low": null, "high": null}));
    json!({
        "name": row.name,
        "title": reading.title,
        "tool": reading.tool,
        "tool_version": reading.version,
        "version": reading.server,
        "command": reading.command,
        "url": reading.url,
        "source": import.sources.get(row.item.source).map(|source| &source.name),
        "trials": 1,
        "void": null,
        "failed": null,
        "rate_per_s": figure("rate_per_s"),
        "server_cpu_ns_per_request": null,
        "latency_ns_p50": figure("latency_ns_p50"),
        "latency_ns_p99": figure("latency_ns_p99"),
        "rss_max_bytes": null,
        "of_reference": null,
        "time_ns_more": null,
        "server_cpu_ns_more": null,
        "tier": null,
        "rank_low": null,
        "rank_high": null,
        "bound": null,
        "published": null,
        "figures": reading.figures,
        "status": reading.status,
        "errors": reading.errors,
        "notes": row.item.notes,
        "strange": row.item.strange,
    })
}
