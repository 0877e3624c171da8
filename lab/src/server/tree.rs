//! A process and all its descendants, as /proc shows them.

use crate::machine::cpu_time::tick_ns;
use net::clock;
use procfs::ProcError;
use procfs::process::{Process, Stat};
use std::collections::BTreeMap;
use std::path::Path;

/// What the processes of a tree have used up to now, and what they hold now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// All processes below this one, which is drome's guard.
    Below(i32),
    /// This process and all below it.
    From(i32),
}

impl Tree {
    /// The process above all others of the server: drome's guard, or the server's own.
    pub fn root(self) -> i32 {
        match self {
            Self::Below(root) | Self::From(root) => root,
        }
    }
}

/// The living processes below `root`. Scans all processes of the machine, because the list of children that the kernel keeps
/// may lack one while others come and go.
pub fn living(root: i32) -> Vec<i32> {
    descendants_by_scan(root).into_iter().filter(|stat| stat.state != 'Z').map(|stat| stat.pid).collect()
}

/// Looks at all processes of a server.
pub fn snapshot(tree: Tree) -> Snapshot {
    let tick_ns = tick_ns();
    let page = procfs::page_size();
    let reaped = |stat: &Stat| (stat.cutime.max(0) + stat.cstime.max(0)) as u64 * tick_ns;
    let own = match tree {
        // What ended without a parent of its own, the guard has reaped.
        Tree::Below(guard) => Process::new(guard).and_then(|p| p.stat()).map_or(0, |stat| reaped(&stat)),
        Tree::From(_) => 0,
    };
    let mut total = Snapshot { cpu_ns: own, ..Snapshot::default() };
    for stat in processes(tree) {
        // The process clock is exact; /proc counts in ticks of 10 ms.
        let exact = clock::process_cpu_ns(stat.pid);
        total.cpu_ns += exact.unwrap_or((stat.utime + stat.stime) * tick_ns) + reaped(&stat);
        if stat.state != 'Z' {
            total.rss_bytes += stat.rss * page;
            total.virtual_bytes += stat.vsize;
            total.threads += stat.num_threads.max(0) as u64;
            total.processes += 1;
        }
    }
    total
}

/// Counts the context switches of all threads of all processes of a server.
pub fn switches(tree: Tree) -> Switches {
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
pub fn thread_clocks(tree: Tree) -> ThreadClocks {
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

/// CPU time, between two looks, of the thread that used the most, where all of the server's threads together used `cpu_ns`. A thread
/// that began between them began at 0. Of a thread that ended in between, only a bound is known, namely what is left of `cpu_ns`: `None`
/// where that is larger than what any living thread used.
pub fn busiest_thread_ns(before: &ThreadClocks, after: &ThreadClocks, cpu_ns: u64) -> Option<u64> {
    // A clock that went back is another thread's, to which the kernel has given the number anew.
    let used = |(thread, now): (&(i32, i32), &u64)| {
        let then = before.get(thread).filter(|then| *then <= now).unwrap_or(&0);
        now - then
    };
    let living: Vec<u64> = after.iter().map(used).collect();
    let busiest = living.iter().copied().max()?;
    let of_ended = cpu_ns.saturating_sub(living.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns)));
    (of_ended <= busiest).then_some(busiest)
}

