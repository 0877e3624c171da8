//! The usage of a server while it was measured: of all of its processes together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server's usage over the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// The time between the two readings of the processes' CPU time.
    pub wall_ns: u64,
    /// CPU time of the whole process tree, children that ended included.
    pub cpu_ns: u64,
    /// The number of cores that it could run on.
    pub cores: usize,
    /// The largest sum of resident memory.
    pub rss_max_bytes: u64,
    /// The largest sum of virtual memory.
    pub virtual_max_bytes: u64,
    /// The largest number of threads at a time.
    pub threads_max: u64,
    /// The largest number of processes at a time.
    pub processes_max: u64,
    /// Context switches that the server asked for (it waited), where they are known.
    pub switches_voluntary: Option<u64>,
    /// Context switches that it did not ask for (its time slice ended), where they are known.
    pub switches_involuntary: Option<u64>,
    /// The share of the time of the server's and the load generator's CPUs that the virtual machine's host took (steal time), if it is
    /// known, in millionths.
    pub steal_ppm: Option<u64>,
    /// The share of that time that programs other than the server and the load generator used, if it is known, in millionths;
    /// the warm-up before the window is included.
    #[serde(default)]
    pub others_ppm: Option<u64>,
    /// CPU time of the thread that used the most; unknown where threads that ended meanwhile may have used more, and in what
    /// older versions stored.
    #[serde(default)]
    pub busiest_thread_ns: Option<u64>,
    /// The idle time of each core that the server was pinned to. Empty: the server was not pinned, or the system does not report it.
    #[serde(default)]
    pub idle_ns_by_core: Vec<u64>,
}

impl Usage {
    /// The share of its cores that the server used.
    pub fn core_use(&self) -> Option<f64> {
        self.share(self.cpu_ns, self.cores as f64)
    }

    /// The share of one core that its busiest thread used.
    pub fn busiest_thread_use(&self) -> Option<f64> {
        self.share(self.busiest_thread_ns?, 1.0)
    }

    /// How busy the server was where it was busiest: its cores together, or its busiest thread. A server with one busy thread can't do more
    /// on a second core. Where the kernel does not count interrupts and stolen time as a program's, a saturated program seems to use less
    /// than its cores, but they are never idle. That is judged for all cores together: a single core of several that is never idle may have
    /// been another program's.
    pub fn busy_share(&self) -> Option<f64> {
        let pinned_to = self.idle_ns_by_core.len();
        let idle_ns = self.idle_ns_by_core.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns));
        let not_idle = self.share(idle_ns, pinned_to as f64).map(|idle| 1.0 - idle);
        let known = [self.core_use(), self.busiest_thread_use(), not_idle];
        known.into_iter().flatten().reduce(f64::max).map(|share| share.clamp(0.0, 1.0))
    }

    /// How long the server waited for work, as a share of the window: the time in which its busiest part was not busy.
    pub fn idle_share(&self) -> Option<f64> {
        self.busy_share().map(|busy| 1.0 - busy)
    }

    fn share(&self, ns: u64, cores: f64) -> Option<f64> {
        let available = self.wall_ns as f64 * cores;
        (available > 0.0).then(|| ns as f64 / available)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_busy_thread_on_four_cores_is_busy() {
        let second = 1_000_000_000;
        let usage = Usage { wall_ns: second, cpu_ns: second, cores: 4, ..Usage::default() };
        assert_eq!(usage.busy_share(), Some(0.25));
        let threads = Usage { busiest_thread_ns: Some(second * 99 / 100), ..usage.clone() };
        assert_eq!((threads.core_use(), threads.busy_share()), (Some(0.25), Some(0.99)));
        // A kernel that counts interrupts by themselves: the thread seems to rest, its only core does not.
        let resting = Usage { busiest_thread_ns: Some(second * 7 / 10), ..usage };
        let only = Usage { cpu_ns: second * 7 / 10, cores: 1, idle_ns_by_core: vec![0], ..resting.clone() };
        assert_eq!((only.busy_share(), only.idle_share()), (Some(1.0), Some(0.0)));
        let none_idle = Usage { idle_ns_by_core: vec![0; 4], ..resting };
        assert_eq!(none_idle.busy_share(), Some(1.0));
    }

    #[test]
    fn one_core_of_eight_that_another_program_keeps_busy_is_not_the_servers_limit() {
        let second = 1_000_000_000;
        let mut idle_ns_by_core = vec![second / 2; 8];
        idle_ns_by_core[3] = 0;
        let usage = Usage {
            wall_ns: second,
            cpu_ns: 4 * second,
            cores: 8,
            busiest_thread_ns: Some(second / 2),
            idle_ns_by_core,
            ..Usage::default()
        };
        let busy = usage.busy_share().unwrap();
        assert!((0.5..0.6).contains(&busy), "{busy}");
    }

    #[test]
    fn a_server_that_was_not_looked_at_is_unknown_and_late_looks_are_no_more_than_all() {
        assert_eq!((Usage::default().busy_share(), Usage::default().idle_share()), (None, None));
        let late =
            Usage { wall_ns: 100, cpu_ns: 101, cores: 1, idle_ns_by_core: vec![110], ..Usage::default() };
        assert_eq!((late.busy_share(), late.idle_share()), (Some(1.0), Some(0.0)));
    }
}
