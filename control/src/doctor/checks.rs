//! The checks of `drome doctor`, each with its weight. A weight says how much of a figure a trouble can spoil: 3 or more can
//! change which server is faster, 2 makes figures noisy, 1 matters for some loads only or is a caveat.

use super::{Check, Trouble};
use crate::machine::cores::Cores;
use crate::machine::system::System;
use model::environment::{PhysicalCore, cpu_ranges};
use model::{Conditions, Environment};
use std::collections::BTreeSet;

/// Enough for ten thousand connections on each side.
const WANTED_DESCRIPTORS: u64 = 20_000;
/// Short connections keep a port for a minute.
const WANTED_PORTS: u64 = 20_000;
/// The kernel's own default since 5.4.
const WANTED_BACKLOG: u64 = 4096;
/// Servers with large caches, and the bodies of all workloads, fit.
const WANTED_MEMORY_BYTES: u64 = 1 << 30;
/// Processors slow themselves down between 80 °C (Raspberry Pi) and 100 °C.
const HOT_C: f64 = 80.0;
/// A higher load average means that other programs run.
const IDLE_LOAD: f64 = 0.5;
/// 1 % of the machine's time.
const STEAL_PPM: u64 = 10_000;
/// Reading the time from these takes microseconds and a call into the kernel.
const SLOW_CLOCKS: [&str; 5] = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];

/// All checks, the most harmful ones first.
pub(super) fn all(
    system: &System,
    cores: &Cores,
    environment: &Environment,
    conditions: &Conditions,
    busy: &[String],
) -> Vec<Check> {
    vec![
        dealt(cores),
        topology(environment),
        governor(environment),
        cpu_limit(environment),
        throttle(system),
        steal(conditions),
        threads(environment),
        other_load(conditions, busy),
        boost(environment),
        idle_cores(environment),
        temperature(conditions),
        virtual_machine(system, environment),
        clock(environment),
        memory(system, environment),
        descriptors(environment),
        ports(system),
        backlog(system),
        mitigations(environment),
    ]
}

