//! Samples what ran within a turn: the CPU time of each member of a heat, of all other programs, and of drome's own threads beside the
//! engine; and what the machine's host took. Taken between turns, on the load generator's core.
//!
//! Clocks of processes are read by one system call each, of 0.45 µs. /proc is listed (76 µs for 160 processes) only when a process or a
//! thread was made since the last sample, or one is gone; `/proc/PID/stat` is read (6 µs) of new processes and of those that ran. With 270
//! processes, on two cores on which ten compilers ran, a sample took 0.15 ms at least, and its median was 0.4 ms; when a program had been
//! started and ended since the last sample, 0.4 ms and 0.8 ms. `cargo run --release -p drome-lab --example heat_costs` measures it.
//!
//! The CPU time of a member in a container is that of its control group: one more file to read for each such member.

use crate::machine::cpu_time::{self, Times};
use crate::machine::segments;
use crate::processes::clocks::{Processes, UsedTime, own_threads};
use crate::processes::programs::{self, Programs};
use crate::processes::tree::Tree;
use judge::turns::disturbance::Piece;
use model::network::Segments;
use net::clock;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The members whose turns are watched, and the cores that they run on.
#[derive(Clone, Debug, Default)]
pub struct SampledProcesses {
    /// The processes of each member, the hub's included; `None`: they are not known.
    pub members: Vec<Option<Tree>>,
    /// The cores of the servers.
    pub server_cpus: BTreeSet<usize>,
    /// The cores of the load generator.
    pub client_cpus: BTreeSet<usize>,
    /// The engine's threads and the one that takes the samples: what they use does not count as other load.
    pub engine: BTreeSet<i32>,
    /// Processes that belong to the measurement and to no member, with all that is below them.
    pub excluded: Vec<i32>,
    /// Whether this process only takes samples, as an agent does, so that none of its threads is other load.
    pub only_samples: bool,
    /// Whether TCP's segments are counted, which matters where a network is between load generator and servers.
    pub counts_segments: bool,
}

/// Takes one sample after another; each returns what was used since the one before.
#[derive(Debug)]
pub struct CpuSampler {
    sampled: SampledProcesses,
    at_ns: u64,
    processes: Processes,
    /// CPU time of each member's control group, where it has one.
    groups: Vec<Option<u64>>,
    threads: BTreeMap<i32, u64>,
    machine: Machine,
}

/// What the kernel has counted since boot. `None`: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Machine {
    /// What the host took of the cores that are used.
    stolen_ns: Option<u64>,
    /// Idle time of the servers' cores.
    idle_ns: Option<u64>,
    /// The TCP segments of this machine, where they are counted.
    segments: Option<Segments>,
}

/// CPU time between two samples. `None`: unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUsage {
    /// The time from one sample to the next.
    pub wall_ns: u64,
    /// CPU time of each member, in the order in which they are watched.
    pub members_ns: Vec<Option<u64>>,
    /// CPU time of other programs, and of drome's threads beside the engine. Programs that ran on cores which neither servers nor load
    /// generator use are left out. On which cores a program of several threads ran is not known, so it counts. `None` also if a member's
    /// processes are not known, because they could be among the others.
    pub others_ns: Option<u64>,
    /// CPU time of the other programs that are known to have run on the servers' cores.
    pub others_on_server_ns: Option<u64>,
    /// CPU time that the host took of the cores of servers and load generator, in the kernel's ticks of 10 ms.
    pub stolen_ns: Option<u64>,
    /// Idle time of the servers' cores, together, in the same ticks: it may be one more or less at either end.
    pub idle_ns: Option<u64>,
    /// The TCP segments of this machine, where they are counted.
    #[serde(default)]
    pub segments: Option<Segments>,
    /// CPU time of each other program that used half a millisecond or more.
    #[serde(default)]
    pub programs: Programs,
}

impl SampledProcesses {
    /// The cores that are used.
    fn cpus(&self) -> BTreeSet<usize> {
        self.server_cpus.union(&self.client_cpus).copied().collect()
    }
}

impl CpuSampler {
    /// Takes the first sample.
    pub fn begin(sampled: SampledProcesses) -> Self {
        let (processes, groups) =
            (Processes::begin(&sampled.members, &sampled.excluded), group_clocks(&sampled.members));
        let (threads, machine) = (other_threads(&sampled), Machine::now(&sampled));
        Self { sampled, at_ns: clock::now_ns(), processes, groups, threads, machine }
    }

    /// Replaces the engine's threads, when another load generator takes over.
    pub fn replace_engine(&mut self, engine: BTreeSet<i32>) {
        self.sampled.engine = engine;
        self.sample();
    }

