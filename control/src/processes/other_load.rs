//! Measures what else used the machine while a server was measured: all other programs, and drome's own threads beside the load
//! generator's (the local page, a live view, the lab).

use crate::machine::cpu_time;
use crate::processes::clocks::{self, Processes};
use crate::processes::tree::Tree;
use net::clock;
use std::collections::{BTreeMap, BTreeSet};

/// A reading of the CPU time of all processes.
#[derive(Clone, Debug)]
pub struct OtherLoad {
    /// The time of the reading.
    at_ns: u64,
    /// All processes; the server is their only member.
    processes: Processes,
    /// The number of the CPUs on which other programs would disturb: the server's and the load generator's.
    cpus: Option<usize>,
    /// Idle time of those CPUs up to then, summed. `None` if they are all CPUs of the machine, or if `/proc/stat` does not show them.
    idle_ns: Option<u64>,
    /// CPU time up to then of each of drome's own threads, in nanoseconds, by number. Threads that exist before the load begins
    /// are not the load generator's, which makes its own for each measurement.
    own_threads: BTreeMap<i32, u64>,
}

impl OtherLoad {
    /// Takes a reading, with the CPUs on which other programs would disturb; none: all of the machine. It needs some milliseconds, so it
    /// must not be called while the window is open.
    pub fn now(tree: &Tree, cpus: &[usize]) -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let (at_ns, machine) = (clock::now_ns(), cpu_time::count(&stat));
        let size = |machine: usize| if cpus.is_empty() { machine } else { cpus.len() };
        let is_part = machine.is_some_and(|machine| size(machine) < machine);
        let times = cpu_time::of(&stat, cpus).filter(|_| is_part);
        Self {
            at_ns,
            processes: Processes::begin(&[Some(tree.clone())], &[]),
            cpus: machine.map(size),
            idle_ns: times.map(|times| times.idle.saturating_mul(cpu_time::tick_ns())),
            own_threads: clocks::own_threads(),
        }
    }

    /// The share of the CPUs' time that others used since then, in millionths; `None` where no time passed, or processes can't be seen.
    /// Processes outside a container are not seen. The machine's own count of busy time would include them, but the kernel takes it at its
    /// ticks: requests that are due at the same rhythm run at every one of them, and idle cores look busy.
    ///
    /// The kernel does not record on which CPUs a process ran. Where these are a part of the machine, others were there for no longer
    /// than the CPUs neither rested nor worked for drome and the server.
    pub fn others_ppm_since(&self, before: &Self) -> Option<u64> {
        let cpus = self.cpus?;
        let passed = self.at_ns.checked_sub(before.at_ns)?.saturating_mul(cpus as u64);
        let used = self.processes.used_since(&before.processes)?;
        let others = used.others_perhaps_on(&BTreeSet::new());
        let room = |idle: u64| passed.saturating_sub(idle).saturating_sub(used.measured_ns);
        let idle = self.idle_ns.zip(before.idle_ns).map(|(now, then)| now.saturating_sub(then));
        let here = u128::from(others.min(idle.map_or(passed, room)) + self.own_ns_since(before));
        (here * 1_000_000).checked_div(u128::from(passed)).map(|ppm| ppm as u64)
    }

    /// The processes of other programs that live and ran since then, the one that used the most first: PID, and its share of a core.
    pub fn busiest_since(&self, before: &Self) -> Vec<(i32, f64)> {
        let passed_ns = self.at_ns.saturating_sub(before.at_ns);
        let used = self.processes.used_since(&before.processes).filter(|_| passed_ns > 0);
        let of = |(pid, _, ns): (i32, Option<usize>, u64)| (pid, ns as f64 / passed_ns as f64);
        let mut all: Vec<(i32, f64)> = used.unwrap_or_default().others.into_iter().map(of).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// CPU time since then of drome's threads that existed before.
    fn own_ns_since(&self, before: &Self) -> u64 {
        let used = |(thread, then): (&i32, &u64)| self.own_threads.get(thread)?.checked_sub(*then);
        before.own_threads.iter().filter_map(used).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processes::clocks::{Owner, ProcessClock};
    use std::process::Command;
    use std::sync::mpsc::{TryRecvError, channel};
    use std::time::{Duration, Instant};

    /// A reading at `at_ns`: the CPU time of others, that of the server, the number of CPUs, and how long they were idle.
    fn at(at_ns: u64, others_ns: u64, measured_ns: u64, cpus: usize, idle_ns: Option<u64>) -> OtherLoad {
        let process = |owner, clock_ns| ProcessClock { owner, clock_ns, children_ns: 0, cpu: None };
        let known = [(1, process(Owner::Other, others_ns)), (2, process(Owner::Member(0), measured_ns))];
        let processes = Processes::example(known.into());
        OtherLoad { at_ns, processes, cpus: Some(cpus), idle_ns, own_threads: BTreeMap::new() }
    }

    #[test]
    fn the_share_is_of_all_cores_and_unknown_where_no_time_went_by() {
        let at = |at_ns, others_ns| at(at_ns, others_ns, at_ns, 2, None);
        let before = at(1_000, 50);
        assert_eq!(at(3_000, 1_050).others_ppm_since(&before), Some(250_000));
        assert_eq!(at(3_000, 1_050).busiest_since(&before), [(1, 0.5)]);
        // Its clock is read some milliseconds after the time of the reading.
        assert_eq!(at(3_000, 4_070).others_ppm_since(&before), Some(1_000_000), "no more than there was");
        let process = ProcessClock { owner: Owner::Member(0), clock_ns: 3_000, children_ns: 0, cpu: None };
        let ended = OtherLoad { processes: Processes::example([(2, process)].into()), ..at(3_000, 0) };
        assert_eq!(ended.others_ppm_since(&before), Some(0), "what ended unseen takes its time along");
        assert_eq!((before.others_ppm_since(&before), before.busiest_since(&before)), (None, Vec::new()));
        assert_eq!(at(900, 60).others_ppm_since(&before), None, "time went back");
        let unseen = OtherLoad { processes: Processes::example(BTreeMap::new()), ..at(3_000, 0) };
        assert_eq!(unseen.others_ppm_since(&before), None, "which is not to say that nobody ran");
    }

    #[test]
    fn of_a_part_of_a_machine_others_have_what_neither_rested_nor_was_measured() {
        let before = at(0, 0, 0, 4, Some(0));
        let share =
            |others, measured, idle| at(1_000, others, measured, 4, Some(idle)).others_ppm_since(&before);
        assert_eq!(share(1_000, 2_000, 1_000), Some(250_000), "a build on one of the server's cores");
        assert_eq!(share(60_000, 2_000, 2_000), Some(0), "builds on sixty other cores");
        assert_eq!(share(60_000, 2_000, 1_000), Some(250_000), "and one of them here");
        assert_eq!(share(100, 2_000, 1_000), Some(25_000), "the kernel's own work is nobody's");
    }

    #[test]
    fn threads_of_drome_count_unless_they_came_with_the_load() {
        let at = |at_ns, own: &[(i32, u64)]| OtherLoad {
            own_threads: own.iter().copied().collect(),
            ..at(at_ns, 0, 0, 1, None)
        };
        let before = at(1_000, &[(1, 100), (2, 50), (3, 70)]);
        // The page's thread used 500, the second none, the third ended; the load generator's came later.
        let after = at(3_000, &[(1, 600), (2, 50), (7, 2_000)]);
        assert_eq!(after.others_ppm_since(&before), Some(250_000));
    }

    #[test]
    fn a_thread_that_makes_pages_is_seen() {
        let ((stop, is_stopped), (tell, told)) = (channel::<()>(), channel());
        let page = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            while is_stopped.try_recv() == Err(TryRecvError::Empty) {}
        });
        let nobody = Tree::From(std::process::id() as i32);
        let (page_thread, begun) = (told.recv().unwrap(), Instant::now());
        let mut before = OtherLoad::now(&nobody, &[]);
        // Other tests have threads, too.
        before.own_threads.retain(|thread, _| *thread == page_thread);
        let mut used_ns = 0;
        while used_ns < 50_000_000 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
            used_ns = OtherLoad::now(&nobody, &[]).own_ns_since(&before);
        }
        drop(stop);
        page.join().unwrap();
        assert!(used_ns >= 50_000_000, "{used_ns} ns");
    }

    #[test]
    fn a_program_that_spins_is_seen_and_a_server_that_spins_is_none() {
        let start = |what: &str| Command::new("sh").args(["-c", what]).spawn().unwrap();
        let (mut spinning, mut idle) = (start("while :; do :; done"), start("exec sleep 100"));
        let spent = || clock::process_cpu_ns(spinning.id() as i32).unwrap();
        let look = |server: u32| OtherLoad::now(&Tree::From(server as i32), &[]);
        let looks = || [look(idle.id()), look(spinning.id())];
        let (before, begun, at_first) = (looks(), Instant::now(), spent());
        while spent() - at_first < 100_000_000 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let after = looks();
        let [here, there] =
            [0, 1].map(|nth| after[nth].processes.used_since(&before[nth].processes).unwrap());
        let of_spinning = |used: &clocks::UsedTime| {
            let all = used.others.iter();
            all.filter(|(pid, _, _)| *pid == spinning.id() as i32).map(|(_, _, ns)| *ns).sum::<u64>()
        };
        let busiest = after[0].busiest_since(&before[0]);
        let is_named = busiest.iter().any(|(pid, share)| *pid == spinning.id() as i32 && *share > 0.0);
        let spun_ns = [&here, &there].map(of_spinning);
        for child in [&mut spinning, &mut idle] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(spun_ns[0] >= 80_000_000 && spun_ns[1] == 0 && is_named, "{here:?} {there:?}");
        assert!(there.measured_ns >= 80_000_000 && after[0].others_ppm_since(&before[0]) > Some(0));
    }
}
