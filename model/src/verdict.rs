//! Whether a measurement may be believed, and what bounded it.

use serde::{Deserialize, Serialize};

/// The verdict on one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What bounded it.
    pub bound: Bound,
    /// False: the measurement is void, kept and shown as such, and left out of every estimate.
    pub valid: bool,
    /// Why, each with its figure.
    pub reasons: Vec<String>,
}

/// What kept the rate from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The server's cores were busy.
    Server,
    /// The load generator's cores were busy: the figure is a floor.
    Client,
    /// Both were busy.
    Both,
    /// Neither was: the load asked for no more, or something waits.
    Neither,
    /// The server's use of its cores is not known.
    Unknown,
}

impl Bound {
    /// The word as it stands in JSON and in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Both => "both",
            Self::Neither => "neither",
            Self::Unknown => "unknown",
        }
    }
}