/// Makes a check of what was found, whether it is fine, and the trouble if not. What can't be read is neither fine nor trouble.
fn check<T>(
    what: &'static str,
    weight: u8,
    found: Option<&T>,
    shown: impl Fn(&T) -> String,
    is_fine: impl Fn(&T) -> bool,
    [spoils, remedy]: [&'static str; 2],
) -> Check {
    let trouble = found.is_some_and(|found| !is_fine(found));
    let trouble = trouble.then(|| Trouble { spoils, remedy: remedy.to_owned() });
    Check { what, found: found.map(shown), weight, trouble }
}

fn dealt(cores: &Cores) -> Check {
    let found = (!cores.server.is_empty()).then_some(cores);
    let shown = |c: &Cores| {
        let idle = if c.idle.is_empty() { String::new() } else { format!(", {} idle", cpu_ranges(&c.idle)) };
        let notes = if c.notes.is_empty() { String::new() } else { format!(" ({})", c.notes.join("; ")) };
        format!(
            "servers on {}, load generator on {}{idle}{notes}",
            cpu_ranges(&c.server),
            cpu_ranges(&c.client)
        )
    };
    check(
        "cores",
        4,
        found,
        shown,
        |c| c.trouble.is_none(),
        [
            "server and load generator compete for CPU time: rates are too low, and some servers lose more than others",
            "use a machine with at least two physical cores, or let drome use more of them: taskset -c 0,1 drome …",
        ],
    )
}

/// Shows the topology. It is never a trouble: its effect is in how the cores were divided.
fn topology(environment: &Environment) -> Check {
    check(
        "topology",
        0,
        environment.machine.physical_cores.as_ref(),
        |cores| {
            let distinct = |of: fn(&PhysicalCore) -> Option<u32>| {
                cores.iter().filter_map(of).collect::<BTreeSet<u32>>().len()
            };
            let several = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
            let places =
                [(distinct(|core| core.package), "package"), (distinct(|core| core.node), "NUMA node")];
            let mut parts: Vec<String> =
                places.iter().filter(|(n, _)| *n > 0).map(|(n, what)| several(*n, what)).collect();
            let cpus = cores.iter().map(|core| core.cpus.len()).sum();
            parts.push(several(cores.len(), "physical core"));
            parts.push(several(cpus, "CPU"));
            let capacities: BTreeSet<u32> = cores.iter().filter_map(|core| core.capacity).collect();
            if capacities.len() > 1 {
                let all: Vec<String> = capacities.iter().rev().map(ToString::to_string).collect();
                parts.push(format!("capacities {}", all.join(" and ")));
            }
            let slow = cores.iter().filter(|core| core.kind.as_deref() == Some("efficiency")).count();
            if slow > 0 {
                parts.push(several(slow, "efficiency core"));
            }
            parts.join(", ")
        },
        |_| true,
        ["", ""],
    )
}

fn governor(environment: &Environment) -> Check {
    check(
        "frequency governor",
        3,
        environment.machine.frequency.governor.as_ref(),
        Clone::clone,
        |found| found == "performance",
        ["the speed of the cores changes within and between starts", "cpupower frequency-set -g performance"],
    )
}

fn idle_cores(environment: &Environment) -> Check {
    check(
        "idle cores",
        1,
        environment.machine.cores_stay_awake.as_ref(),
        |stay_awake| if *stay_awake { "stay awake while drome measures" } else { "may sleep" }.to_owned(),
        |stay_awake| *stay_awake,
        [
            "latency includes the time in which a core wakes, which can be half of a fast server's median",
            "run drome as root, or let it write the file: sudo setfacl -m u:$USER:rw /dev/cpu_dma_latency",
        ],
    )
}

fn cpu_limit(environment: &Environment) -> Check {
    let cores = environment.cores;
    check(
        "CPU limit",
        3,
        environment.machine.cgroup_cpu_millicores.as_ref(),
        |cap| cap.at().map_or("none".to_owned(), |n| format!("{:.2} of {cores} cores", n as f64 / 1000.0)),
        |cap| cap.at().is_none_or(|n| n >= cores as u64 * 1000),
        [
            "the control group halts server and load generator when their share of each 100 ms period is used up",
            "lift the limit: docker update --cpus N CONTAINER with N = the number of cores, or systemctl set-property UNIT CPUQuota=",
        ],
    )
}

fn throttle(system: &System) -> Check {
    let found = system.throttle().since_start();
    let power = found.as_ref().is_some_and(|flags| flags.iter().any(|flag| flag == "under-voltage"));
    let remedy = if power {
        "use a stronger power supply and reboot; the flags stay set until then"
    } else {
        "cool the machine (fan, fewer other programs) and reboot; the counters stay until then"
    };
    check(
        "throttling",
        3,
        found.as_ref(),
        |flags| if flags.is_empty() { "none since boot".to_owned() } else { flags.join(", ") },
        Vec::is_empty,
        ["the processor slows down under load, most of all in the later heats", remedy],
    )
}

fn steal(conditions: &Conditions) -> Check {
    check(
        "steal",
        3,
        conditions.steal_ppm.as_ref(),
        |ppm| format!("{:.1} % of the last half second taken by the host", *ppm as f64 / 1e4),
        |ppm| *ppm < STEAL_PPM,
        [
            "the host gives this machine's time to other guests, so measurements are slow at random",
            "measure at another time or on a dedicated machine; drome repeats turns that this disturbs, which takes longer",
        ],
    )
}

fn threads(environment: &Environment) -> Check {
    let is_on = |cpus: &[usize], core: &[usize]| core.iter().any(|cpu| cpus.contains(cpu));
    let is_split =
        |core: &&Vec<usize>| is_on(&environment.server_cpus, core) && is_on(&environment.client_cpus, core);
    let split =
        environment.machine.sibling_cpus.as_ref().map(|all| all.iter().filter(is_split).collect::<Vec<_>>());
    let shared = environment.server_cpus == environment.client_cpus;
    check(
        "hardware threads",
        2,
        split.as_ref(),
        |split| match split.first() {
            None => "no core is split between server and load generator".to_owned(),
            Some(core) => format!("CPUs {} are one core that server and load generator share", list(core)),
        },
        |split| split.is_empty() || shared,
        [
            "server and load generator share a core and slow each other down",
            "echo off > /sys/devices/system/cpu/smt/control, or give drome one thread per core: taskset -c 0,2 drome …",
        ],
    )
}

fn other_load(conditions: &Conditions, busy: &[String]) -> Check {
    let who = if busy.is_empty() { String::new() } else { format!("; now: {}", busy.join(", ")) };
    check(
        "other load",
        2,
        conditions.load_average.as_ref(),
        |load| format!("{load:.2} runnable on average over the last minute{who}"),
        |load| *load < IDLE_LOAD,
        [
            "other programs take CPU time from server and load generator, and slow some servers more than others",
            "stop them (top -o %CPU lists them), or wait: until awk '{exit !($1 < 0.5)}' /proc/loadavg; do sleep 5; done",
        ],
    )
}

fn boost(environment: &Environment) -> Check {
    let policy = &environment.machine.frequency;
    let is_intel = policy.driver.as_deref().is_some_and(|driver| driver.starts_with("intel_pstate"));
    let remedy = if is_intel {
        "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo"
    } else {
        "echo 0 > /sys/devices/system/cpu/cpufreq/boost"
    };
    check(
        "frequency boost",
        1,
        policy.boost.as_ref(),
        |on| if *on { "on" } else { "off" }.to_owned(),
        |on| !on,
        [
            "cores run faster while they are cool and other cores are idle, which favours what is measured first",
            remedy,
        ],
    )
}

fn temperature(conditions: &Conditions) -> Check {
    check(
        "temperature",
        1,
        conditions.temperature_c.after.as_ref(),
        |c| format!("{c:.0} °C"),
        |c| *c < HOT_C,
        ["the processor is close to throttling", "cool the machine, or wait until it has cooled: sleep 300"],
    )
}

fn virtual_machine(system: &System, environment: &Environment) -> Check {
    // If nothing about the processor could be read, there may be a hypervisor although none was found.
    let is_seen = environment.virtualization.is_some() || system.read("proc/cpuinfo").is_some();
    check(
        "virtualization",
        1,
        is_seen.then_some(&environment.virtualization),
        |found| found.clone().unwrap_or_else(|| "none".to_owned()),
        Option::is_none,
        [
            "other guests share caches and memory, so the figures hold only for this guest on this day",
            "compare absolute figures only within one run; where you publish them, say that the machine is a virtual one",
        ],
    )
}

fn clock(environment: &Environment) -> Check {
    check(
        "clock source",
        1,
        environment.machine.clock_source.as_ref(),
        Clone::clone,
        |name| !SLOW_CLOCKS.contains(&name.as_str()),
        [
            "reading the time takes microseconds, for the load generator and for every server that does it",
            "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource, if available_clocksource lists it",
        ],
    )
}

fn memory(system: &System, environment: &Environment) -> Check {
    let limit = environment.machine.cgroup_memory_bytes.and_then(model::environment::Cap::at);
    let least = [system.memory("MemAvailable"), limit].into_iter().flatten().min();
    check(
        "available memory",
        1,
        least.as_ref(),
        |n| format!("{} MiB", n >> 20),
        |n| *n >= WANTED_MEMORY_BYTES,
        [
            "servers that need more memory swap or are killed",
            "stop the programs that use it (ps aux --sort=-rss | head), or raise the control group's limit",
        ],
    )
}

fn descriptors(environment: &Environment) -> Check {
    let machine = &environment.machine;
    let soft = machine.descriptors_soft.map_or("unknown".to_owned(), |n| n.to_string());
    check(
        "descriptor limit",
        1,
        machine.descriptors_hard.as_ref(),
        |hard| format!("{soft} (drome raises its own up to {hard})"),
        |hard| *hard >= WANTED_DESCRIPTORS,
        [
            "drome refuses loads with many connections",
            "ulimit -Hn 1000000 as root, or nofile in /etc/security/limits.conf",
        ],
    )
}

fn ports(system: &System) -> Check {
    let range = system.sysctl("net.ipv4.ip_local_port_range").and_then(|text| {
        let (low, high) = text.split_once(' ')?;
        Some((low.parse::<u64>().ok()?, high.parse::<u64>().ok()?))
    });
    check(
        "local ports",
        1,
        range.as_ref(),
        |(low, high)| format!("{} ({low} to {high})", high.saturating_sub(*low).saturating_add(1)),
        |(low, high)| high.saturating_sub(*low) >= WANTED_PORTS,
        [
            "loads with a new connection for every request run out of ports",
            "sysctl net.ipv4.ip_local_port_range=\"1024 65535\"",
        ],
    )
}

fn backlog(system: &System) -> Check {
    check(
        "listen backlog (somaxconn)",
        1,
        system.sysctl("net.core.somaxconn").and_then(|text| text.parse::<u64>().ok()).as_ref(),
        ToString::to_string,
        |n| *n >= WANTED_BACKLOG,
        [
            "bursts of new connections are dropped and retried after a second, which shows up as latency",
            "sysctl net.core.somaxconn=4096",
        ],
    )
}

/// Counts the mitigations. They are never a trouble: a benchmark without them would show what nobody runs.
fn mitigations(environment: &Environment) -> Check {
    check(
        "mitigations",
        0,
        environment.machine.mitigations.as_ref(),
        |all| {
            let count = |word: &str| all.values().filter(|state| state.starts_with(word)).count();
            format!("{} vulnerabilities mitigated, {} open", count("Mitigation"), count("Vulnerable"))
        },
        |_| true,
        ["", ""],
    )
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
