//! What a round of a work measures: a sample of each of its runs.

use super::clients::ClientReport;

/// The result of one run.
#[derive(Debug)]
pub struct Sample {
    /// The reports, one of each client.
    pub reports: Vec<ClientReport>,
    pub client_cpu_ns: u64,
    pub server_cpu_ns: u64,
    /// The memory of all servers that no file backs, after the run; `None`: unknown.
    pub server_anonymous_bytes: Option<u64>,
    /// The most memory of all clients that no file backs, during the run; `None`: unknown.
    pub client_anonymous_bytes: Option<u64>,
    /// The number of connections of all clients together.
    pub connections: usize,
    /// How many cores other programs kept busy meanwhile, if enough to matter.
    pub others_cores: Option<f64>,
}

/// The result of each run of the work, or why there is none.
pub type Round = Vec<Result<Sample, String>>;
