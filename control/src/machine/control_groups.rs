//! Where the control group of a process is, in both versions, and the limits of those that this process is in.

use crate::machine::system::System;
use model::environment::Cap;
use std::path::{Path, PathBuf};

/// A memory limit of this value or more means that there is none: version 1 of control groups writes the largest multiple of a page.
const NO_MEMORY_LIMIT: u64 = 1 << 60;

impl System {
    /// The tightest CPU limit of the control groups that this process is in.
    pub fn cgroup_cpu(&self) -> Option<Cap> {
        let share = |quota: &str, period: &str| {
            let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
            quota.checked_mul(1000)?.checked_div(period)
        };
        self.tightest("cpu", |group| {
            if let Some(text) = group.read("cpu.max") {
                let (quota, period) = text.split_once(' ')?;
                return share(quota, period);
            }
            share(&group.read("cpu.cfs_quota_us")?, &group.read("cpu.cfs_period_us")?)
        })
    }

    /// The tightest memory limit of the control groups that this process is in, in bytes.
    pub(super) fn cgroup_memory(&self) -> Option<Cap> {
        self.tightest("memory", |group| {
            let text = group.read("memory.max").or_else(|| group.read("memory.limit_in_bytes"))?;
            text.parse().ok().filter(|n| *n < NO_MEMORY_LIMIT)
        })
    }

    /// The tightest limit of all groups from this process's own up to the root. `None` where the groups of this
    /// controller can't be seen.
    fn tightest(&self, controller: &str, limit: impl Fn(&Self) -> Option<u64>) -> Option<Cap> {
        let (groups, mounts) = (self.read("proc/self/cgroup")?, self.path("sys/fs/cgroup"));
        let has_version_2 = mounts.join("cgroup.controllers").is_file();
        let own = folder(&groups, &mounts, controller);
        let own = own.or_else(|| folder(&groups, &mounts, "").filter(|_| has_version_2))?;
        let folders = own.ancestors().take_while(|folder| folder.starts_with(&mounts));
        Some(folders.filter_map(|folder| limit(&Self::at(folder))).min().map_or(Cap::NONE, Cap::At))
    }
}

/// The folder of a process's group for a controller of version 1; for the empty name, that of version 2. `groups` is the text of
/// `/proc/PID/cgroup`.
pub fn folder(groups: &str, mounts: &Path, controller: &str) -> Option<PathBuf> {
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        if !controllers.split(',').any(|name| name == controller) {
            return None;
        }
        // A group outside of the namespace that drome is in can't be reached.
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        let mount = if controllers.is_empty() {
            // Beside version 1, version 2 is mounted below it.
            let below = mounts.join("unified");
            if below.is_dir() { below } else { mounts.to_owned() }
        } else {
            [controllers, controller].map(|name| mounts.join(name)).into_iter().find(|path| path.is_dir())?
        };
        Some(mount.join(path.trim_start_matches('/')))
    })
}
