//! The processes that used the cores while the machine was examined.

use crate::machine::cpu_time;
use crate::machine::system::System;
use std::collections::BTreeMap;
use std::time::Duration;

/// The number of ticks per second in which the kernel counts CPU time for programs, on every Linux that is in use.
const TICKS_PER_S: f64 = 100.0;

/// How many processes are named.
const NAMED: usize = 3;

/// A process that used less than this share of a core is not named.
const WORTH: f64 = 0.05;

/// Name and CPU time, in ticks, of all processes but this one, by PID.
pub(super) fn ticks(system: &System) -> BTreeMap<u32, (String, u64)> {
    let own = std::process::id();
    let pids =
        system.names("proc").into_iter().filter_map(|name| name.parse().ok()).filter(|pid| *pid != own);
    pids.filter_map(|pid: u32| {
        let text = system.read(&format!("proc/{pid}/stat"))?;
        // The name is in parentheses and may have some itself; user and system time are fields 14 and 15 of proc(5).
        let (head, rest) = text.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let ticks: Vec<u64> =
            rest.split_whitespace().skip(11).take(2).filter_map(|n| n.parse().ok()).collect();
        Some((pid, (name, ticks.into_iter().fold(0, u64::saturating_add))))
    })
    .collect()
}

/// The share of the time of `cores` cores that these processes used between two readings, in millionths; `None` where no time passed.
pub(super) fn share_ppm(
    before: &BTreeMap<u32, (String, u64)>,
    after: &BTreeMap<u32, (String, u64)>,
    between: Duration,
    cores: usize,
) -> Option<u64> {
    let used = |(pid, (_, now)): (&u32, &(String, u64))| Some(now.saturating_sub(before.get(pid)?.1));
    let share = after.iter().filter_map(used).sum::<u64>() as f64
        / TICKS_PER_S
        / between.as_secs_f64()
        / cores as f64;
    share.is_finite().then_some((share * 1e6) as u64)
}

/// The share of time in which some CPUs of the machine were busy, in millionths. It bounds what other programs can have used there, because
/// the kernel does not record on which CPUs a process ran. `None`: they are all CPUs of the machine, or the
/// system does not tell.
pub(super) fn room_ppm(stats: [&str; 2], cpus: &[usize], between: Duration) -> Option<u64> {
    let [then, now] = stats.map(|stat| cpu_time::of(stat, cpus));
    let idle_ns = now?.idle.saturating_sub(then?.idle).saturating_mul(cpu_time::tick_ns());
    let passed_ns = between.as_nanos() as f64 * cpus.len() as f64;
    let share = (1.0 - idle_ns as f64 / passed_ns).max(0.0);
    (cpu_time::count(stats[1])? > cpus.len() && share.is_finite()).then_some((share * 1e6) as u64)
}

/// The processes that used the most between two readings, each with its share of a core.
pub(super) fn busiest(
    before: &BTreeMap<u32, (String, u64)>,
    after: &BTreeMap<u32, (String, u64)>,
    between: Duration,
) -> Vec<String> {
    let share = |(pid, (name, now)): (&u32, &(String, u64))| {
        let used = now.saturating_sub(before.get(pid)?.1);
        let share = used as f64 / TICKS_PER_S / between.as_secs_f64();
        (share >= WORTH && share.is_finite()).then(|| (share, format!("{name} ({:.0} %)", share * 100.0)))
    };
    let mut all: Vec<(f64, String)> = after.iter().filter_map(share).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(NAMED).map(|(_, words)| words).collect()
}
