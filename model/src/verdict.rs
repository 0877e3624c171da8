//! Whether a measurement may be believed, and what bounded it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The words after the number in the remark on connections without any answer; reports find the remark by them.
pub const NEVER_ANSWERED: &str = "connections were never answered";

/// How the remark on trouble with stopping the server begins. What follows may repeat what the server wrote, so it is taken out of runs that
/// are shared with `--redact`.
pub const STOPPING: &str = "after the measurement, ";

/// The verdict on one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What bounded it.
    pub bound: Bound,
    /// False: the measurement is void, kept and shown as such, and left out of every estimate.
    pub valid: bool,
    /// Whether it is void for no other reason than that the server lost requests or was silent. So much is then known of the server: it did
    /// not do this work. False in what older versions stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub void_by_loss: bool,
    /// The reasons, each with its figure.
    pub reasons: Vec<String>,
    /// Open load: whether the server answered what was due. False: the rate that it did answer is a finding, and its latency is that of a
    /// queue that grew throughout the measurement. Null in closed load, and in what older versions stored.
    #[serde(default)]
    pub kept_up: Option<bool>,
    /// How long the server waited for work, as a share of the window in millionths: the time in which its cores, or its busiest thread,
    /// were not busy. Null where its processes are not known, and in what older versions stored.
    #[serde(default)]
    pub server_idle_ppm: Option<u64>,
}

impl Default for Verdict {
    /// The verdict on nothing: not to be believed.
    fn default() -> Self {
        Self {
            bound: Bound::Unknown,
            valid: false,
            void_by_loss: false,
            reasons: Vec::new(),
            kept_up: None,
            server_idle_ppm: None,
        }
    }
}

impl Verdict {
    /// Whether the server did not answer what was due.
    pub fn fell_behind(&self) -> bool {
        self.kept_up == Some(false)
    }
}

/// What kept the rate from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The server's cores, or its busiest thread, were busy.
    Server,
    /// The load generator's cores were busy: the figure is a lower bound.
    Client,
    /// Both were busy: the figure is a lower bound, because a server that polls is busy while it waits.
    Both,
    /// The network between load generator and server carried all that it can: the figure is a lower bound.
    Network,
    /// Neither the server nor the load generator nor the network was at its limit: the load demanded no more, or the server
    /// was waiting for something else.
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
            Self::Network => "network",
            Self::Neither => "neither",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the load generator or the network was at its limit, so that a rate under closed load is a lower bound for the server.
    pub fn is_held_back(self) -> bool {
        matches!(self, Self::Client | Self::Both | Self::Network)
    }

    /// The same, for the word by which findings name the bound.
    pub fn is_word_held_back(word: &str) -> bool {
        [Self::Client, Self::Both, Self::Network].iter().any(|bound| bound.word() == word)
    }
}
