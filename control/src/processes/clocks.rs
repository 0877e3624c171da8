//! Reads the CPU clocks of all processes, and finds the owner of each process. Exact for processes that are alive; the time of children
//! that ended between two samples is known only from their parents' accounts, in the kernel's ticks of 10 ms.

use crate::processes::stat::{Stat, pids, stat};
use crate::processes::tree::Tree;
use net::clock;
use std::collections::{BTreeMap, BTreeSet};

/// A thread of the kernel: `PF_KTHREAD` of its include/linux/sched.h.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// The owner of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The kernel: it works for the measured servers, too.
    Kernel,
    /// Drome itself, whose threads are looked at one by one.
    Own,
    /// A member, by index.
    Member(usize),
    /// The program that runs a member's container, which is neither the member nor other load.
    Tool,
    /// Another program.
    Other,
}

/// The state of a process at one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessClock {
    pub owner: Owner,
    pub clock_ns: u64,
    /// CPU time of its children that ended, and of theirs.
    pub children_ns: u64,
    /// The core that it last ran on; unknown of one with several threads.
    pub cpu: Option<usize>,
}

/// CPU time between two samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedTime {
    /// By member; a member that is missing used none.
    pub members_ns: BTreeMap<usize, u64>,
    /// By core, of other programs; `None`: the core is not known.
    pub others_ns: BTreeMap<Option<usize>, u64>,
    /// The PID, the core and the CPU time of each process of other programs that is still alive.
    pub others: Vec<(i32, Option<usize>, u64)>,
    /// By drome, all members, and the programs that run their containers.
    pub measured_ns: u64,
}

impl UsedTime {
    /// CPU time of other programs on these cores.
    pub fn others_on(&self, cpus: &BTreeSet<usize>) -> u64 {
        self.others_where(|cpu| cpu.is_some_and(|cpu| cpus.contains(&cpu)))
    }

    /// CPU time of other programs on these cores, and of those whose core is not known; of all other programs if `cpus` is empty.
    pub fn others_perhaps_on(&self, cpus: &BTreeSet<usize>) -> u64 {
        self.others_where(|cpu| perhaps_on(cpu, cpus))
    }

    /// The PID and the CPU time of each live process of other programs that is on these cores or whose core is not known; of all of them
    /// if `cpus` is empty.
    pub fn processes_perhaps_on(&self, cpus: &BTreeSet<usize>) -> Vec<(i32, u64)> {
        let there = self.others.iter().filter(|(_, cpu, _)| perhaps_on(*cpu, cpus));
        there.map(|(pid, _, ns)| (*pid, *ns)).collect()
    }

    fn add(&mut self, owner: Owner, cpu: Option<usize>, ns: u64) {
        match owner {
            Owner::Kernel => return,
            Owner::Other => *self.others_ns.entry(cpu).or_default() += ns,
            Owner::Member(member) => *self.members_ns.entry(member).or_default() += ns,
            Owner::Own | Owner::Tool => {}
        }
        if owner != Owner::Other {
            self.measured_ns += ns;
        }
    }

    fn others_where(&self, is_there: impl Fn(Option<usize>) -> bool) -> u64 {
        let there = self.others_ns.iter().filter(|(cpu, _)| is_there(**cpu));
        there.fold(0, |sum, (_, ns)| sum.saturating_add(*ns))
    }
}

fn perhaps_on(cpu: Option<usize>, cpus: &BTreeSet<usize>) -> bool {
    cpus.is_empty() || cpu.is_none_or(|cpu| cpus.contains(&cpu))
}

/// All processes of the machine, by PID.
#[derive(Clone, Debug)]
pub struct Processes {
    /// Processes whose owner is known from the beginning. All processes below one of them have the same owner, unless another one of
    /// them is nearer.
    roots: BTreeMap<i32, Owner>,
    known: BTreeMap<i32, ProcessClock>,
    /// The PID that the kernel gave last. Where it has not changed, nothing was started since.
    last_pid: Option<String>,
}

impl Processes {
    pub fn begin(members: &[Option<Tree>], excluded: &[i32]) -> Self {
        let known = members.iter().enumerate().filter_map(|(member, tree)| Some((member, tree.as_ref()?)));
        let tools = excluded.iter().map(|pid| (*pid, Owner::Tool));
        let roots = tools.chain(known.flat_map(|(member, tree)| roots(member, tree))).collect();
        let mut all = Self { roots, known: BTreeMap::new(), last_pid: last_pid() };
        all.add_new();
        all
    }

    /// Takes a sample and returns what was used since the last one; `None` where /proc can't be read.
    pub fn sample(&mut self) -> Option<UsedTime> {
        let last_pid = last_pid();
        let before = self.known.clone();
        let mut ran = Vec::new();
        let mut is_changed = last_pid.is_none() || last_pid != self.last_pid;
        self.known.retain(|pid, process| {
            if process.owner == Owner::Kernel {
                return true;
            }
            // A clock that went back belongs to another process, to which the kernel has given the same PID.
            let now = clock::process_cpu_ns(*pid).filter(|now| *now >= process.clock_ns);
            if let Some(now) = now {
                if now > process.clock_ns {
                    ran.push(*pid);
                }
                process.clock_ns = now;
            }
            is_changed |= now.is_none();
            now.is_some()
        });
        for pid in ran {
            // Children can only have ended where something changed; on which core a member ran is known.
            let Some(process) = self.known.get_mut(&pid).filter(|p| is_changed || p.owner == Owner::Other)
            else {
                continue;
            };
            if let Some(stat) = stat(pid) {
                (process.children_ns, process.cpu) = (stat.children_ns.max(process.children_ns), stat.cpu);
            }
        }
        if is_changed {
            self.add_new();
        }
        self.last_pid = last_pid;
        used(&before, &self.known)
    }