fn processes(tree: Tree) -> Vec<Stat> {
    let root = tree.root();
    let found = match descendants(root) {
        Some(pids) => pids.into_iter().filter_map(stat).collect(),
        None => descendants_by_scan(root),
    };
    match tree {
        Tree::Below(_) => found,
        Tree::From(_) => stat(root).into_iter().chain(found).collect(),
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
    /// CPU time of all visible processes that are neither this one nor a server's. The kernel's own threads are left out, because they also work
    /// for the measured ones.
    pub others_ns: u64,
    /// CPU time of this process and the server's.
    pub measured_ns: u64,
}

/// Reads the CPU time of all processes of the machine; `None` where they can't be seen.
pub fn spent(tree: Tree) -> Option<Spent> {
    let (root, own) = (tree.root(), std::process::id() as i32);
    let (below, rest) = scan(root)?;
    let (known, others): (Vec<Stat>, Vec<Stat>) =
        rest.into_iter().partition(|stat| [own, root].contains(&stat.pid));
    let ticks = |stat: &Stat| stat.utime + stat.stime + (stat.cutime.max(0) + stat.cstime.max(0)) as u64;
    let programs = others.iter().filter(|stat| stat.flags & KERNEL_THREAD == 0);
    Some(Spent {
        others_ns: programs.map(ticks).sum::<u64>() * tick_ns(),
        measured_ns: known.iter().chain(&below).map(ticks).sum::<u64>() * tick_ns(),
    })
}

/// The descendants of `root`, from the parents of all processes of the machine.
fn descendants_by_scan(root: i32) -> Vec<Stat> {
    scan(root).unwrap_or_default().0
}

/// All processes of the machine: those below `root`, and the others. `None` where they can't be seen, not even this one.
fn scan(root: i32) -> Option<(Vec<Stat>, Vec<Stat>)> {
    let all = procfs::process::all_processes().ok()?;
    let mut rest: Vec<Stat> = all.flatten().filter_map(|p| p.stat().ok()).collect();
    if rest.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    let mut parents = vec![root];
    while !parents.is_empty() {
        let (children, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|s| parents.contains(&s.ppid));
        parents = children.iter().map(|s| s.pid).collect();
        found.extend(children);
        rest = others;
    }
    Some((found, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_busiest_thread_is_the_one_that_used_most_in_between() {
        let clocks =
            |all: &[(i32, u64)]| all.iter().map(|(tid, ns)| ((1, *tid), *ns)).collect::<ThreadClocks>();
        let before = clocks(&[(1, 900), (2, 100), (3, 50)]);
        let busiest = |after: &[(i32, u64)], cpu_ns| busiest_thread_ns(&before, &clocks(after), cpu_ns);
        assert_eq!(busiest(&[(1, 950), (2, 1_100), (3, 60)], 1_060), Some(1_000));
        assert_eq!(busiest(&[(1, 900), (2, 100), (4, 700)], 700), Some(700), "one that began in between");
        assert_eq!(busiest(&[(1, 930), (2, 20)], 50), Some(30), "a number that was given anew");
        assert_eq!(busiest(&[(1, 910), (2, 200)], 150), Some(100), "one that ended used 40 at most");
        assert_eq!(busiest(&[(1, 910), (2, 200)], 900), None, "one that ended may have used 790");
        assert_eq!((busiest(&[], 900), busiest(&[], 0)), (None, None));
        assert_eq!(busiest(&[(1, u64::MAX), (2, u64::MAX), (7, u64::MAX)], 0), Some(u64::MAX));
    }

    #[test]
    fn the_clock_of_a_thread_is_its_own() {
        let (own, tree) = (std::process::id() as i32, Tree::From(std::process::id() as i32));
        let before = thread_clocks(tree);
        let spun = std::thread::spawn(|| {
            let before_ns = clock::thread_cpu_ns();
            while clock::thread_cpu_ns() - before_ns < 40_000_000 {}
            let tid = rustix::thread::gettid().as_raw_nonzero().get();
            (tid, clocks_of(std::process::id() as i32))
        });
        let (tid, after) = spun.join().unwrap();
        let after: ThreadClocks = after.into_iter().map(|(tid, ns)| ((own, tid), ns)).collect();
        // What it has run since the kernel's last tick is not in it.
        assert!(after[&(own, tid)] >= 20_000_000, "{after:?}");
        assert!(busiest_thread_ns(&before, &after, 0).is_some_and(|ns| ns >= 20_000_000));
    }

    #[test]
    fn both_ways_find_the_children_and_their_children() {
        let mut child = Command::new("sh").args(["-c", "sleep 100 & sleep 100; true"]).spawn().unwrap();
        let own = std::process::id() as i32;
        let of_child = |pid: i32| stat(pid).is_some_and(|s| s.ppid == child.id() as i32);
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        let mut pids = Vec::new();
        while pids.iter().filter(|pid| of_child(**pid)).count() < 2 && std::time::Instant::now() < deadline {
            pids = processes(Tree::Below(own)).iter().map(|s| s.pid).collect();
        }
        let scanned: Vec<i32> = descendants_by_scan(own).iter().map(|s| s.pid).collect();
        let sleeps: Vec<i32> = pids.iter().copied().filter(|pid| of_child(*pid)).collect();
        assert_eq!(sleeps.len(), 2);
        assert!(
            sleeps
                .iter()
                .chain([&(child.id() as i32)])
                .all(|pid| scanned.contains(pid) && pids.contains(pid))
        );
        assert!(
            processes(Tree::From(child.id() as i32)).len() == 3 && snapshot(Tree::Below(own)).processes >= 3
        );
        for pid in sleeps.iter().filter_map(|pid| rustix::process::Pid::from_raw(*pid)) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        let _ = child.wait();
    }
}
