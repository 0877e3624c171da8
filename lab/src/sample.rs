//! What the server uses while it is measured. A thread looks at its processes when the window opens and now and then; the last
//! look is taken by the worker that closes the window, so that none of what comes later is in it.

use crate::other_load::OtherLoad;
use crate::tree::{self, Snapshot, Switches, ThreadClocks, Tree};
use load::Watch;
use model::Usage;
use net::clock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often memory is looked at. A look costs the load generator's core some hundred microseconds.
const INTERVAL: Duration = Duration::from_millis(200);

/// What is looked at.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The server's processes.
    pub tree: Tree,
    /// On so many cores they may run.
    pub cores: usize,
    /// The cores that they are pinned to and that nobody else is meant to use; empty where they are not pinned.
    pub pinned_to: Vec<usize>,
}

impl Watched {
    /// A server that drome has started on cores of its own.
    pub fn pinned(tree: Tree, cpus: &[usize]) -> Self {
        Self { tree, cores: cpus.len(), pinned_to: cpus.to_vec() }
    }

    /// A server that somebody else has started.
    pub fn free(tree: Tree, cores: usize) -> Self {
        Self { tree, cores, pinned_to: Vec::new() }
    }
}

enum Edge {
    Opened,
    Closed(Box<Look>),
}

/// Looks at a process tree for one measurement.
#[derive(Debug)]
pub struct Sampler {
    watched: Watched,
    edges: Sender<Edge>,
    thread: JoinHandle<Option<Usage>>,
}

impl Sampler {
    /// Ready to look at all processes of a server.
    pub fn start(watched: Watched) -> Self {
        let (edges, receiver) = channel();
        // Here, and not in the thread: it must be over before the load begins.
        let before = OtherLoad::now(watched.tree);
        let looked_at = watched.clone();
        let thread = std::thread::spawn(move || look(&receiver, &looked_at, &before));
        Self { watched, edges, thread }
    }

    /// What was used within the window; `None` when it did not open and close.
    pub fn finish(self) -> Option<Usage> {
        drop(self.edges);
        self.thread.join().ok().flatten()
    }

    /// Tells the sampler of the window's edges.
    pub fn watch(&self) -> impl Watch + use<> {
        Edges { watched: self.watched.clone(), to: self.edges.clone() }
    }
}

struct Edges {
    watched: Watched,
    to: Sender<Edge>,
}

impl Watch for Edges {
    fn opened(&self) {
        let _ = self.to.send(Edge::Opened);
    }
    fn closed(&self) {
        let _ = self.to.send(Edge::Closed(Box::new(Look::now(&self.watched))));
    }
}

/// All that is known at one moment.
#[derive(Clone, Debug, Default)]
struct Look {
    at_ns: u64,
    machine: Machine,
    clocks: ThreadClocks,
    used: Snapshot,
    switches: Switches,
}

impl Look {
    fn now(watched: &Watched) -> Self {
        let (tree, pinned_to) = (watched.tree, &watched.pinned_to);
        Self {
            at_ns: clock::now_ns(),
            machine: std::fs::read_to_string("/proc/stat")
                .map_or_else(|_| Machine::default(), |t| Machine::of(&t, pinned_to)),
            clocks: tree::thread_clocks(tree),
            used: tree::snapshot(tree),
            switches: tree::switches(tree),
        }
    }
}

/// The machine's time up to now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Machine {
    /// All cores, whoever may use them.
    cores: Option<usize>,
    /// All time and stolen time, in ticks.
    times: Option<(u64, u64)>,
    /// Of each of the server's cores, the idle time. Ticks are its unit, of 10 ms, but it is not counted at ticks.
    idle_ns: Vec<u64>,
}

impl Machine {
    /// From the text of `/proc/stat`: a line each of all cores together and of every core by itself.
    fn of(stat: &str, pinned_to: &[usize]) -> Self {
        let tick_ns = 1_000_000_000 / procfs::ticks_per_second();
        let cores = stat.lines().skip(1).take_while(|line| line.starts_with("cpu")).count();
        let idle = |cpu: &usize| {
            let [_, _, _, idle, iowait, ..] = ticks(stat, &format!("cpu{cpu}"))?;
            Some(idle.saturating_add(iowait).saturating_mul(tick_ns))
        };
        let all = |ticks: [u64; 8]| (ticks.iter().copied().fold(0, u64::saturating_add), ticks[7]);
        Self {
            cores: Some(cores).filter(|n| *n > 0),
            times: ticks(stat, "cpu").map(all),
            idle_ns: pinned_to.iter().map(idle).collect::<Option<_>>().unwrap_or_default(),
        }
    }
}

/// User, nice, system, idle, iowait, irq, softirq, steal; guests are in user.
fn ticks(stat: &str, cpu: &str) -> Option<[u64; 8]> {
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(cpu))?;
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).map_while(|word| word.parse().ok()).collect();
    ticks.try_into().ok()
}

