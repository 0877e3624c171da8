//! The machine: what it is, and whether other programs use it during a measurement.

use crate::process::TICK_NS;
use std::fs;
use std::time::Instant;

/// /proc/stat counts in ticks: below this its figures are too coarse.
const NOTABLE_CORES: f64 = 0.1;

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
