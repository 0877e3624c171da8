//! What came of starting a contender, verifying all that it serves, and stopping it: no load, no figures.

use crate::contender::Track;
use serde::{Deserialize, Serialize};

/// One contender on one track.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    /// Its name, as it enters.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// How it took part.
    pub track: Track,
    /// What it says its version is.
    pub version: Option<String>,
    /// Why it is not on this machine, and what gets it.
    pub missing: Option<String>,
    /// Workloads that it serves.
    pub served: usize,
    /// Of those, done rightly.
    pub right: usize,
    /// All that is wrong.
    pub wrong: Vec<String>,
    /// What it does wrong as its declaration says.
    #[serde(default)]
    pub known: Vec<String>,
    /// From its start to its end.
    pub elapsed_s: f64,
    /// Head and body of its answer to `hello`.
    pub hello_wire_bytes: Option<usize>,
}

impl Inspection {
    /// It is there, and something is wrong with it.
    pub fn has_failed(&self) -> bool {
        !self.wrong.is_empty()
    }
}
