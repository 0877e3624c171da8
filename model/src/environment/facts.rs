//! The facts of a machine: the name of each, its value in words, and what a difference in it weighs. What shows machines and what compares
//! them reads this one list.

use super::{Cap, Environment, Machine, SLEEPS, cpu_ranges};
use crate::units::{bytes, count};

/// Two kernels of one machine reserve different parts of its memory, but no more than this share.
const SAME_MEMORY: f64 = 0.05;

/// What a difference between two machines weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Machines of one kind may differ in it.
    Information,
    /// It is only told: a correction for the machine's speed removes most of its effect.
    Remark,
    /// Their runs are compared only on request: the reference is not slower by the same share as every server.
    Refusal,
    /// It is another kind of machine, and a history has only one.
    OtherKind,
}

/// One fact of a machine.
pub struct Fact {
    /// Its name, as it stands in a sentence.
    pub name: &'static str,
    /// Its value with its unit; `None`: unknown.
    pub value: fn(&Environment) -> Option<String>,
    /// What it weighs that two machines have different values.
    weight: fn(&Environment, &Environment) -> Weight,
}

/// A fact in which two machines differ, or that is known of one of them only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the fact.
    pub name: String,
    /// The first machine's value; `None`: unknown.
    pub old: Option<String>,
    /// The second one's.
    pub new: Option<String>,
    /// What the difference weighs.
    pub weight: Weight,
}

/// The name of the cores that servers are pinned to.
pub const SERVER_CORES: &str = "cores of the servers";

/// The name of the kernel's release.
pub const KERNEL: &str = "kernel";

/// All facts that every machine has, in the order in which they are shown.
pub static FACTS: [Fact; 23] = [
    fact("processor", kind, |e| Some(e.cpu.clone().unwrap_or_else(|| "unknown".to_owned()))),
    fact("number of cores that drome may use", kind, |e| Some(e.cores.to_string())),
    fact("hypervisor", kind, |e| Some(e.virtualization.clone().unwrap_or_else(|| "none found".to_owned()))),
    fact(SERVER_CORES, kind, |e| Some(cpus(&e.server_cpus))),
    fact("cores of the load generator", kind, |e| Some(cpus(&e.client_cpus))),
    fact("cores that drome leaves idle", information, |e| Some(cpus(&e.idle_cpus))),
    fact("way in which the load generator waits", refusal, |e| Some(way_to_wait(e).to_owned())),
    fact("state of idle cores", refusal, |e| {
        e.machine.cores_stay_awake.map(|awake| if awake { "awake" } else { "may sleep" }.to_owned())
    }),
    fact("amount of memory", memory, |e| e.memory_bytes.map(size)),
    fact("swap", information, |e| e.machine.swap_bytes.map(size)),
    fact(KERNEL, kernel, |e| e.kernel.clone()),
    fact("frequency governor", remark, |e| e.machine.frequency.governor.clone()),
    fact("frequency driver", remark, |e| e.machine.frequency.driver.clone()),
    fact("allowed frequency", remark, |e| frequencies(&e.machine)),
    fact("frequency boost", remark, |e| {
        e.machine.frequency.boost.map(|on| if on { "on" } else { "off" }.to_owned())
    }),
    fact("clock source", remark, |e| e.machine.clock_source.clone()),
    fact("CPU limit", refusal, |e| {
        e.machine.cgroup_cpu_millicores.map(|cap| limit(cap, |n| format!("{} cores", n as f64 / 1000.0)))
    }),
    fact("memory limit", remark, |e| e.machine.cgroup_memory_bytes.map(|cap| limit(cap, size))),
    fact("soft descriptor limit", information, |e| e.machine.descriptors_soft.map(count)),
    fact("hard descriptor limit", remark, |e| e.machine.descriptors_hard.map(count)),
    fact("online cores", information, |e| e.machine.online_cpus.as_deref().map(cpus)),
    fact("isolated cores", remark, |e| e.machine.isolated_cpus.as_deref().map(cpus)),
    fact("threads that share a core", remark, |e| e.machine.sibling_cpus.as_deref().map(siblings)),
];

/// All facts in which two machines differ, and then the kernel's settings and mitigations that both have and that differ.
pub fn differences(old: &Environment, new: &Environment) -> Vec<Difference> {
    let of_all = FACTS.iter().map(|fact| Difference {
        name: fact.name.to_owned(),
        old: (fact.value)(old),
        new: (fact.value)(new),
        weight: (fact.weight)(old, new),
    });
    let before = settings(&old.machine);
    let of_both = settings(&new.machine).into_iter().filter_map(|(name, new)| {
        let (_, old) = before.iter().find(|(other, _)| *other == name)?.clone();
        Some(Difference { name, old, new, weight: Weight::Remark })
    });
    of_all.chain(of_both).filter(|fact| fact.old != fact.new).collect()
}

const fn fact(
    name: &'static str,
    weight: fn(&Environment, &Environment) -> Weight,
    value: fn(&Environment) -> Option<String>,
) -> Fact {
    Fact { name, value, weight }
}

fn information(_: &Environment, _: &Environment) -> Weight {
    Weight::Information
}

fn remark(_: &Environment, _: &Environment) -> Weight {
    Weight::Remark
}

fn refusal(_: &Environment, _: &Environment) -> Weight {
    Weight::Refusal
}

fn kind(_: &Environment, _: &Environment) -> Weight {
    Weight::OtherKind
}

fn memory(old: &Environment, new: &Environment) -> Weight {
    match (old.memory_bytes, new.memory_bytes) {
        (Some(old), Some(new)) if old.abs_diff(new) as f64 <= SAME_MEMORY * old.max(new) as f64 => {
            Weight::Information
        }
        _ => Weight::Refusal,
    }
}

/// The correction for the machine's speed covers another release of the same major version.
fn kernel(old: &Environment, new: &Environment) -> Weight {
    let [old, new] = [old, new].map(|e| e.kernel.as_deref().and_then(|release| release.split('.').next()));
    if old == new { Weight::Remark } else { Weight::Refusal }
}

fn way_to_wait(e: &Environment) -> &'static str {
    if e.core_notes.iter().any(|note| note == SLEEPS) { "sleeping" } else { "polling" }
}

fn cpus(cpus: &[usize]) -> String {
    if cpus.is_empty() { "none".to_owned() } else { cpu_ranges(cpus) }
}

fn siblings(all: &[Vec<usize>]) -> String {
    let threads: Vec<String> = all.iter().map(|core| cpu_ranges(core)).collect();
    if threads.is_empty() { "none".to_owned() } else { threads.join("; ") }
}

fn size(n: u64) -> String {
    bytes(n as f64)
}

fn frequencies(machine: &Machine) -> Option<String> {
    let ghz = |hz: u64| format!("{:.2} GHz", hz as f64 / 1e9);
    let (low, high) = machine.frequency.min_hz.zip(machine.frequency.max_hz)?;
    Some(format!("{} to {}", ghz(low), ghz(high)))
}

fn limit(cap: Cap, shown: fn(u64) -> String) -> String {
    cap.at().map_or_else(|| "unlimited".to_owned(), shown)
}

/// What the kernel does about each flaw of the processor, and its settings.
fn settings(machine: &Machine) -> Vec<(String, Option<String>)> {
    let flaws = machine.mitigations.iter().flatten();
    let flaws = flaws.map(|(name, state)| (format!("mitigation of {name}"), Some(state.clone())));
    flaws.chain(machine.sysctls.clone()).collect()
}
