//! What on this machine would spoil a measurement, and the remedy.

use crate::board::Cores;
use crate::environment::{read, virtualization};
use net::limits;
use std::time::Duration;

/// One thing looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub what: &'static str,
    /// What was found.
    pub found: String,
    /// What it spoils and what helps; none: it is fine.
    pub trouble: Option<Trouble>,
}

/// Something that spoils measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What it spoils.
    pub spoils: &'static str,
    /// What helps.
    pub remedy: &'static str,
}

/// Enough for ten thousand connections on either side.
const WANTED_DESCRIPTORS: u64 = 20_000;
/// Short connections keep a port for a minute.
const WANTED_PORTS: u64 = 20_000;
/// The kernel's own default since 5.4.
const WANTED_BACKLOG: u64 = 4096;
/// How long theft is looked for.
const STEAL_LOOK: Duration = Duration::from_millis(500);

/// Looks at everything. Takes half a second.
pub fn examine() -> Vec<Check> {
    vec![cores(), descriptors(), ports(), backlog(), governor(), load_average(), virtual_machine(), steal()]
}

fn check(
    what: &'static str,
    found: String,
    is_fine: bool,
    spoils: &'static str,
    remedy: &'static str,
) -> Check {
    Check { what, found, trouble: (!is_fine).then_some(Trouble { spoils, remedy }) }
}

/// What can't be read is neither fine nor trouble.
fn unknown(what: &'static str) -> Check {
    Check { what, found: "unknown: this system does not say".to_owned(), trouble: None }
}

fn cores() -> Check {
    let cores = Cores::deal();
    let list = |cpus: &[usize]| cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let found = format!("servers on {}, load generator on {}", list(&cores.server), list(&cores.client));
    check(
        "cores",
        found,
        !cores.are_shared(),
        "server and load generator take each other's time: rates are too low, by how much differs per server",
        "use a machine with two cores or more, or allow drome more of them (taskset, cgroup)",
    )
}

fn descriptors() -> Check {
    let (soft, hard) = limits::descriptors();
    let shown = |limit: Option<u64>| limit.map_or("no limit".to_owned(), |n| n.to_string());
    check(
        "descriptor limit",
        format!("{} (drome raises it itself up to {})", shown(soft), shown(hard)),
        hard.is_none_or(|n| n >= WANTED_DESCRIPTORS),
        "loads of many connections are refused",
        "raise the hard limit: ulimit -Hn 1000000 as root, or nofile in /etc/security/limits.conf",
    )
}

fn ports() -> Check {
    let Some(text) = read("/proc/sys/net/ipv4/ip_local_port_range") else {
        return unknown("local ports");
    };
    let mut numbers = text.split_whitespace().filter_map(|n| n.parse::<u64>().ok());
    let (Some(low), Some(high)) = (numbers.next(), numbers.next()) else {
        return unknown("local ports");
    };
    check(
        "local ports",
        format!("{} ({low} to {high})", high + 1 - low.min(high)),
        high.saturating_sub(low) >= WANTED_PORTS,
        "loads with a new connection for every request run out of ports",
        "sysctl net.ipv4.ip_local_port_range=\"1024 65535\"",
    )
}

fn backlog() -> Check {
    let Some(found) = read("/proc/sys/net/core/somaxconn") else {
        return unknown("listen backlog (somaxconn)");
    };
    check(
        "listen backlog (somaxconn)",
        found.clone(),
        found.parse::<u64>().is_ok_and(|n| n >= WANTED_BACKLOG),
        "bursts of connections are dropped and tried again after a second, which reads as latency",
        "sysctl net.core.somaxconn=4096",
    )
}

fn governor() -> Check {
    let Some(found) = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") else {
        return unknown("frequency governor");
    };
    let is_fine = found == "performance";
    check(
        "frequency governor",
        found,
        is_fine,
        "cores change their speed within and between trials",
        "cpupower frequency-set -g performance",
    )
}

fn load_average() -> Check {
    let found = read("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    let Some(found) = found else {
        return unknown("other load");
    };
    check(
        "other load",
        format!("{found:.2} runnable on average over the last minute"),
        found < 0.5,
        "other programs take time from server and load generator alike, and unevenly",
        "wait until it is below 0.5, or stop what runs",
    )
}

fn virtual_machine() -> Check {
    let found = virtualization();
    check(
        "virtualization",
        found.clone().unwrap_or_else(|| "none".to_owned()),
        found.is_none(),
        "other guests share caches and memory; figures hold for this guest on this day",
        "compare only within one run; use bare metal for figures to publish",
    )
}

fn steal() -> Check {
    let stolen = || {
        let text = read("/proc/stat")?;
        let ticks: Vec<u64> =
            text.lines().next()?.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
        Some((ticks.iter().take(8).sum::<u64>(), *ticks.get(7)?))
    };
    let before = stolen();
    std::thread::sleep(STEAL_LOOK);
    let (Some((all_0, steal_0)), Some((all_1, steal_1))) = (before, stolen()) else {
        return unknown("steal");
    };
    let share = steal_1.saturating_sub(steal_0) as f64 / all_1.saturating_sub(all_0).max(1) as f64 * 100.0;
    check(
        "steal",
        format!("{share:.1} % of the last half second taken by the host"),
        share < 1.0,
        "the host gives this machine's time to others: trials are slow at random",
        "measure at another time or on a machine of your own; drome voids trials with more than 10 %",
    )
}
