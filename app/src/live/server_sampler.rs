//! The CPU and memory of a server on this machine while it is measured, sampled once a second.

use control::processes::tree::{self, Tree};
use model::Usage;
use std::time::{Duration, Instant};

/// The time between samples; one costs the machine some hundred microseconds.
const INTERVAL: Duration = Duration::from_secs(1);

/// What a server used when it was last sampled. Unknown once all of its processes have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ServerUse {
    /// The share of its cores that it used between the last two samples.
    pub core_use: Option<f64>,
    /// Its memory at the last sample.
    pub rss_bytes: Option<u64>,
}

/// Samples what a server uses.
#[derive(Debug)]
pub struct ServerSampler {
    tree: Tree,
    at: Instant,
    cpu_ns: u64,
    cores: usize,
    /// Since the first sample.
    usage: Usage,
}

impl ServerSampler {
    /// Takes the first sample of this process and all its descendants.
    pub fn new(pid: i32) -> Self {
        let tree = Tree::From(pid);
        let (cpu_ns, cores) = (tree::snapshot(&tree).cpu_ns, control::processes::local::cores(pid));
        Self { tree, at: Instant::now(), cpu_ns, cores, usage: Usage::default() }
    }

    /// Whether the next sample is due.
    pub fn is_due(&self) -> bool {
        self.at.elapsed() >= INTERVAL
    }

    /// Takes a sample.
    pub fn sample(&mut self) -> ServerUse {
        let (now, used) = (Instant::now(), tree::snapshot(&self.tree));
        // All of its processes have ended: unknown, not idle.
        let lives = used.processes > 0;
        let cpu_ns = used.cpu_ns.saturating_sub(self.cpu_ns);
        let usage = &mut self.usage;
        usage.wall_ns += (now - self.at).as_nanos() as u64;
        usage.cpu_ns += cpu_ns;
        usage.rss_max_bytes = usage.rss_max_bytes.max(used.rss_bytes);
        usage.threads_max = usage.threads_max.max(used.threads);
        // A server of one thread can't use a second core.
        usage.cores = self.cores.min(usage.threads_max as usize).max(1);
        let available = (now - self.at).as_secs_f64() * 1e9 * usage.cores as f64;
        (self.at, self.cpu_ns) = (now, used.cpu_ns.max(self.cpu_ns));
        let core_use = lives.then_some(cpu_ns as f64 / available);
        ServerUse { core_use, rss_bytes: lives.then_some(used.rss_bytes) }
    }

    /// The usage from the first sample to the last; `None` before the second.
    pub fn usage(&self) -> Option<&Usage> {
        (self.usage.wall_ns > 0).then_some(&self.usage)
    }
}
