//! The result of starting a contender, verifying everything that it serves, and stopping it: no load, no figures.

use crate::contender::Track;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One contender on one track.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inspection {
    /// The name under which it takes part.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// The track on which it took part.
    pub track: Track,
    /// The version that it reports.
    pub version: Option<String>,
    /// Why it can't run on this machine, and how to install it.
    pub missing: Option<String>,
    /// The number of workloads that it serves.
    pub served: usize,
    /// The number of those that it serves correctly.
    pub right: usize,
    /// Everything that is wrong.
    pub wrong: Vec<String>,
    /// The faults that its declaration names.
    #[serde(default)]
    pub known: Vec<String>,
    /// The time from its start to its end.
    pub elapsed_s: f64,
    /// The size of its answer to `hello`, head and body.
    pub hello_wire_bytes: Option<usize>,
}

impl Inspection {
    /// Whether it is installed and something is wrong with it.
    pub fn has_failed(&self) -> bool {
        !self.wrong.is_empty()
    }
}
