//! All that the load engine needs for one measurement. Resolved: nothing here is a default any more.

use crate::checked;
use crate::target::Target;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where requests go.
    pub target: Target,
    /// The request as bytes, head and body.
    pub request: Vec<u8>,
    /// The method was HEAD: answers have no body whatever their length says.
    pub head_only: bool,
    /// How requests arrive.
    pub load: Load,
    /// When the measurement ends.
    pub until: Until,
    /// Load before the measurement, not counted.
    pub warmup: Duration,
    /// A request without its whole answer after this long is an error.
    pub timeout: Duration,
    /// A worker that has nothing to do polls for so long before it sleeps.
    pub spin: Duration,
    /// Worker threads, each with its share of the connections.
    pub threads: usize,
    /// The cores that workers are pinned to, in turn; none: not pinned.
    pub cpus: Vec<usize>,
    /// What an answer must be.
    pub expect: Expect,
    /// Seed of the arrivals.
    pub seed: u64,
}

/// How requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Every connection asks again as soon as it was answered.
    Closed {
        /// How many connections.
        #[serde(deserialize_with = "checked::positive")]
        connections: usize,
        /// Requests before a connection is closed and opened anew; none: as long as the server keeps it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "checked::positive_or_none"
        )]
        per_connection: Option<usize>,
    },
    /// Requests become due at a rate, whatever the server does.
    Open {
        /// Requests per second, over all connections.
        #[serde(deserialize_with = "checked::rate")]
        rate_per_s: f64,
        /// How many connections share them.
        #[serde(deserialize_with = "checked::positive")]
        connections: usize,
        /// How due times are spaced.
        #[serde(default)]
        arrivals: Arrivals,
        /// Requests before a connection is closed and opened anew; none: as long as the server keeps it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "checked::positive_or_none"
        )]
        per_connection: Option<usize>,
    },
}

impl Load {
    /// How many connections.
    pub fn connections(&self) -> usize {
        match self {
            Self::Closed { connections, .. } | Self::Open { connections, .. } => *connections,
        }
    }

    /// Requests before a connection is closed and opened anew.
    pub fn per_connection(&self) -> Option<usize> {
        match self {
            Self::Closed { per_connection, .. } | Self::Open { per_connection, .. } => *per_connection,
        }
    }

    /// The offered rate of open load.
    pub fn rate_per_s(&self) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { rate_per_s, .. } => Some(*rate_per_s),
        }
    }
}

/// How the due times of open load are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// As independent users arrive: exponential gaps.
    Poisson,
}

/// When a measurement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After this long.
    Elapsed(Duration),
    /// After so many answers.
    Answered(u64),
}

/// What an answer must be; what is `None` is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// This status; none: any below 400.
    pub status: Option<u16>,
    /// A body of so many bytes.
    pub length: Option<u64>,
    /// A body with this SHA-256.
    pub sha256: Option<[u8; 32]>,
    /// This very body.
    pub body: Option<Vec<u8>>,
}
