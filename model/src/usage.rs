//! What a server used while it was measured: all of its processes together.

use serde::{Deserialize, Serialize};

/// Usage over the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The time between the two looks at the processes.
    pub wall_ns: u64,
    /// CPU time of the whole process tree, children that ended included.
    pub cpu_ns: u64,
    /// The cores that it could run on.
    pub cores: usize,
    /// The largest sum of resident memory.
    pub rss_max_bytes: u64,
    /// The largest sum of virtual memory.
    pub virtual_max_bytes: u64,
    /// The most threads at a time.
    pub threads_max: u64,
    /// The most processes at a time.
    pub processes_max: u64,
    /// Context switches that the server asked for (it waited), where they are known.
    pub switches_voluntary: Option<u64>,
    /// Context switches that it did not ask for (its time slice ended), where they are known.
    pub switches_involuntary: Option<u64>,
    /// The share of the machine's time that its host took away, where it is known, in millionths.
    pub steal_ppm: Option<u64>,
    /// The share of the machine's time that neither the server nor the load generator used, but other programs, where it
    /// is known, in millionths; the warm-up before the window is in it.
    #[serde(default)]
    pub others_ppm: Option<u64>,
}

impl Usage {
    /// The share of its cores that the server used.
    pub fn core_use(&self) -> Option<f64> {
        let available = self.wall_ns as f64 * self.cores as f64;
        (available > 0.0).then(|| self.cpu_ns as f64 / available)
    }
}
