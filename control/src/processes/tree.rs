//! The processes of a server, as /proc shows them: a process and all its descendants, or those of a container.

use crate::processes::container::Container;
use crate::processes::stat::{Stat, pids as all_pids, stat};
use net::clock;
use procfs::ProcError;
use procfs::process::Process;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What the processes of a tree have used up to now, and what they hold now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// CPU time of all processes, ended and reaped children included.
    pub cpu_ns: u64,
    /// Resident memory of all.
    pub rss_bytes: u64,
    /// Virtual memory of all.
    pub virtual_bytes: u64,
    /// Threads of all.
    pub threads: u64,
    /// The number of processes.
    pub processes: u64,
}

/// Context switches of the threads of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switches {
    /// The thread had to wait.
    pub voluntary: u64,
    /// The thread's time slice ended.
    pub involuntary: u64,
}

/// Which processes are a server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// All processes below this one, which is drome's guard.
    Below(i32),
    /// This process and all below it.
    From(i32),
    /// The processes in this container; not those of the program that runs it.
    Container(Arc<Container>),
}

/// The living processes below `root`. Scans all processes of the machine, because the list of children that the kernel keeps
/// may lack one while others come and go.
pub fn living(root: i32) -> Vec<i32> {
    descendants_by_scan(root).into_iter().filter(Stat::is_alive).map(|stat| stat.pid).collect()
}

/// The living processes of a server, by the same scan.
pub fn pids(tree: &Tree) -> Vec<i32> {
    match tree {
        Tree::Below(root) => living(*root),
        Tree::From(root) => {
            let root = stat(*root).filter(Stat::is_alive).map(|stat| stat.pid);
            let others = root.map(living).unwrap_or_default();
            root.into_iter().chain(others).collect()
        }
        Tree::Container(container) => {
            let mut all = pids(&Tree::From(container.pid));
            if let Some(group) = &container.group {
                all.extend(group.pids());
            }
            all.sort_unstable();
            all.dedup();
            all
        }
    }
}

/// All processes of a server, as cheaply as they can be listed while it is measured. Some may have ended.
pub fn listed(tree: &Tree) -> Vec<i32> {
    processes(tree).into_iter().map(|stat| stat.pid).collect()
}

/// Looks at all processes of a server.
pub fn snapshot(tree: &Tree) -> Snapshot {
    let page = procfs::page_size();
    let own = match tree {
        // The guard has reaped the processes that ended after their own parents.
        Tree::Below(guard) => stat(*guard).map_or(0, |stat| stat.children_ns),
        Tree::From(_) | Tree::Container(_) => 0,
    };
    let mut total = Snapshot { cpu_ns: own, ..Snapshot::default() };
    for stat in processes(tree) {
        // The process clock is exact; /proc counts in ticks of 10 ms.
        let exact = clock::process_cpu_ns(stat.pid);
        total.cpu_ns += exact.unwrap_or(stat.own_ns) + stat.children_ns;
        if stat.is_alive() {
            total.rss_bytes += stat.rss_pages * page;
            total.virtual_bytes += stat.virtual_bytes;
            total.threads += stat.threads;
            total.processes += 1;
        }
    }
    if let Tree::Container(container) = tree
        && let Some(group) = &container.group
    {
        total.cpu_ns = group.cpu_ns().unwrap_or(total.cpu_ns);
        total.rss_bytes = group.memory_bytes().unwrap_or(total.rss_bytes);
    }
    total
}

/// Counts the context switches of all threads of all processes of a server.
pub fn switches(tree: &Tree) -> Switches {
    let mut total = Switches::default();
    for stat in processes(tree) {
        let Ok(tasks) = Process::new(stat.pid).and_then(|p| p.tasks()) else {
            continue;
        };
        for status in tasks.flatten().filter_map(|task| task.status().ok()) {
            total.voluntary += status.voluntary_ctxt_switches.unwrap_or(0);
            total.involuntary += status.nonvoluntary_ctxt_switches.unwrap_or(0);
        }
    }
    total
}

/// CPU time of every living thread, by process and thread, in nanoseconds.
pub type ThreadClocks = BTreeMap<(i32, i32), u64>;

/// The same as a list, which JSON can express.
pub type ListedClocks = Vec<((i32, i32), u64)>;

