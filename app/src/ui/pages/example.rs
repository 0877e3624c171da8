//! Findings for the tests of pages.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use model::findings::{CellFindings, CellInHeats, ContenderFindings, ContenderInHeats, Figure};
use model::{Environment, Findings};
use serde_json::{from_value, json, to_value};

/// A contender of which nothing is known but that six starts were measured.
pub fn contender(name: &str) -> ContenderFindings {
    let known = json!({
        "name": name, "title": name, "trials": 6, "void": 0, "failed": 0, "errors": 0, "notes": [],
        "in_heats": to_value(ContenderInHeats::default()).unwrap()
    });
    from_value(known).unwrap()
}

/// A contender with this share of the reference's rate.
pub fn with_share(name: &str, share: f64) -> ContenderFindings {
    let of_reference = Some(Figure { median: share, low: Some(share * 0.99), high: Some(share * 1.01) });
    ContenderFindings { of_reference, rate_per_s: of_reference, ..contender(name) }
}

/// A cell of closed load, ranked by the rate.
pub fn cell(title: &str, contenders: &[ContenderFindings]) -> CellFindings {
    let load = json!({"closed": {"connections": 4}});
    from_value(json!({
        "title": title, "workload": "hello", "load": load, "blocks": 6, "contenders": contenders,
        "in_heats": to_value(CellInHeats::default()).unwrap()
    }))
    .unwrap()
}

/// The findings of a run with these cells.
pub fn findings(cells: &[CellFindings]) -> Findings {
    from_value(json!({
        "schema": 1, "run": "run-1", "study": "small", "title": "A small study", "seed": 7,
        "started_at": "2026-01-01T00:00:00Z", "environment": to_value(Environment::default()).unwrap(),
        "quick": false, "ended": "the budget is spent", "elapsed_s": 9.0, "cells": cells, "missing": []
    }))
    .unwrap()
}