    /// Takes a sample and returns what was used since the last one.
    pub fn sample(&mut self) -> CpuUsage {
        let at_ns = clock::now_ns();
        let members = &self.sampled.members;
        let are_known = members.iter().all(Option::is_some);
        let (groups, used) = (group_clocks(members), self.processes.sample());
        let threads = other_threads(&self.sampled);
        // A thread that was made since then began at 0.
        let own: u64 = threads
            .iter()
            .map(|(tid, now)| now.saturating_sub(self.threads.get(tid).copied().unwrap_or(0)))
            .sum();
        let machine = Machine::now(&self.sampled);
        let since =
            |now: Option<u64>, then: Option<u64>| now.zip(then).map(|(now, then)| now.saturating_sub(then));
        // The kernel's account of a group is better than the sum of the processes in it: some may have come and gone.
        let of_group = |member: usize| {
            let clock = |clocks: &[Option<u64>]| clocks.get(member).copied().flatten();
            since(clock(&groups), clock(&self.groups))
        };
        let of_member = |used: &UsedTime, member: usize| {
            let ns = used.members_ns.get(&member).copied().unwrap_or(0);
            members[member].as_ref().map(|_| of_group(member).unwrap_or(ns))
        };
        let of_others = |ns: u64| Some(ns).filter(|_| are_known);
        let of = |used: &UsedTime| CpuUsage {
            wall_ns: at_ns.saturating_sub(self.at_ns),
            members_ns: (0..members.len()).map(|member| of_member(used, member)).collect(),
            others_ns: of_others(used.others_perhaps_on(&self.sampled.cpus()).saturating_add(own)),
            others_on_server_ns: of_others(used.others_on(&self.sampled.server_cpus)),
            stolen_ns: since(machine.stolen_ns, self.machine.stolen_ns),
            idle_ns: since(machine.idle_ns, self.machine.idle_ns),
            segments: (machine.segments.zip(self.machine.segments))
                .map(|(now, then)| now.with(then, u64::saturating_sub)),
            programs: programs::of(&used.processes_perhaps_on(&self.sampled.cpus()), own),
        };
        let unknown = || CpuUsage {
            wall_ns: at_ns.saturating_sub(self.at_ns),
            members_ns: vec![None; members.len()],
            ..CpuUsage::default()
        };
        let usage = used.as_ref().map_or_else(unknown, of);
        (self.at_ns, self.groups, self.threads, self.machine) = (at_ns, groups, threads, machine);
        usage
    }
}

impl CpuUsage {
    /// The part that decides whether a turn was disturbed: neither members' time nor answers.
    pub fn piece(&self) -> Piece {
        Piece { wall_ns: self.wall_ns, others_ns: self.others_ns, stolen_ns: self.stolen_ns }
    }

    /// Adds up two samples within one turn.
    #[must_use]
    pub fn and(&self, next: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
        Self {
            wall_ns: self.wall_ns.saturating_add(next.wall_ns),
            members_ns: self.members_ns.iter().zip(&next.members_ns).map(|(a, b)| sum(*a, *b)).collect(),
            others_ns: sum(self.others_ns, next.others_ns),
            others_on_server_ns: sum(self.others_on_server_ns, next.others_on_server_ns),
            stolen_ns: sum(self.stolen_ns, next.stolen_ns),
            idle_ns: sum(self.idle_ns, next.idle_ns),
            segments: (self.segments.zip(next.segments)).map(|(a, b)| a.with(b, u64::saturating_add)),
            programs: programs::sum(&self.programs, &next.programs),
        }
    }

    /// CPU time within the turn of this member: the member's own, and that of all other members.
    pub fn owner_and_others(&self, owner: usize) -> (Option<u64>, Option<u64>) {
        let others = self.members_ns.iter().enumerate().filter(|(member, _)| *member != owner);
        let sum = others.map(|(_, ns)| *ns).try_fold(0_u64, |sum, ns| Some(sum.saturating_add(ns?)));
        (self.members_ns.get(owner).copied().flatten(), sum)
    }
}

/// A member's CPU time in the turns of others, and how long those were; `turns` has each turn's owner and what was used in it.
pub fn elsewhere(member: usize, turns: &[(usize, CpuUsage)]) -> (Option<u64>, u64) {
    let of_others = || turns.iter().filter(|(owner, _)| *owner != member);
    let ns = of_others().try_fold(0_u64, |sum, (_, used)| {
        Some(sum.saturating_add(used.members_ns.get(member).copied().flatten()?))
    });
    (ns, of_others().fold(0, |sum: u64, (_, used)| sum.saturating_add(used.wall_ns)))
}

/// A member's CPU time in all turns; `None` where it is not known in one of them.
pub fn in_all_turns(member: usize, turns: &[(usize, CpuUsage)]) -> Option<u64> {
    let mut of_each = turns.iter().map(|(_, used)| used.members_ns.get(member).copied().flatten());
    of_each.try_fold(0_u64, |sum, ns| Some(sum.saturating_add(ns?)))
}

/// The clock of each member's control group; `None` where the member has none, or its processes are not known.
fn group_clocks(members: &[Option<Tree>]) -> Vec<Option<u64>> {
    let clock = |tree: &Tree| match tree {
        Tree::Container(container) => container.group.as_ref()?.cpu_ns(),
        Tree::Below(_) | Tree::From(_) => None,
    };
    members.iter().map(|tree| clock(tree.as_ref()?)).collect()
}

/// CPU time of each of drome's threads that are not the engine's, by thread ID; empty in a process that only takes samples.
fn other_threads(sampled: &SampledProcesses) -> BTreeMap<i32, u64> {
    let mut threads = if sampled.only_samples { BTreeMap::new() } else { own_threads() };
    threads.retain(|tid, _| !sampled.engine.contains(tid));
    threads
}

impl Machine {
    fn now(sampled: &SampledProcesses) -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let segments = sampled.counts_segments.then(segments::now).flatten();
        Self { segments, ..Self::of(&stat, &sampled.cpus(), &sampled.server_cpus) }
    }

    /// Parses the text of `/proc/stat`.
    fn of(stat: &str, used: &BTreeSet<usize>, servers: &BTreeSet<usize>) -> Self {
        let ns = |cpus: &BTreeSet<usize>, of: fn(Times) -> u64| {
            let times = cpu_time::of(stat, &cpus.iter().copied().collect::<Vec<_>>())?;
            Some(of(times).saturating_mul(cpu_time::tick_ns()))
        };
        let (stolen_ns, idle_ns) = (ns(used, |times| times.steal), ns(servers, |times| times.idle));
        Self { stolen_ns, idle_ns, segments: None }
    }
}

#[cfg(test)]
mod tests;
