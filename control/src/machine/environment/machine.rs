//! The properties of the machine that hold for a whole run.

use crate::machine::digest;
use crate::machine::system::System;
use crate::machine::topology;
use model::environment::{FrequencyPolicy, Machine, PhysicalCore};
use std::collections::BTreeMap;
use std::path::Path;

/// The kernel settings that can affect a server under load; others are left out.
const SYSCTLS: &[&str] = &[
    "fs.file-max",
    "fs.nr_open",
    "kernel.randomize_va_space",
    "kernel.sched_autogroup_enabled",
    "net.core.busy_poll",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_max_syn_backlog",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_wmem",
    "vm.swappiness",
];

impl System {
    pub(super) fn machine(&self, allowed: &[usize], may_sleep: bool) -> Machine {
        let (descriptors_soft, descriptors_hard) = self.descriptors();
        let cores = topology::physical_cores(self);
        Machine {
            drome_sha256: digest::sha256(Path::new("/proc/self/exe")),
            online_cpus: self.cpu_list("sys/devices/system/cpu/online"),
            isolated_cpus: self.cpu_list("sys/devices/system/cpu/isolated"),
            sibling_cpus: cores.as_deref().map(siblings),
            physical_cores: cores,
            frequency: self.frequency(allowed),
            mitigations: self.mitigations(),
            sysctls: SYSCTLS.iter().map(|name| ((*name).to_owned(), self.sysctl(name))).collect(),
            descriptors_soft,
            descriptors_hard,
            cgroup_cpu_millicores: self.cgroup_cpu(),
            cgroup_memory_bytes: self.cgroup_memory(),
            clock_source: self.read("sys/devices/system/clocksource/clocksource0/current_clocksource"),
            swap_bytes: self.memory("SwapTotal"),
            cores_stay_awake: if may_sleep { Some(false) } else { self.may_keep_awake() },
        }
    }

    fn frequency(&self, allowed: &[usize]) -> FrequencyPolicy {
        let file = |cpu: &usize, name: &str| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}");
        let words = |name: &str| {
            let mut words: Vec<String> =
                allowed.iter().filter_map(|cpu| self.read(&file(cpu, name))).collect();
            words.sort();
            words.dedup();
            Some(words.join(",")).filter(|words| !words.is_empty())
        };
        let hz = |name: &str| {
            let khz: Vec<u64> = allowed.iter().filter_map(|cpu| self.number(&file(cpu, name))).collect();
            khz.into_iter().map(|khz: u64| khz.saturating_mul(1000))
        };
        let flag = |path: &str| self.number::<u8>(path).map(|n| n != 0);
        FrequencyPolicy {
            driver: words("scaling_driver"),
            governor: words("scaling_governor"),
            min_hz: hz("scaling_min_freq").min(),
            max_hz: hz("scaling_max_freq").max(),
            boost: flag("sys/devices/system/cpu/cpufreq/boost")
                .or_else(|| flag("sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| !off)),
        }
    }

    fn mitigations(&self) -> Option<BTreeMap<String, String>> {
        let folder = "sys/devices/system/cpu/vulnerabilities";
        let all = self.names(folder).into_iter();
        let all: BTreeMap<String, String> = all
            .filter_map(|name| Some((self.read(&format!("{folder}/{name}"))?, name)))
            .map(|(v, k)| (k, v))
            .collect();
        (!all.is_empty()).then_some(all)
    }

    /// A setting of the kernel.
    pub fn sysctl(&self, name: &str) -> Option<String> {
        let text = self.read(&format!("proc/sys/{}", name.replace('.', "/")))?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The soft and the hard limit of descriptors. The kernel never allows this limit to be unlimited.
    fn descriptors(&self) -> (Option<u64>, Option<u64>) {
        let text = self.read("proc/self/limits").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
        let mut numbers = line.unwrap_or_default().split_whitespace().map(|n| n.parse().ok());
        (numbers.next().flatten(), numbers.next().flatten())
    }
}

/// The hardware threads of each core that has more than one.
fn siblings(cores: &[PhysicalCore]) -> Vec<Vec<usize>> {
    cores.iter().map(|core| core.cpus.clone()).filter(|cpus| cpus.len() > 1).collect()
}
