//! Adds up a member's turns in a cell: what the load generator counted, and what the server used for it. Pure.

use control::machine::cores::Cores;
use control::processes::cpu_sampler::CpuUsage;
use control::processes::tree::Snapshot;
use model::network::Segments;
use model::{SliceTally, Tally, Usage};

/// How long a server waits at the two ends of a turn although it is loaded: until the first requests are there, and until the load
/// generator has its last answers. Servers at their limit rested for 0.8 to 1 ms a turn.
const EDGES_NS: u64 = 1_000_000;

/// The sum of some turns.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    /// All counted parts, one after the other.
    pub tally: Tally,
    /// CPU time of the server for the counted answers; `None`: it is not known of some turn.
    cpu_ns: Option<u64>,
    /// How long the server was loaded for them: the counted parts.
    loaded_ns: u64,
    /// The length of the turns, from CPU sample to CPU sample.
    turns_ns: u64,
    others_ns: Option<u64>,
    stolen_ns: Option<u64>,
    /// Idle time of the servers' cores while the server was loaded, scaled to the counted answers: the idle time of the whole turn, which
    /// the kernel counts in coarse ticks, minus the estimated time without load. So it may be slightly negative.
    idle_ns: Option<i64>,
    /// The TCP segments of this machine for the counted answers, where they are counted.
    segments: Option<Segments>,
}

impl Sum {
    /// Sets it to one turn of a member: what the load generator counted in it, what ran meanwhile, and which member it was.
    pub fn set(&mut self, one_slice: &SliceTally, used: &CpuUsage, owner: usize, server_cores: usize) {
        self.tally.clear();
        self.tally.append(&one_slice.tally);
        let (owner_ns, _) = used.owner_and_others(owner);
        let loaded_ns = one_slice.began_ns.map_or(0, |began_ns| one_slice.ended_ns.saturating_sub(began_ns));
        // The server works for the uncounted answers, too: its time is divided among all alike.
        let all = one_slice.tally.completed + one_slice.uncounted.completed;
        let share = if all > 0 {
            one_slice.tally.completed as f64 / all as f64
        } else {
            one_slice.tally.duration_ns as f64 / loaded_ns.max(1) as f64
        };
        let counted = |ns: u64| (ns as f64 * share.clamp(0.0, 1.0)) as u64;
        self.cpu_ns = owner_ns.map(counted);
        // Before and after the load, the cores rest. So they do at the beginning of a turn, before anything is counted, where the system of a
        // server without TCP_NODELAY holds its first answers back.
        let usual_ns =
            if share > 0.0 { (one_slice.tally.duration_ns as f64 / share) as u64 } else { loaded_ns };
        let held_back_ns = loaded_ns.saturating_sub(usual_ns);
        let resting_ns = used.wall_ns.saturating_sub(loaded_ns).saturating_add(held_back_ns + EDGES_NS);
        let unloaded_ns = resting_ns.saturating_mul(server_cores as u64);
        let signed = |ns: u64| {
            if ns >= unloaded_ns {
                counted(ns - unloaded_ns) as i64
            } else {
                -(counted(unloaded_ns - ns) as i64)
            }
        };
        self.idle_ns = used.idle_ns.map(signed);
        self.segments = used.segments.map(|segments| segments.each(counted));
        self.loaded_ns = one_slice.tally.duration_ns;
        (self.turns_ns, self.others_ns, self.stolen_ns) = (used.wall_ns, used.others_ns, used.stolen_ns);
    }

    /// Whether it has no turn.
    pub fn is_empty(&self) -> bool {
        self.turns_ns == 0
    }

    /// The TCP segments of this machine for the counted answers; `None`: they were not counted.
    pub fn segments(&self) -> Option<Segments> {
        self.segments
    }

    /// Adds later turns.
    pub fn append(&mut self, later: &Self) {
        let is_first = self.is_empty();
        let add = |a: Option<u64>, b: Option<u64>| if is_first { b } else { a.zip(b).map(|(a, b)| a + b) };
        self.tally.append(&later.tally);
        self.cpu_ns = add(self.cpu_ns, later.cpu_ns);
        self.others_ns = add(self.others_ns, later.others_ns);
        self.stolen_ns = add(self.stolen_ns, later.stolen_ns);
        self.segments = if is_first {
            later.segments
        } else {
            self.segments.zip(later.segments).map(|(a, b)| a.with(b, |a, b| a + b))
        };
        self.idle_ns =
            if is_first { later.idle_ns } else { self.idle_ns.zip(later.idle_ns).map(|(a, b)| a + b) };
        self.loaded_ns += later.loaded_ns;
        self.turns_ns += later.turns_ns;
    }

