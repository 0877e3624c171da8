//! What the two sides say to each other. Both are the same build of drome, so nothing here has versions.

use model::{Plan, Tally, Verdict};
use serde::{Deserialize, Serialize};

/// The name that these requests have on the link.
pub const LOADS: &str = "loads";

/// What a machine is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum LoadRequest {
    /// Takes a plan and tries its target: [`Ready`].
    Prepare(Box<AgentPart>),
    /// Drives the load: [`Account`].
    Run {
        /// When to start, in nanoseconds of the monotonic clock of the machine that gets the order.
        starts_ns: u64,
    },
}

/// A machine's part of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentPart {
    /// The machine's plan. Its threads and CPUs are not used: the machine chooses its own, by `threads` below.
    pub plan: Plan,
    /// The number of threads that the user asked for; `None`: what suits the machine.
    pub threads: Option<usize>,
    /// Whether a machine that is held up by others counts.
    pub allow_busy: bool,
    /// Whether the latencies of all single exchanges are wanted, to check sums.
    pub raw: bool,
}

/// A machine that is ready.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ready {
    /// The number of worker threads that it will use.
    pub threads: usize,
    /// The address of the target that it has reached.
    pub address: String,
}

/// What a machine did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Account {
    /// Everything that it counted.
    pub tally: Tally,
    /// Its own verdict.
    pub verdict: Verdict,
    /// When its load began, in nanoseconds of its clock; `None` if it did not.
    pub started_ns: Option<u64>,
    /// When its window opened, in nanoseconds of its clock; `None` if it did not.
    pub opened_ns: Option<u64>,
    /// The latencies of all exchanges that ended with an answer, in nanoseconds, if they were wanted.
    pub raw_ns: Vec<u64>,
}
