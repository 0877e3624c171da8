//! A process and all that descend from it, as /proc shows them.

use net::clock;
use procfs::process::{Process, Stat};

/// What the processes of a tree have used up to now, and hold now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// CPU time of all, ended and reaped children included.
    pub cpu_ns: u64,
    /// Resident memory of all.
    pub rss_bytes: u64,
    /// Virtual memory of all.
    pub virtual_bytes: u64,
    /// Threads of all.
    pub threads: u64,
    /// How many processes.
    pub processes: u64,
}

/// Context switches of the threads of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// The thread waited.
    pub voluntary: u64,
    /// The thread's time slice ended.
    pub involuntary: u64,
}

/// Which processes are a server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// All below this one, which is drome's guard.
    Below(i32),
    /// This one and all below it.
    From(i32),
}

/// The processes of a server that have not ended.
pub fn living(tree: Tree) -> Vec<i32> {
    processes(tree).into_iter().filter(|stat| stat.state != 'Z').map(|stat| stat.pid).collect()
}

/// Looks at all processes of a server.
pub fn snapshot(tree: Tree) -> Snapshot {
    let tick_ns = 1_000_000_000 / procfs::ticks_per_second();
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

fn processes(tree: Tree) -> Vec<Stat> {
    let (Tree::Below(root) | Tree::From(root)) = tree;
    let Ok(all) = procfs::process::all_processes() else {
        return Vec::new();
    };
    let mut rest: Vec<Stat> = all.flatten().filter_map(|p| p.stat().ok()).collect();
    let is_included = |stat: &&Stat| tree == Tree::From(stat.pid);
    let mut found: Vec<Stat> = rest.iter().filter(is_included).cloned().collect();
    let mut parents = vec![root];
    while !parents.is_empty() {
        let (children, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|stat| parents.contains(&stat.ppid));
        parents = children.iter().map(|stat| stat.pid).collect();
        found.extend(children);
        rest = others;
    }
    found
}
