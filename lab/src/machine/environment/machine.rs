//! The properties of the machine that hold for a whole run.

use super::{System, cpu_list, digest};
use crate::machine::topology;
use model::environment::{Cap, FrequencyPolicy, Machine, PhysicalCore};
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

/// From this value on, a memory limit is none: version 1 of control groups writes the largest multiple of a page.
const NO_MEMORY_LIMIT: u64 = 1 << 60;

impl System {
    pub(super) fn machine(&self, allowed: &[usize]) -> Machine {
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
        }
    }

    /// Reads a file that lists CPUs.
    pub(crate) fn cpu_list(&self, path: &str) -> Option<Vec<usize>> {
        cpu_list(&self.text(path)?)
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

    pub(crate) fn sysctl(&self, name: &str) -> Option<String> {
        let text = self.read(&format!("proc/sys/{}", name.replace('.', "/")))?;
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The soft and the hard limit of descriptors. The kernel never lets this one be unlimited.
    fn descriptors(&self) -> (Option<u64>, Option<u64>) {
        let text = self.read("proc/self/limits").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
        let mut numbers = line.unwrap_or_default().split_whitespace().map(|n| n.parse().ok());
        (numbers.next().flatten(), numbers.next().flatten())
    }

    /// The tightest CPU limit of the control groups that this process is in.
    pub(crate) fn cgroup_cpu(&self) -> Option<Cap> {
        let share = |quota: &str, period: &str| {
            let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
            quota.checked_mul(1000)?.checked_div(period)
        };
        self.tightest("cpu", |folder| {
            if let Some(text) = self.read(&format!("{folder}/cpu.max")) {
                let (quota, period) = text.split_once(' ')?;
                return share(quota, period);
            }
            share(
                &self.read(&format!("{folder}/cpu.cfs_quota_us"))?,
                &self.read(&format!("{folder}/cpu.cfs_period_us"))?,
            )
        })
    }

    fn cgroup_memory(&self) -> Option<Cap> {
        self.tightest("memory", |folder| {
            let new = self.read(&format!("{folder}/memory.max"));
            let text = new.or_else(|| self.read(&format!("{folder}/memory.limit_in_bytes")))?;
            text.parse().ok().filter(|n| *n < NO_MEMORY_LIMIT)
        })
    }

    /// The tightest limit of all groups from this process's own up to the root. `None` where the groups of this controller
    /// can't be seen.
    fn tightest(&self, controller: &str, limit: impl Fn(&str) -> Option<u64>) -> Option<Cap> {
        let groups = self.read("proc/self/cgroup")?;
        let is_v2 = self.path("sys/fs/cgroup/cgroup.controllers").is_file();
        let find = |line: &str| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            let mounted = if is_v2 && controllers.is_empty() {
                String::new()
            } else if controllers.split(',').any(|name| name == controller) {
                let folders = [controller, controllers];
                let there = |name: &&str| self.path(&format!("sys/fs/cgroup/{name}")).is_dir();
                format!("/{}", folders.into_iter().find(there)?)
            } else {
                return None;
            };
            Some((format!("sys/fs/cgroup{mounted}"), path.trim_matches('/').to_owned()))
        };
        let (base, own) = groups.lines().find_map(find)?;
        let folders = Path::new(&own).ancestors().map(|path| format!("{base}/{}", path.display()));
        Some(folders.filter_map(|folder| limit(&folder)).min().map_or(Cap::NONE, Cap::At))
    }
}

/// The hardware threads of each core that has more than one.
fn siblings(cores: &[PhysicalCore]) -> Vec<Vec<usize>> {
    cores.iter().map(|core| core.cpus.clone()).filter(|cpus| cpus.len() > 1).collect()
}