    /// What the server used. `elsewhere_ns`: its CPU time in the turns of others, which its own answers cost, too. `seen`: what its processes
    /// held at the end, and the most threads that it had. `busiest`: the share of its busiest thread in its CPU time, where that is known. `None`: its processes could not be
    /// watched.
    pub fn usage(
        &self,
        elsewhere_ns: u64,
        seen: &Snapshot,
        busiest: Option<f64>,
        cores: &Cores,
    ) -> Option<Usage> {
        let cpu_ns = self.cpu_ns?.saturating_add(elsewhere_ns);
        let machine = (cores.server.len() + cores.client.len()).max(1) as u64;
        let ppm = |ns: Option<u64>| {
            let all = u128::from(self.turns_ns) * u128::from(machine);
            (u128::from(ns?) * 1_000_000).checked_div(all).map(|ppm| ppm as u64)
        };
        Some(Usage {
            wall_ns: self.loaded_ns,
            cpu_ns,
            // A server of one thread can't use a second core.
            cores: cores.server.len().min(seen.threads as usize).max(1),
            rss_max_bytes: seen.rss_bytes,
            virtual_max_bytes: seen.virtual_bytes,
            threads_max: seen.threads,
            processes_max: seen.processes,
            steal_ppm: ppm(self.stolen_ns),
            others_ppm: ppm(self.others_ns),
            idle_ns_by_core: self.idle_by_core(cores.server.len()),
            busiest_thread_ns: busiest.map(|share| (cpu_ns as f64 * share) as u64),
            ..Usage::default()
        })
    }

    /// The total idle time, divided evenly among `cores` cores; empty if it is unknown.
    fn idle_by_core(&self, cores: usize) -> Vec<u64> {
        let idle_ns = self.idle_ns.map(|ns| ns.max(0) as u64);
        idle_ns.map_or_else(Vec::new, |ns| vec![ns / cores.max(1) as u64; cores])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Uncounted;

    const MS: u64 = 1_000_000;

    fn turn(completed: u64, uncounted: u64, cpu_ms: u64) -> (SliceTally, CpuUsage) {
        let tally = Tally { completed, duration_ns: 100 * MS, threads: 1, ..Tally::default() };
        let uncounted = Uncounted { completed: uncounted, ..Uncounted::default() };
        let one_slice =
            SliceTally { tally, uncounted, began_ns: Some(MS), ended_ns: 121 * MS, ..SliceTally::default() };
        let used = CpuUsage {
            wall_ns: 125 * MS,
            members_ns: vec![Some(MS), Some(cpu_ms * MS)],
            others_ns: Some(5 * MS),
            others_on_server_ns: Some(0),
            stolen_ns: None,
            // It rested for 5 ms while it was not loaded, and once for 9 ms more; a millisecond of each is the turn's own.
            idle_ns: Some(if cpu_ms > 100 { 5 * MS } else { 14 * MS }),
            segments: None,
            programs: std::collections::BTreeMap::new(),
        };
        (one_slice, used)
    }

    #[test]
    fn the_servers_time_is_divided_among_all_answers_and_its_work_elsewhere_is_its_own() {
        let (mut one, mut all) = (Sum::default(), Sum::default());
        for (completed, uncounted, cpu_ms) in [(1_000, 200, 120), (500, 100, 60)] {
            let (one_slice, used) = turn(completed, uncounted, cpu_ms);
            one.set(&one_slice, &used, 1, 1);
            all.append(&one);
        }
        assert_eq!((all.tally.completed, all.tally.duration_ns, all.tally.threads), (1_500, 200 * MS, 1));
        let cores = Cores { server: vec![1], client: vec![0], ..Cores::default() };
        let seen = Snapshot { threads: 3, rss_bytes: 9, ..Snapshot::default() };
        let usage = all.usage(3 * MS, &seen, Some(0.5), &cores).unwrap();
        assert_eq!((usage.cpu_ns, usage.wall_ns, usage.cores), (153 * MS, 200 * MS, 1));
        assert_eq!((usage.others_ppm, usage.steal_ppm), (Some(20_000), None));
        assert_eq!(usage.idle_ns_by_core, [7 * MS * 5 / 6]);
        assert_eq!((usage.busiest_thread_ns, usage.rss_max_bytes), (Some(153 * MS / 2), 9));
    }

    #[test]
    fn a_server_whose_first_answers_are_held_back_is_as_busy_as_in_what_is_counted() {
        // Nothing came for 40 ms, then it worked for all of the counted 100 ms, and for 10 ms more.
        let (mut one_slice, mut used) = turn(1_000, 100, 110);
        (one_slice.ended_ns, used.wall_ns) = (151 * MS, 155 * MS);
        used.idle_ns = Some(45 * MS);
        let mut sum = Sum::default();
        sum.set(&one_slice, &used, 1, 1);
        let cores = Cores { server: vec![1], client: vec![0], ..Cores::default() };
        let usage = sum.usage(0, &Snapshot { threads: 1, ..Snapshot::default() }, None, &cores).unwrap();
        assert!(usage.wall_ns == 100 * MS && usage.core_use().is_some_and(|used| used > 0.999), "{usage:?}");
        assert_eq!(usage.idle_ns_by_core, [0], "what the kernel says, too");
    }

    #[test]
    fn what_is_not_known_of_one_turn_is_not_known_of_all() {
        let (one_slice, used) = turn(0, 0, 7);
        let (mut one, mut all) = (Sum::default(), Sum::default());
        one.set(&one_slice, &used, 1, 1);
        all.append(&one);
        let usage = |sum: &Sum| sum.usage(0, &Snapshot::default(), None, &Cores::default());
        assert_eq!(usage(&all).unwrap().wall_ns, 100 * MS, "no answers: the counted part by its length");
        one.set(&one_slice, &CpuUsage { members_ns: vec![None; 2], ..used }, 1, 1);
        all.append(&one);
        assert_eq!((usage(&all), usage(&Sum::default())), (None, None));
    }
}
