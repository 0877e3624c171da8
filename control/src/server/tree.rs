//! The processes of a server, as /proc shows them: a process and all its descendants, or those of a container.

use crate::machine::cpu_time::tick_ns;
use crate::server::container::Container;
use net::clock;
use procfs::ProcError;
use procfs::process::{Process, Stat};
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// The thread had to wait.
    pub voluntary: u64,
    /// The thread's time slice ended.
    pub involuntary: u64,
}

/// A thread of the kernel: `PF_KTHREAD` of its include/linux/sched.h.
const KERNEL_THREAD: u32 = 0x0020_0000;

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

impl Tree {
    /// The topmost process of the server, and that of the program that runs its container.
    fn roots(&self) -> Vec<i32> {
        match self {
            Self::Below(root) | Self::From(root) => vec![*root],
            Self::Container(container) => vec![container.guard, container.pid],
        }
    }
}

/// The living processes below `root`. Scans all processes of the machine, because the list of children that the kernel keeps
/// may lack one while others come and go.
pub fn living(root: i32) -> Vec<i32> {
    descendants_by_scan(root).into_iter().filter(is_living).map(|stat| stat.pid).collect()
}

/// The living processes of a server, by the same scan.
pub fn pids(tree: &Tree) -> Vec<i32> {
    match tree {
        Tree::Below(root) => living(*root),
        Tree::From(root) => {
            let root = stat(*root).filter(is_living).map(|stat| stat.pid);
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

fn is_living(stat: &Stat) -> bool {
    stat.state != 'Z'
}

/// Looks at all processes of a server.
pub fn snapshot(tree: &Tree) -> Snapshot {
    let tick_ns = tick_ns();
    let page = procfs::page_size();
    let reaped = |stat: &Stat| (stat.cutime.max(0) + stat.cstime.max(0)) as u64 * tick_ns;
    let own = match tree {
        // The guard has reaped the processes that ended after their own parents.
        Tree::Below(guard) => stat(*guard).map_or(0, |stat| reaped(&stat)),
        Tree::From(_) | Tree::Container(_) => 0,
    };
    let mut total = Snapshot { cpu_ns: own, ..Snapshot::default() };
    for stat in processes(tree) {
        // The process clock is exact; /proc counts in ticks of 10 ms.
        let exact = clock::process_cpu_ns(stat.pid);
        total.cpu_ns += exact.unwrap_or((stat.utime + stat.stime) * tick_ns) + reaped(&stat);
        if is_living(&stat) {
            total.rss_bytes += stat.rss * page;
            total.virtual_bytes += stat.vsize;
            total.threads += stat.num_threads.max(0) as u64;
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

/// Reads the CPU time of all threads of all processes of a server: `/proc/PID/task/TID/schedstat`, in nanoseconds
/// and never older than the kernel's last tick. Threads that end while this looks are left out; nothing is known where the kernel
/// does not tell (`CONFIG_SCHED_INFO`).
pub fn thread_clocks(tree: &Tree) -> ThreadClocks {
    let pids = processes(tree).into_iter().map(|stat| stat.pid);
    pids.flat_map(|pid| clocks_of(pid).into_iter().map(move |(tid, ns)| ((pid, tid), ns))).collect()
}

/// CPU time of every living thread of this process, by thread, in nanoseconds.
pub fn own_thread_clocks() -> BTreeMap<i32, u64> {
    clocks_of(std::process::id() as i32).into_iter().collect()
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

fn stat(pid: i32) -> Option<Stat> {
    Process::new(pid).and_then(|p| p.stat()).ok()
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

/// CPU time up to now, in nanoseconds. The time of an ended process is with the process that reaped it, so that no sum goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// CPU time of all visible processes that are neither this one nor a server's. The kernel's own threads are left out, because they also
    /// work for the measured ones.
    pub others_ns: u64,
    /// CPU time of this process, the server's, and that of the program that runs the server's container.
    pub measured_ns: u64,
}

/// Reads the CPU time of all processes of the machine; `None` where they can't be seen.
pub fn spent(tree: &Tree) -> Option<Spent> {
    let (own, roots) = (std::process::id() as i32, tree.roots());
    let (below, rest) = scan(&roots)?;
    let (known, others): (Vec<Stat>, Vec<Stat>) =
        rest.into_iter().partition(|stat| stat.pid == own || roots.contains(&stat.pid));
    let ticks = |stat: &Stat| stat.utime + stat.stime + (stat.cutime.max(0) + stat.cstime.max(0)) as u64;
    let programs = others.iter().filter(|stat| stat.flags & KERNEL_THREAD == 0);
    Some(Spent {
        others_ns: programs.map(ticks).sum::<u64>() * tick_ns(),
        measured_ns: known.iter().chain(&below).map(ticks).sum::<u64>() * tick_ns(),
    })
}

/// The descendants of `root`, from the parents of all processes of the machine.
fn descendants_by_scan(root: i32) -> Vec<Stat> {
    scan(&[root]).unwrap_or_default().0
}

/// All processes of the machine: those below the roots, and the others. `None` where they can't be seen, not even this one.
fn scan(roots: &[i32]) -> Option<(Vec<Stat>, Vec<Stat>)> {
    let all = procfs::process::all_processes().ok()?;
    let mut rest: Vec<Stat> = all.flatten().filter_map(|p| p.stat().ok()).collect();
    if rest.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    let mut parents = roots.to_vec();
    while !parents.is_empty() {
        let (children, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|s| parents.contains(&s.ppid));
        parents = children.iter().map(|s| s.pid).collect();
        found.extend(children);
        rest = others;
    }
    Some((found, rest))
}

#[cfg(test)]
mod tests;
