//! What the network between a load generator and servers on another machine carries. What was not measured is null.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a network carries between a load generator and servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Network {
    /// The median of the round trips of 32 bytes over TCP, from program to program.
    pub round_trip_ns: Option<u64>,
    /// Their 99th percentile; null where there were fewer than a hundred.
    pub round_trip_p99_ns: Option<u64>,
    /// The share of datagrams to the servers that were lost, in millionths.
    pub lost_to_servers_ppm: Option<u64>,
    /// The share of datagrams from the servers that were lost, in millionths.
    pub lost_from_servers_ppm: Option<u64>,
    /// What one TCP connection carries to the servers, in bytes of payload.
    pub tcp_to_servers_bytes_per_s: Option<u64>,
    /// What one TCP connection carries from the servers, in bytes of payload.
    pub tcp_from_servers_bytes_per_s: Option<u64>,
    /// How many small datagrams a second arrive at the servers where more are sent; null where all that were sent arrived, so that the
    /// limit is not known.
    pub packets_per_s: Option<u64>,
}

/// Counts of TCP segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segments {
    /// Those that were sent, without what was sent again.
    pub sent: u64,
    /// Those that were received.
    pub received: u64,
}

impl Segments {
    /// Applies a function to each count.
    #[must_use]
    pub fn each(self, of: impl Fn(u64) -> u64) -> Self {
        Self { sent: of(self.sent), received: of(self.received) }
    }

    /// Combines each count with the same one of `other` by a function.
    #[must_use]
    pub fn with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self { sent: of(self.sent, other.sent), received: of(self.received, other.received) }
    }
}
