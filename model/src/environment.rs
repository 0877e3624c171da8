//! The machine: what holds for a whole run, and what may change from heat to heat. What the machine does not report is null, never 0;
//! what older versions did not record reads as null, too.

pub mod facts;
mod servers_on;

pub use servers_on::ServersOn;

use crate::network::Network;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is noted of a run's cores where the load generator sleeps because of `DROME_POLL=0`.
pub const SLEEPS: &str = "the load generator sleeps while it waits (DROME_POLL=0), so the servers' cores have the work of waking it";

/// The machine that a run was on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// drome's own version.
    pub drome: String,
    /// The work that the hub, which ties heats together, does for an answer; unknown in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hub: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The name of the processor, as it reports it.
    pub cpu: Option<String>,
    /// The number of cores that drome may use.
    pub cores: usize,
    /// The CPUs that servers are pinned to.
    pub server_cpus: Vec<usize>,
    /// The CPUs that the load generator is pinned to.
    pub client_cpus: Vec<usize>,
    /// The CPUs that drome may use and leaves idle, for the reasons in `core_notes`.
    #[serde(default)]
    pub idle_cpus: Vec<usize>,
    /// Remarks on how the cores were divided, a sentence each.
    #[serde(default)]
    pub core_notes: Vec<String>,
    /// The size of the machine's memory.
    pub memory_bytes: Option<u64>,
    /// The hypervisor, if the machine reports one.
    pub virtualization: Option<String>,
    /// The other properties of the machine that may affect figures.
    #[serde(default)]
    pub machine: Machine,
    /// The other machine that the servers ran on; absent: they ran on this one. `server_cpus` are then that machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers_on: Option<Box<ServersOn>>,
}

impl Environment {
    /// The machine that servers run on.
    pub fn of_servers(&self) -> &Self {
        self.servers_on.as_deref().map_or(self, |on| &on.environment)
    }

    /// What the network between load generator and servers carries, where there is one and it was measured.
    pub fn network(&self) -> Option<&Network> {
        self.servers_on.as_deref()?.network.as_ref()
    }
}

/// The properties of the machine that may affect figures and hold for a whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Machine {
    /// SHA-256 of drome's own program.
    pub drome_sha256: Option<String>,
    /// The CPUs that are online.
    pub online_cpus: Option<Vec<usize>>,
    /// The CPUs that the scheduler leaves alone.
    pub isolated_cpus: Option<Vec<usize>>,
    /// The hardware threads that share a core, one list a core; cores of one thread are left out.
    pub sibling_cpus: Option<Vec<Vec<usize>>>,
    /// The physical cores that are online.
    pub physical_cores: Option<Vec<PhysicalCore>>,
    /// How the frequency of the cores is decided.
    pub frequency: FrequencyPolicy,
    /// What the kernel does about each flaw of the processor, by the flaw's name.
    pub mitigations: Option<BTreeMap<String, String>>,
    /// The kernel settings that can affect what a server does, by name.
    pub sysctls: BTreeMap<String, Option<String>>,
    /// The number of descriptors that a process may have before it raises its limit.
    pub descriptors_soft: Option<u64>,
    /// The highest limit that it may raise this to.
    pub descriptors_hard: Option<u64>,
    /// The CPU time that the control group allows, in thousandths of a core.
    pub cgroup_cpu_millicores: Option<Cap>,
    /// The memory that the control group allows.
    pub cgroup_memory_bytes: Option<Cap>,
    /// The kernel's source of the time.
    pub clock_source: Option<String>,
    /// The size of the swap.
    pub swap_bytes: Option<u64>,
    /// Whether drome keeps idle cores awake while it measures. Where they may sleep, latency includes the time in which they wake. Unknown in
    /// runs of older versions, which let them sleep.
    pub cores_stay_awake: Option<bool>,
}

/// One physical core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PhysicalCore {
    /// Its CPUs, as Linux numbers them: one for each hardware thread.
    pub cpus: Vec<usize>,
    /// The package (socket) that it is in.
    pub package: Option<u32>,
    /// The NUMA node that it is on.
    pub node: Option<u32>,
    /// Its speed as Linux rates it; 1024 is the machine's fastest core. ARM's big and little cores differ in it.
    pub capacity: Option<u32>,
    /// `performance` or `efficiency`, on Intel's hybrid processors.
    pub kind: Option<String>,
}

/// How the frequency of the cores that drome may use is decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FrequencyPolicy {
    /// The kernel's frequency driver (`scaling_driver`), such as `intel_pstate`.
    pub driver: Option<String>,
    /// The governor; where cores differ, all of them, separated by commas.
    pub governor: Option<String>,
    /// The lowest frequency that is allowed on any of the cores.
    pub min_hz: Option<u64>,
    /// The highest frequency that is allowed on any of the cores.
    pub max_hz: Option<u64>,
    /// Whether cores may exceed their nominal frequency for as long as they are cool.
    pub boost: Option<bool>,
}