fn look(edges: &Receiver<Edge>, watched: &Watched, before: &OtherLoad) -> Option<Usage> {
    while !matches!(edges.recv().ok()?, Edge::Opened) {}
    let first = Look::now(watched);
    let mut usage = Usage::default();
    loop {
        match edges.recv_timeout(INTERVAL) {
            Err(RecvTimeoutError::Timeout) | Ok(Edge::Opened) => {
                hold_most(&mut usage, &tree::snapshot(watched.tree));
            }
            Err(RecvTimeoutError::Disconnected) => return None,
            Ok(Edge::Closed(last)) => {
                hold_most(&mut usage, &last.used);
                between(&mut usage, watched, &first, &last);
                let now = || OtherLoad::now(watched.tree);
                usage.others_ppm = last.machine.cores.and_then(|cores| now().others_ppm_since(before, cores));
                return Some(usage);
            }
        }
    }
}

fn hold_most(usage: &mut Usage, used: &Snapshot) {
    usage.rss_max_bytes = usage.rss_max_bytes.max(used.rss_bytes);
    usage.virtual_max_bytes = usage.virtual_max_bytes.max(used.virtual_bytes);
    usage.threads_max = usage.threads_max.max(used.threads);
    usage.processes_max = usage.processes_max.max(used.processes);
}

/// What was used from the first look to the last.
fn between(usage: &mut Usage, watched: &Watched, first: &Look, last: &Look) {
    usage.wall_ns = last.at_ns.saturating_sub(first.at_ns);
    // A server of one thread can't use a second core.
    usage.cores = watched.cores.min(usage.threads_max as usize).max(1);
    usage.cpu_ns = last.used.cpu_ns.saturating_sub(first.used.cpu_ns);
    usage.busiest_thread_ns = tree::busiest_thread_ns(&first.clocks, &last.clocks, usage.cpu_ns);
    usage.switches_voluntary = last.switches.voluntary.checked_sub(first.switches.voluntary);
    usage.switches_involuntary = last.switches.involuntary.checked_sub(first.switches.involuntary);
    usage.steal_ppm = steal_ppm(first.machine.times, last.machine.times);
    let idle = first.machine.idle_ns.iter().zip(&last.machine.idle_ns);
    usage.idle_ns_by_core = idle.map(|(then, now)| now.saturating_sub(*then)).collect();
}

fn steal_ppm(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> Option<u64> {
    let ((all_0, steal_0), (all_1, steal_1)) = (before?, after?);
    let all = all_1.checked_sub(all_0).filter(|all| *all > 0)?;
    Some(steal_1.saturating_sub(steal_0) * 1_000_000 / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  30 0 0 70 20 0 0 10 0 0\ncpu0 10 0 0 60 5 0 0 0 0 0\ncpu3 20 0 0 10 15 0 0 10 0 0\n\
                        intr 1 0\nctxt 1\n";

    #[test]
    fn idle_time_is_of_the_cores_that_the_server_has() {
        let tick_ns = 1_000_000_000 / procfs::ticks_per_second();
        let of = |pinned_to: &[usize]| Machine::of(STAT, pinned_to);
        assert_eq!(of(&[3]).idle_ns, [25 * tick_ns]);
        assert_eq!(of(&[0, 3]).idle_ns, [65 * tick_ns, 25 * tick_ns]);
        assert_eq!(of(&[0, 1]).idle_ns, [0; 0], "core 1 is not there");
        assert_eq!((of(&[]).cores, of(&[]).times), (Some(2), Some((130, 10))));
        for odd in ["", "cpu", "cpu  1 2 3\ncpu0 x", "ctxt 1"] {
            assert!(
                Machine::of(odd, &[0]).idle_ns.is_empty() && Machine::of(odd, &[]).times.is_none(),
                "{odd}"
            );
        }
    }

    #[test]
    fn what_was_used_is_what_lies_between_two_looks() {
        let look = |at_ns, cpu_ns, thread_ns, idle_ns| Look {
            at_ns,
            machine: Machine { cores: Some(2), times: Some((at_ns, at_ns / 10)), idle_ns: vec![idle_ns] },
            clocks: [((1, 1), thread_ns)].into(),
            used: Snapshot { cpu_ns, ..Snapshot::default() },
            switches: Switches::default(),
        };
        let watched = Watched::pinned(Tree::From(1), &[1]);
        let mut usage = Usage::default();
        between(&mut usage, &watched, &look(1_000, 500, 400, 70), &look(2_000, 1_400, 1_300, 90));
        assert_eq!((usage.wall_ns, usage.cpu_ns, usage.cores), (1_000, 900, 1));
        assert_eq!((usage.busiest_thread_ns, usage.idle_ns_by_core), (Some(900), vec![20]));
        assert_eq!(usage.steal_ppm, Some(100_000));
    }
}