/// Reads the CPU time of all threads of all processes of a server: `/proc/PID/task/TID/schedstat`, in nanoseconds
/// and never older than the kernel's last tick. Threads that end while this looks are left out; nothing is known where the kernel
/// does not tell (`CONFIG_SCHED_INFO`).
pub fn thread_clocks(tree: &Tree) -> ThreadClocks {
    listed_clocks(tree).into_iter().collect()
}

/// [`thread_clocks`] as a list.
pub fn listed_clocks(tree: &Tree) -> ListedClocks {
    let pids = processes(tree).into_iter().map(|stat| stat.pid);
    pids.flat_map(|pid| clocks_of(pid).into_iter().map(move |(tid, ns)| ((pid, tid), ns))).collect()
}

fn clocks_of(pid: i32) -> Vec<(i32, u64)> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let clock = |task: std::fs::DirEntry| {
        let ns = on_cpu_ns(&task.path().join("schedstat"))?;
        Some((task.file_name().to_str()?.parse().ok()?, ns))
    };
    tasks.filter_map(clock).collect()
}

/// The first of the three figures of a `schedstat` file: the time that the thread has run.
fn on_cpu_ns(schedstat: &Path) -> Option<u64> {
    std::fs::read_to_string(schedstat).ok()?.split_whitespace().next()?.parse().ok()
}

/// CPU time, between two readings, of the thread that used the most, where all of the server's threads together used `cpu_ns`. A thread
/// that began between them began at 0. Of a thread that ended in between, only a bound is known, namely what is left of `cpu_ns`: `None`
/// where that is larger than what any living thread used.
pub fn busiest_thread_ns(before: &ThreadClocks, after: &ThreadClocks, cpu_ns: u64) -> Option<u64> {
    let busiest = living_ns(before, after).max()?;
    let of_ended = cpu_ns.saturating_sub(all_living_ns(before, after));
    (of_ended <= busiest).then_some(busiest)
}

/// CPU time, between two readings, of all threads that still live at the second.
pub fn all_living_ns(before: &ThreadClocks, after: &ThreadClocks) -> u64 {
    living_ns(before, after).fold(0, u64::saturating_add)
}

fn living_ns(before: &ThreadClocks, after: &ThreadClocks) -> impl Iterator<Item = u64> {
    // A clock that went back belongs to another thread, to which the kernel has given the same ID.
    after.iter().map(|(thread, now)| now - before.get(thread).filter(|then| *then <= now).unwrap_or(&0))
}

fn processes(tree: &Tree) -> Vec<Stat> {
    match tree {
        Tree::Below(root) => below(*root),
        Tree::From(root) => stat(*root).into_iter().chain(below(*root)).collect(),
        Tree::Container(container) => match &container.group {
            Some(group) => group.pids().into_iter().filter_map(stat).collect(),
            None => processes(&Tree::From(container.pid)),
        },
    }
}

fn below(root: i32) -> Vec<Stat> {
    match descendants(root) {
        Some(pids) => pids.into_iter().filter_map(stat).collect(),
        None => descendants_by_scan(root),
    }
}

/// Asks each process for its children, which is cheap enough while a server is measured. `None` where the kernel does not
/// tell (`CONFIG_PROC_CHILDREN`).
fn descendants(root: i32) -> Option<Vec<i32>> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at).copied() {
        at += 1;
        // A process that has just ended has no children any more.
        let Ok(tasks) = Process::new(pid).and_then(|p| p.tasks()) else { continue };
        for task in tasks.flatten() {
            match task.children() {
                Ok(children) => found.extend(children.into_iter().map(|child| child as i32)),
                Err(ProcError::NotFound(_)) if pid == root => return None,
                Err(_) => {}
            }
        }
    }
    found.remove(0);
    Some(found)
}

/// The descendants of `root`, from the parents of all processes of the machine.
fn descendants_by_scan(root: i32) -> Vec<Stat> {
    let mut rest: Vec<Stat> = all_pids().into_iter().filter_map(stat).collect();
    let (mut found, mut parents) = (Vec::new(), vec![root]);
    while !parents.is_empty() {
        let (children, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|stat| parents.contains(&stat.parent));
        parents = children.iter().map(|stat| stat.pid).collect();
        found.extend(children);
        rest = others;
    }
    found
}

#[cfg(test)]
mod tests;
