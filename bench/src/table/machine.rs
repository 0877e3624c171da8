//! The machine: what it is, and whether other programs use it during a measurement.

use std::fs;
use std::time::Instant;

/// /proc/stat counts in ticks: below this its figures are too coarse.
const NOTABLE_CORES: f64 = 0.1;

/// Length of a tick of /proc/stat, the same on every architecture that drome supports.
const TICK_NS: f64 = 1e7;

/// "AMD EPYC, 2 cores, Linux 6.1.0".
pub fn described() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ")).map(|(_, m)| m);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = net::cpu::allowed().len();
    format!("{}, {cores} cores, Linux {}", model.unwrap_or("CPU model unknown"), kernel.trim())
}

/// Measures the CPU time of the whole machine from a moment on.
pub struct CpuWatch {
    start: Instant,
    ticks: Option<u64>,
}

impl CpuWatch {
    pub fn start() -> Self {
        Self { start: Instant::now(), ticks: busy_ticks() }
    }

    /// How many cores other programs kept busy since then; `None` if too few to matter. `own_ns` is the CPU time of the
    /// measurement itself.
    pub fn others_cores(&self, own_ns: u64) -> Option<f64> {
        let ticks = busy_ticks()?.checked_sub(self.ticks?)?;
        let cores = (ticks as f64 * TICK_NS - own_ns as f64) / self.start.elapsed().as_nanos() as f64;
        (cores >= NOTABLE_CORES).then_some(cores)
    }
}

fn busy_ticks() -> Option<u64> {
    ticks_in(&fs::read_to_string("/proc/stat").ok()?)
}

/// CPU time of all ended processes that a process started and waited for, in nanoseconds, a whole number of ticks. That process must have
/// ended as well, and must not have been waited for yet.
pub fn children_cpu_ns(pid: u32) -> Option<u64> {
    children_ticks(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?).map(|ticks| ticks * TICK_NS as u64)
}

/// `cutime` and `cstime` of `/proc/PID/stat`. What comes before may have blanks in it, and ends with the last parenthesis.
fn children_ticks(stat: &str) -> Option<u64> {
    let rest: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    rest.get(13..15)?.iter().map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// User, nice, system and steal time. Not interrupts: the kernel counts the network's own work as such.
fn ticks_in(stat: &str) -> Option<u64> {
    let all: Vec<u64> =
        stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().flat_map(str::parse).collect();
    Some(all.get(0..3)?.iter().sum::<u64>() + all.get(7)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_all_but_idle_time_and_interrupts() {
        assert_eq!(
            ticks_in("cpu  1 20 300 4000 50000 600000 7000000 80000000 0 0\ncpu0 9\n"),
            Some(80_000_321)
        );
        assert_eq!(ticks_in(""), None);
    }

    #[test]
    fn what_children_used_is_read_behind_a_name_with_blanks() {
        let stat = "7 (a b) c) Z 1 7 7 0 -1 4 1 2 3 4 100 200 30 4 20 0 1 0 5 6 7";
        assert_eq!((children_ticks(stat), children_ticks("7 (a)")), (Some(34), None));
    }

    #[test]
    fn a_thread_that_spins_is_seen_unless_it_is_known() {
        let (watch, own_ns) = (CpuWatch::start(), net::clock::own_cpu_ns());
        while net::clock::own_cpu_ns() - own_ns < 500_000_000 {}
        let wall_ns = watch.start.elapsed().as_nanos() as f64;
        let seen = watch.others_cores(0).unwrap();
        assert!(seen * wall_ns > 4e8, "{seen}");
        let without = watch.others_cores(500_000_000).unwrap_or(0.0);
        assert!(without < seen);
    }
}
