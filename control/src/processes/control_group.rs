//! A control group of the kernel: which processes are in it, and what they use together by the kernel's own accounts. Both versions are
//! read: 2 (`cpu.stat`, `memory.stat`), and 1 (`cpuacct.usage`, `memory.stat`).

use crate::machine::control_groups::folder;
use crate::processes::stat::stat;
use std::fs;
use std::path::{Path, PathBuf};

/// Where control groups are mounted.
const MOUNTS: &str = "/sys/fs/cgroup";

/// A control group that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlGroup {
    clock: Clock,
    /// The folder whose processes are counted: that of the clock.
    folder: PathBuf,
    /// The file with its memory; `None`: memory is not counted by group here.
    memory: Option<PathBuf>,
}

/// The file with the CPU time of all processes that are or were in the group.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Clock {
    /// Version 1, `cpuacct.usage`: nanoseconds.
    Nanoseconds(PathBuf),
    /// Version 2, `cpu.stat`: microseconds, in the line `usage_usec`.
    Microseconds(PathBuf),
}

impl ControlGroup {
    /// The group of this process, if the process started in a group of its own: its parent and drome are not in it. `None` also where no
    /// group is mounted or counts CPU time.
    pub fn of(pid: i32) -> Option<Self> {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        let group = Self::find(&groups, Path::new(MOUNTS))?;
        let parent = stat(pid)?.parent;
        let (pids, own) = (group.pids(), std::process::id() as i32);
        (pids.contains(&pid) && !pids.contains(&parent) && !pids.contains(&own)).then_some(group)
    }

    /// Finds the files by the text of `/proc/PID/cgroup`.
    fn find(groups: &str, mounts: &Path) -> Option<Self> {
        let file = |controller: &str, name: &str| {
            let path = folder(groups, mounts, controller)?.join(name);
            path.is_file().then_some(path)
        };
        let clock = file("cpuacct", "cpuacct.usage").map(Clock::Nanoseconds);
        let clock = clock.or_else(|| file("", "cpu.stat").map(Clock::Microseconds))?;
        clock.read_ns()?;
        let (Clock::Nanoseconds(path) | Clock::Microseconds(path)) = &clock;
        let folder = path.parent()?.to_owned();
        let memory = file("memory", "memory.stat").or_else(|| file("", "memory.stat"));
        Some(Self { clock, folder, memory })
    }

    /// CPU time of all processes that are or were in the group, in nanoseconds. The kernel adds what a running thread used at its next tick
    /// or pause. `None` once the group is gone.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.clock.read_ns()
    }

    /// Memory of all processes of the group that can't be dropped, in bytes: private and shared memory, each page once. Mapped files are
    /// left out: the kernel charges a file's pages to the group that read it first, perhaps another contender's.
    pub fn memory_bytes(&self) -> Option<u64> {
        held(&fs::read_to_string(self.memory.as_ref()?).ok()?)
    }

    /// The processes in the group and in the groups below it.
    pub fn pids(&self) -> Vec<i32> {
        let mut found = Vec::new();
        collect(&self.folder, &mut found);
        found
    }
}

impl Clock {
    fn read_ns(&self) -> Option<u64> {
        match self {
            Self::Nanoseconds(path) => fs::read_to_string(path).ok()?.trim().parse().ok(),
            Self::Microseconds(path) => {
                value(&fs::read_to_string(path).ok()?, "usage_usec")?.checked_mul(1000)
            }
        }
    }
}

/// Anonymous and shared memory, by the text of `memory.stat` of either version. The totals of version 1 include the groups below.
fn held(stat: &str) -> Option<u64> {
    let sum =
        |own: &str, shared: &str| Some(value(stat, own)?.saturating_add(value(stat, shared).unwrap_or(0)));
    sum("total_rss", "total_shmem").or_else(|| sum("anon", "shmem"))
}

/// The value of a line `NAME VALUE`.
fn value(text: &str, name: &str) -> Option<u64> {
    let values = text.lines().filter_map(|line| line.split_once(' ')).filter(|(key, _)| *key == name);
    values.map(|(_, value)| value.trim()).next()?.parse().ok()
}

fn collect(folder: &Path, found: &mut Vec<i32>) {
    let text = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    // A process that this namespace does not show is a 0.
    found.extend(text.lines().filter_map(|line| line.trim().parse::<i32>().ok()).filter(|pid| *pid > 0));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(files: &[(&str, &str)]) -> tempfile::TempDir {
        let mounts = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = mounts.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        mounts
    }

    #[test]
    fn version_2_has_one_folder_for_all() {
        let mounts = mounted(&[
            ("machine/pod/cpu.stat", "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n"),
            ("machine/pod/memory.stat", "anon 4096\nfile 999999\nshmem 8192\nfile_mapped 5000\n"),
            ("machine/pod/cgroup.procs", "12\n0\n"),
            ("machine/pod/below/cgroup.procs", "13\n"),
        ]);
        let group = ControlGroup::find("0::/machine/pod\n", mounts.path()).unwrap();
        assert_eq!((group.cpu_ns(), group.memory_bytes()), (Some(1_500_000), Some(12_288)));
        assert_eq!(group.pids(), [12, 13]);
        fs::remove_dir_all(mounts.path().join("machine")).unwrap();
        assert_eq!((group.cpu_ns(), group.memory_bytes(), group.pids()), (None, None, Vec::new()));
    }

    #[test]
    fn version_1_has_a_folder_for_each_controller() {
        let mounts = mounted(&[
            ("cpu,cpuacct/pod/cpuacct.usage", "1234567\n"),
            ("cpu,cpuacct/pod/cgroup.procs", "7\n"),
            ("memory/other/memory.stat", "rss 1\ntotal_rss 100\ntotal_shmem 20\ntotal_cache 9999\n"),
            ("unified/pod/cpu.stat", "usage_usec 9\n"),
        ]);
        let groups = "5:memory:/other\n4:cpu,cpuacct:/pod\n0::/pod\n";
        let group = ControlGroup::find(groups, mounts.path()).unwrap();
        assert_eq!((group.cpu_ns(), group.memory_bytes()), (Some(1_234_567), Some(120)));
        assert_eq!(group.pids(), [7]);
        // Without a clock of version 1, the one of version 2 counts.
        let group = ControlGroup::find("0::/pod\n", mounts.path()).unwrap();
        assert_eq!((group.cpu_ns(), group.memory_bytes()), (Some(9_000), None));
    }

    #[test]
    fn what_can_not_be_read_is_no_group() {
        let mounts = mounted(&[("pod/cpu.stat", "nr_periods 0\n"), ("x/cpu.stat", "usage_usec 1\n")]);
        for groups in ["", "0::/pod\n", "0::/none\n", "0::/../x\n", "nonsense", "1:cpuacct:/x\n"] {
            assert_eq!(ControlGroup::find(groups, mounts.path()), None, "{groups}");
        }
        assert_eq!((held(""), held("total_rss 5\n"), held("anon 7\n")), (None, Some(5), Some(7)));
    }

    #[test]
    fn a_group_that_drome_is_in_is_nobody_s_own() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let group = ControlGroup::of(child.id() as i32);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(group, None, "its parent is in the same group");
        assert_eq!(ControlGroup::of(i32::MAX), None);
    }
}
