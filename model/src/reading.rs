//! A report of another tool: figures under drome's own names, in drome's own units. What the report does not say is
//! absent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A report that was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// The tool: `ab`, `siege`, `wrk` and the like; `table` for a table made by hand.
    pub tool: String,
    /// The tool's version, if the report has it.
    pub version: Option<String>,
    /// The title on the page: the heading above, or the row of a table.
    pub title: Option<String>,
    /// The command line, if the report has it.
    pub command: Option<String>,
    /// The URL that was requested.
    pub url: Option<String>,
    /// The name that the server gave itself; empty where the report shows that it gave none.
    pub server: Option<String>,
    /// The workload in the page's words, if it has any.
    pub workload: Option<String>,
    /// The figures, by name; the unit is the end of the name. The names are those of drome's own results wherever
    /// drome has such a figure: `rate_per_s`, `duration_ns`, `completed`, `failed`, `connections`,
    /// `offered_rate_per_s`, `received_bytes`, `body_bytes`, `received_bytes_per_s`, `document_bytes`, and
    /// `latency_ns_…`, `connect_ns_…`, `first_byte_ns_…`, `service_ns_…` with `min`, `mean`, `sd`, `p50`, `p66`,
    /// `p99`, `p999` or `max`. The median is `p50`.
    pub figures: BTreeMap<String, f64>,
    /// Times that the report shows as 0, with what they are below: the smallest time that it can show.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub below: BTreeMap<String, f64>,
    /// The number of answers by status, or by its class (`2xx`).
    pub status: BTreeMap<String, u64>,
    /// The number of errors by the tool's own kinds.
    pub errors: BTreeMap<String, u64>,
}

impl Reading {
    /// A reading without any figures yet.
    pub fn of(tool: &str) -> Self {
        Self { tool: tool.to_owned(), ..Self::default() }
    }

    /// Adds a figure that the report has.
    pub fn set(&mut self, name: &str, value: f64) {
        self.figures.insert(name.to_owned(), value);
    }

    /// Adds a figure that was rounded to multiples of `resolution`. A time of 0 is only known to be below it.
    pub fn set_measured(&mut self, name: &str, value: f64, resolution: f64) {
        if value == 0.0 && name.contains("_ns_") {
            self.below.insert(name.to_owned(), resolution);
        } else {
            self.set(name, value);
        }
    }

    /// A figure, if the report has it.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied()
    }
}
