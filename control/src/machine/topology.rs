//! The topology of the processors as plain data: physical cores with their hardware threads, packages, NUMA nodes and
//! classes, and which of them this process may use. Read below one folder, so that tests can use the files of other machines;
//! decisions are made in `cores.rs`.

use crate::machine::system::System;
use model::environment::{Cap, PhysicalCore};
use std::collections::BTreeSet;

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// Counters that Linux has for each kind of core of Intel's hybrid processors; each folder lists its CPUs. Older kernels
/// distinguish the two kinds by nothing else.
const KINDS: [(&str, &str); 2] =
    [("performance", "sys/devices/cpu_core"), ("efficiency", "sys/devices/cpu_atom")];

/// The topology of the processors, and which of their CPUs may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// All physical cores that are online, by their first CPU. No CPU is in two of them.
    pub physical: Vec<PhysicalCore>,
    /// The CPUs (hardware threads) that this process may use, in order: its affinity, within its cpuset.
    pub allowed: Vec<usize>,
    /// CPU time that the control group allows, in thousandths of a CPU; `None`: no limit, or unknown.
    pub limit_millicores: Option<u64>,
}

impl Topology {
    /// That of this machine, for this process.
    pub fn here() -> Self {
        Self::read(&System::here(), &net::cpu::allowed())
    }

    /// Reads the topology, for a process that may use these CPUs.
    pub fn read(system: &System, allowed: &[usize]) -> Self {
        Self {
            physical: physical_cores(system).unwrap_or_default(),
            allowed: allowed.to_vec(),
            limit_millicores: system.cgroup_cpu().and_then(Cap::at),
        }
    }
}

/// The physical cores that are online; `None` where the system does not say which CPUs are one core.
pub fn physical_cores(system: &System) -> Option<Vec<PhysicalCore>> {
    let online = system.cpu_list(&format!("{CPUS}/online"))?;
    let nodes = nodes(system);
    let kinds =
        KINDS.map(|(kind, folder)| (kind, system.cpu_list(&format!("{folder}/cpus")).unwrap_or_default()));
    let mut left: BTreeSet<usize> = online.into_iter().collect();
    let mut cores = Vec::new();
    while let Some(first) = left.first().copied() {
        let threads = threads(system, first)?;
        // One that is listed by two cores stays with the first: whatever is read, each CPU is in one core.
        let mut cpus: Vec<usize> = threads.into_iter().filter(|cpu| left.remove(cpu)).collect();
        if left.remove(&first) {
            cpus.insert(0, first);
        }
        let number = |name: &str| system.number(&format!("{CPUS}/cpu{first}/{name}"));
        cores.push(PhysicalCore {
            cpus,
            package: number("topology/physical_package_id"),
            node: nodes.iter().find(|(_, cpus)| cpus.contains(&first)).map(|(node, _)| *node),
            capacity: number("cpu_capacity"),
            kind: kinds.iter().find(|(_, cpus)| cpus.contains(&first)).map(|(kind, _)| (*kind).to_owned()),
        });
    }
    if packages_are_clusters(system, &cores) {
        cores.iter_mut().for_each(|core| core.package = None);
    }
    Some(cores)
}

/// Whether the numbers of packages are those of a board's clusters: older ARM kernels (5.10 is one) number these so, though all are on one chip.
fn packages_are_clusters(system: &System, cores: &[PhysicalCore]) -> bool {
    let packages: BTreeSet<u32> = cores.iter().filter_map(|core| core.package).collect();
    let is_arm = || system.read("proc/cpuinfo").is_some_and(|text| text.contains("CPU implementer"));
    packages.len() > 1 && is_arm() && system.read("proc/device-tree/model").is_some()
}

/// The hardware threads of a CPU's core, itself included. Kernels before 5.2 have only the second name.
fn threads(system: &System, cpu: usize) -> Option<Vec<usize>> {
    let list = |name: &str| system.cpu_list(&format!("{CPUS}/cpu{cpu}/topology/{name}"));
    list("core_cpus_list").or_else(|| list("thread_siblings_list"))
}

/// NUMA nodes with their CPUs.
fn nodes(system: &System) -> Vec<(u32, Vec<usize>)> {
    let node = |name: String| {
        let number = name.strip_prefix("node")?.parse().ok()?;
        Some((number, system.cpu_list(&format!("{NODES}/{name}/cpulist"))?))
    };
    system.names(NODES).into_iter().filter_map(node).collect()
}