    /// What was used since an earlier reading of all processes; `None` where /proc can't be read.
    pub fn used_since(&self, before: &Self) -> Option<UsedTime> {
        used(&before.known, &self.known)
    }

    /// These processes, made up.
    #[cfg(test)]
    pub fn example(known: BTreeMap<i32, ProcessClock>) -> Self {
        Self { roots: BTreeMap::new(), known, last_pid: None }
    }

    /// The owner of a process, as far as is known.
    #[cfg(test)]
    pub fn owner(&self, pid: i32) -> Option<Owner> {
        self.known.get(&pid).map(|process| process.owner)
    }

    /// Adds the processes that are not known yet, and forgets the kernel's threads that are gone.
    fn add_new(&mut self) {
        let pids = pids();
        if !pids.is_empty() {
            self.known.retain(|pid, p| p.owner != Owner::Kernel || pids.contains(pid));
        }
        let new: BTreeMap<i32, Stat> = pids
            .into_iter()
            .filter(|pid| !self.known.contains_key(pid))
            .filter_map(|pid| Some((pid, stat(pid)?)))
            .collect();
        let own = std::process::id() as i32;
        let found: Vec<(i32, ProcessClock)> = new
            .iter()
            .filter_map(|(pid, stat)| {
                let owner = self.find_owner(*pid, &new, own);
                let clock_ns = if owner == Owner::Kernel { 0 } else { clock::process_cpu_ns(*pid)? };
                Some((*pid, ProcessClock { owner, clock_ns, children_ns: stat.children_ns, cpu: stat.cpu }))
            })
            .collect();
        self.known.extend(found);
    }

    /// Finds the owner of a process: that of its nearest ancestor whose owner is known from the beginning, or was found before.
    fn find_owner(&self, pid: i32, new: &BTreeMap<i32, Stat>, own: i32) -> Owner {
        if pid == own {
            return Owner::Own;
        }
        if new.get(&pid).is_some_and(|stat| stat.flags & KERNEL_THREAD != 0) {
            return Owner::Kernel;
        }
        let mut at = pid;
        // No chain of parents is longer than there are new processes, unless PIDs were reused meanwhile.
        for _ in 0..=new.len() {
            if let Some(owner) = self.roots.get(&at) {
                return *owner;
            }
            if let Some(known) = self.known.get(&at) {
                let is_of_member = matches!(known.owner, Owner::Member(_) | Owner::Tool);
                return if is_of_member { known.owner } else { Owner::Other };
            }
            match new.get(&at) {
                Some(stat) => at = stat.parent,
                None => break,
            }
        }
        Owner::Other
    }
}

/// The topmost process of a member, and that of the program that runs its container, each with its owner.
fn roots(member: usize, tree: &Tree) -> Vec<(i32, Owner)> {
    match tree {
        Tree::Below(root) | Tree::From(root) => vec![(*root, Owner::Member(member))],
        Tree::Container(container) => {
            vec![(container.guard, Owner::Tool), (container.pid, Owner::Member(member))]
        }
    }
}

/// Computes what was used between two samples; `None` where one of them has no process. The clock of a process that ended is gone, but its
/// parent's account of ended children has the time, in ticks: what these accounts gained, less what the ended processes had used by the
/// first sample, was used in between.
pub fn used(before: &BTreeMap<i32, ProcessClock>, after: &BTreeMap<i32, ProcessClock>) -> Option<UsedTime> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let mut used = UsedTime::default();
    let mut of_children: BTreeMap<Owner, (u64, u64)> = BTreeMap::new();
    for (pid, now) in after {
        let then = before.get(pid).filter(|then| then.clock_ns <= now.clock_ns);
        let ns = now.clock_ns - then.map_or(0, |then| then.clock_ns);
        used.add(now.owner, now.cpu, ns);
        used.others.extend((now.owner == Owner::Other && ns > 0).then_some((*pid, now.cpu, ns)));
        let more = now.children_ns.saturating_sub(then.map_or(0, |then| then.children_ns));
        of_children.entry(now.owner).or_default().0 += more;
    }
    for (pid, then) in before {
        let is_gone = after.get(pid).is_none_or(|now| now.clock_ns < then.clock_ns);
        if is_gone {
            of_children.entry(then.owner).or_default().1 += then.clock_ns.saturating_add(then.children_ns);
        }
    }
    for (owner, (now, known)) in of_children {
        used.add(owner, None, now.saturating_sub(known));
    }
    Some(used)
}

/// CPU time of each of drome's own threads, by thread ID, in nanoseconds.
pub fn own_threads() -> BTreeMap<i32, u64> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let tids = tasks.filter_map(|task| task.file_name().to_str()?.parse::<i32>().ok());
    tids.filter_map(|tid| Some((tid, clock::own_thread_cpu_ns(tid)?))).collect()
}

/// The last word of `/proc/loadavg`.
fn last_pid() -> Option<String> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().last().map(str::to_owned)
}
