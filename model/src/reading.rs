//! What a report of some other tool says: figures under drome's own names, in drome's own units. What the report does
//! not say is not there.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A report as it was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The tool: `ab`, `siege`, `wrk` and the like; `table` for a table that somebody made.
    pub tool: String,
    /// The tool's version, where it stands there.
    pub version: Option<String>,
    /// What the page calls it: the heading above, or the row of a table.
    pub title: Option<String>,
    /// The command line, where it stands there.
    pub command: Option<String>,
    /// What was asked.
    pub url: Option<String>,
    /// What the server called itself; empty where the report shows that it said nothing.
    pub server: Option<String>,
    /// What it was asked for, in the page's words, where it has any.
    pub workload: Option<String>,
    /// The figures, by name; the unit is the end of the name. The names are those of drome's own results wherever
    /// drome has such a figure: `rate_per_s`, `duration_ns`, `completed`, `failed`, `connections`,
    /// `offered_rate_per_s`, `received_bytes`, `body_bytes`, `received_bytes_per_s`, `document_bytes`, and
    /// `latency_ns_…`, `connect_ns_…`, `first_byte_ns_…`, `service_ns_…` with `min`, `mean`, `sd`, `p50`, `p66`,
    /// `p99`, `p999` or `max`. The median is `p50`.
    pub figures: BTreeMap<String, f64>,
    /// Answers by status, or by its class (`2xx`).
    pub status: BTreeMap<String, u64>,
    /// What went wrong, by the tool's own kinds, and how often.
    pub errors: BTreeMap<String, u64>,
}

impl Reading {
    /// Nothing read yet.
    pub fn of(tool: &str) -> Self {
        Self { tool: tool.to_owned(), ..Self::default() }
    }

    /// Adds a figure that the report has.
    pub fn set(&mut self, name: &str, value: f64) {
        self.figures.insert(name.to_owned(), value);
    }

    /// A figure, if the report has it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }
}
