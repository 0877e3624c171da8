//! A load that several machines drove together: what each did, by its own account.

use crate::verdict::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The machines that drove one load, and how closely together they started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machines {
    /// The machines, in the order in which they were named.
    pub each: Vec<Machine>,
    /// From the first to the last of their starts, on this machine's clock, in nanoseconds; null unless all started.
    pub skew_ns: Option<u64>,
    /// How far `skew_ns` can be off at most, because clocks are compared over a network, in nanoseconds; null unless all started.
    pub skew_bound_ns: Option<u64>,
}

impl Machines {
    /// The addresses that they asked, each once, in words.
    pub fn addresses(&self) -> String {
        let all: BTreeSet<&str> = self.each.iter().map(|machine| machine.address.as_str()).collect();
        all.into_iter().filter(|address| !address.is_empty()).collect::<Vec<_>>().join(" and ")
    }
}

/// One machine's part of a load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// How it was named.
    pub name: String,
    /// Its own host name.
    pub host: String,
    /// The number of its CPUs.
    pub cores: usize,
    /// The address that it asked.
    #[serde(default)]
    pub address: String,
    /// The number of its connections.
    pub connections: usize,
    /// Open load: the part of the offered rate that it drove, per second; null under closed load.
    pub rate_per_s: Option<f64>,
    /// How its clock differs from this machine's; null if it could not be compared.
    pub clock: Option<Clock>,
    /// How long after the agreed instant it started, on this machine's clock, in nanoseconds; null if it did not start.
    pub start_late_ns: Option<i64>,
    /// What it counted; null if it was lost, or could not measure.
    pub counted: Option<Counted>,
    /// Its own verdict on its part; null if it was lost, or could not measure.
    pub verdict: Option<Verdict>,
    /// Why it has no figures; null if it has.
    pub failed: Option<String>,
}

/// How another machine's clock differs from this one's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Its monotonic clock minus this machine's, in nanoseconds.
    pub offset_ns: i64,
    /// How far `offset_ns` can be off at most, in nanoseconds.
    pub bound_ns: u64,
    /// The shortest round trip over which the clocks were compared, in nanoseconds.
    pub round_trip_ns: u64,
}

/// The main figures of one machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// The number of its worker threads.
    pub threads: usize,
    /// Requests that it sent, those in flight when its window opened included.
    pub sent: u64,
    /// Complete and correct responses.
    pub completed: u64,
    /// Errors of all kinds.
    pub errors: u64,
    /// The median of its latencies, in nanoseconds; null without responses.
    pub latency_p50_ns: Option<u64>,
    /// The 99th percentile of its latencies, in nanoseconds; null without responses.
    pub latency_p99_ns: Option<u64>,
    /// The 99th percentile of how long requests that could have left waited in the load generator, in nanoseconds; null where none waited.
    pub schedule_lag_p99_ns: Option<u64>,
    /// The share of its time in which its busiest thread was busy.
    pub busiest_thread_use: Option<f64>,
}
