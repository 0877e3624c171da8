//! The limits of the control groups that this process is in.

use crate::machine::system::System;
use model::environment::Cap;
use std::path::Path;

/// A memory limit of this value or more means that there is none: version 1 of control groups writes the largest multiple of a page.
const NO_MEMORY_LIMIT: u64 = 1 << 60;

impl System {
    /// The tightest CPU limit of the control groups that this process is in.
    pub fn cgroup_cpu(&self) -> Option<Cap> {
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

    /// The tightest memory limit of the control groups that this process is in, in bytes.
    pub(super) fn cgroup_memory(&self) -> Option<Cap> {
        self.tightest("memory", |folder| {
            let new = self.read(&format!("{folder}/memory.max"));
            let text = new.or_else(|| self.read(&format!("{folder}/memory.limit_in_bytes")))?;
            text.parse().ok().filter(|n| *n < NO_MEMORY_LIMIT)
        })
    }

    /// The tightest limit of all groups from this process's own up to the root. `None` where the groups of this
    /// controller can't be seen.
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
