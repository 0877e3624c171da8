//! Which processes are profiled, and what /proc says about them.

use procfs::process::{Process, Task};
use procfs::{Current, Uptime};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// Which processes are profiled. Threads and processes that they start are included in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// This process and all below it.
    From(i32),
    /// All processes below this one, which is not included itself.
    Below(i32),
    /// These processes.
    Pids(Vec<i32>),
}

/// A thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// The process ID.
    pub pid: i32,
    /// The thread ID; equal to `pid` for the first thread of a process.
    pub tid: i32,
}

impl Target {
    /// The IDs of the processes that exist now, without duplicates.
    pub fn pids(&self) -> Vec<i32> {
        match self {
            Self::Pids(pids) => pids.iter().copied().collect::<BTreeSet<i32>>().into_iter().collect(),
            Self::From(root) => std::iter::once(*root).chain(below(*root)).collect(),
            Self::Below(root) => below(*root),
        }
    }

    /// All threads of the processes that exist now.
    pub(crate) fn threads(&self) -> Vec<Thread> {
        self.pids().into_iter().flat_map(threads_of).collect()
    }
}

fn tasks(pid: i32) -> Vec<Task> {
    Process::new(pid).and_then(|process| process.tasks()).into_iter().flatten().flatten().collect()
}

fn threads_of(pid: i32) -> Vec<Thread> {
    tasks(pid).into_iter().map(|task| Thread { pid, tid: task.tid }).collect()
}

/// The living descendants of a process.
fn below(root: i32) -> Vec<i32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        at += 1;
        for task in tasks(pid) {
            match task.children() {
                Ok(children) => {
                    found.extend(children.into_iter().filter_map(|child| i32::try_from(child).ok()));
                }
                // Kernels without CONFIG_PROC_CHILDREN don't list children.
                Err(_) if pid == root && !is_told(root) => return below_by_scan(root),
                Err(_) => {}
            }
        }
    }
    found.remove(0);
    found
}

/// Whether the kernel lists the children of threads.
fn is_told(pid: i32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}/task/{pid}/children")).exists()
}

/// The same, found by the parent of every process of the machine.
fn below_by_scan(root: i32) -> Vec<i32> {
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    let mut rest: Vec<(i32, i32)> =
        all.filter_map(|process| process.stat().ok()).map(|stat| (stat.pid, stat.ppid)).collect();
    let mut found = Vec::new();
    let mut parents = vec![root];
    while !parents.is_empty() {
        let (children, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, parent)| parents.contains(parent));
        parents = children.into_iter().map(|(pid, _)| pid).collect();
        found.extend(&parents);
        rest = others;
    }
    found
}

/// The CPUs on which a thread may run; empty if that can't be read.
pub fn cpus_of(thread: Thread) -> BTreeSet<usize> {
    let status = std::fs::read_to_string(format!("/proc/{}/task/{}/status", thread.pid, thread.tid));
    let status = status.unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.map(cpu_list).unwrap_or_default()
}

/// The CPUs of the machine that are switched on.
pub fn online_cpus() -> BTreeSet<usize> {
    std::fs::read_to_string("/sys/devices/system/cpu/online").map(|text| cpu_list(&text)).unwrap_or_default()
}

/// Parses a list such as `0-3,8`. Entries with a CPU number of 65,536 or more are ignored.
fn cpu_list(text: &str) -> BTreeSet<usize> {
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (low.trim().parse::<usize>().ok()?, high.trim().parse::<usize>().ok()?);
        (low <= high && high < 65_536).then_some(low..=high)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// The file name of the program that a process runs; `None` if it has ended or may not be looked at.
pub fn program(pid: u32) -> Option<String> {
    let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    // The kernel adds this if the file has been deleted.
    Some(name.strip_suffix(" (deleted)").map_or_else(|| name.clone(), str::to_owned))
}

/// When a process began, by the clock that files' dates have, exact to a few hundredths of a second; `None` if it has ended. The kernel
/// stores this as a time since the machine was booted.
pub fn began(pid: u32) -> Option<SystemTime> {
    let stat = Process::new(i32::try_from(pid).ok()?).and_then(|process| process.stat()).ok()?;
    let since_start = stat.starttime as f64 / procfs::ticks_per_second().max(1) as f64;
    let booted = SystemTime::now().checked_sub(Uptime::current().ok()?.uptime_duration())?;
    booted.checked_add(Duration::try_from_secs_f64(since_start).ok()?)
}

/// The ID of a process in its own PID namespace, which the name of its perf map contains.
pub fn pid_inside(pid: u32) -> Option<i32> {
    let status = Process::new(i32::try_from(pid).ok()?).and_then(|process| process.status()).ok()?;
    status.nspid.and_then(|pids| pids.last().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(cpu_list("0-3,8\n").into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 8]);
        assert_eq!(cpu_list("5").into_iter().collect::<Vec<_>>(), [5]);
        assert_eq!(cpu_list("3-1,x,0-99999999999"), BTreeSet::new());
        assert!(!online_cpus().is_empty());
    }

    #[test]
    fn a_process_began_when_it_was_started() {
        let before = SystemTime::now();
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let (after, began) = (SystemTime::now(), began(child.id()).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        let rounding = Duration::from_millis(50);
        assert!(began + rounding >= before && began <= after + rounding, "{before:?} {began:?} {after:?}");
        assert_eq!(super::began(child.id()).or(super::began(u32::MAX)), None, "it has ended");
    }

    #[test]
    fn a_process_is_found_with_its_children_and_threads() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let own = std::process::id() as i32;
        let pid = child.id() as i32;
        assert!(Target::From(own).pids().contains(&pid) && Target::From(own).pids().contains(&own));
        assert!(Target::Below(own).pids().contains(&pid) && !Target::Below(own).pids().contains(&own));
        assert!(below_by_scan(own).contains(&pid));
        assert_eq!(Target::Pids(vec![pid, pid]).threads(), [Thread { pid, tid: pid }]);
        assert!(!cpus_of(Thread { pid, tid: pid }).is_empty());
        assert!(pid_inside(child.id()).is_some());
        // Where all of the usual programs are in one file, that is it.
        assert!(program(child.id()).is_some_and(|name| !name.is_empty() && !name.contains('/')));
        assert_eq!(program(u32::MAX), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Target::Pids(vec![pid]).threads(), Vec::<Thread>::new());
        assert_eq!(pid_inside(u32::MAX), None);
    }
}