/// A known limit: a number, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Cap {
    /// This number.
    At(u64),
    /// No limit.
    No(Unlimited),
}

/// The word for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unlimited {
    /// There is none.
    Unlimited,
}

impl Cap {
    /// No limit.
    pub const NONE: Self = Self::No(Unlimited::Unlimited);

    /// The number, where there is a limit.
    pub fn at(self) -> Option<u64> {
        match self {
            Self::At(n) => Some(n),
            Self::No(_) => None,
        }
    }
}

/// The conditions on the machine during a heat, from before its servers start until after they have stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Conditions {
    /// The share of the time of the server's and the load generator's CPUs that the virtual machine's host took (steal time), in
    /// millionths.
    pub steal_ppm: Option<u64>,
    /// The share of that time that programs other than drome and the server used, in millionths. Time is counted in ticks of
    /// 10 ms, so a few thousand mean nothing; null for a start that failed.
    pub others_ppm: Option<u64>,
    /// The mean number of runnable tasks over the minute before the heat; what drome measured in that minute is included.
    pub load_average: Option<f64>,
    /// The mean frequency of the servers' cores.
    pub server_hz: Ends<u64>,
    /// The mean frequency of the load generator's cores.
    pub client_hz: Ends<u64>,
    /// The temperature of the processor's hottest sensor.
    pub temperature_c: Ends<f64>,
    /// Why the processor was throttled meanwhile; empty: it was not. Unknown on a Raspberry Pi that was throttled earlier since boot,
    /// unless it was so at the beginning or at the end.
    pub throttled: Option<Vec<String>>,
    /// The program that the server ran.
    pub server: Option<Executable>,
}

/// The conditions during a run: the worst values over all heats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ConditionsRange {
    /// The largest share of the measured CPUs' time that the host took, in millionths.
    pub steal_ppm_max: Option<u64>,
    /// The largest share that other programs used, in millionths.
    pub others_ppm_max: Option<u64>,
    /// The highest load average before a heat.
    pub load_average_max: Option<f64>,
    /// The lowest frequency of the servers' cores before or after a heat.
    pub server_hz_min: Option<u64>,
    /// The highest frequency of the servers' cores before or after a heat.
    pub server_hz_max: Option<u64>,
    /// The highest temperature.
    pub temperature_c_max: Option<f64>,
    /// The number of starts during which the processor was throttled; all starts of a throttled heat count.
    pub throttled_trials: Option<usize>,
    /// The reasons for throttling.
    pub throttled: Vec<String>,
}

/// The programs that a contender's server ran, over all of its starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ran {
    /// SHA-256 of its sources and of its declaration.
    pub source_sha256: Option<String>,
    /// The programs that were seen to run; more than one: it was changed in the middle of the run.
    pub executables: Vec<Executable>,
}

/// A figure before and after a heat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ends<T> {
    /// Before the heat.
    pub before: Option<T>,
    /// After the heat.
    pub after: Option<T>,
}

/// A program that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Executable {
    /// The path of the program; of the interpreter, where the server is a script.
    pub path: String,
    /// SHA-256 of the program, where it can be read.
    pub sha256: Option<String>,
}

/// Writes CPUs, in order, as a list like the kernel's: `0-3,8`.
pub fn cpu_ranges(cpus: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match parts.last_mut() {
            // The numbers may be another machine's, and as large as they like.
            Some((_, high)) if high.checked_add(1) == Some(*cpu) => *high = *cpu,
            _ => parts.push((*cpu, *cpu)),
        }
    }
    let part = |(low, high): &(usize, usize)| match high - low {
        0 => low.to_string(),
        1 => format!("{low},{high}"),
        _ => format!("{low}-{high}"),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_as_the_kernel_lists_them() {
        assert_eq!(cpu_ranges(&[]), "");
        assert_eq!(cpu_ranges(&[0, 1, 2, 3, 8]), "0-3,8");
        assert_eq!(cpu_ranges(&[4, 5, 7]), "4,5,7");
    }

    #[test]
    fn the_highest_number_of_all_is_listed_too() {
        let most = usize::MAX;
        assert_eq!(cpu_ranges(&[most - 1, most]), format!("{},{most}", most - 1));
        assert_eq!(cpu_ranges(&[most, 0, 1, 2]), format!("{most},0-2"));
        assert_eq!(cpu_ranges(&[0, most]), format!("0,{most}"));
    }
}
