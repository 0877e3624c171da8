//! Samples what the server uses while it is measured. A thread reads its processes' figures when the window opens and at intervals; the
//! last reading is taken by the worker that closes the window, so that nothing later is in it.

use crate::locked;
use crate::machine::cores::Cores;
use crate::machine::cpu_time::{self, Times};
use crate::processes::local;
use crate::processes::other_load::OtherLoad;
use crate::processes::tree::{self, ListedClocks, Snapshot, Switches, ThreadClocks, Tree};
use load::{Both, Watch};
use model::Usage;
use net::clock;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often memory is sampled. A look costs the load generator's core some hundred microseconds.
const INTERVAL: Duration = Duration::from_millis(200);

/// A server that is watched while it is loaded, wherever it is.
pub trait Watched: Debug + Send + Sync {
    /// Reads everything that is known at this moment; `None` where it can't be read.
    fn look(&self) -> Option<UsageLook>;
    /// Reads only what it holds.
    fn snapshot(&self) -> Snapshot;
    /// The usage with what disturbed the measurement since the watching began.
    fn with_disturbance(&self, usage: Usage) -> Usage;
}

/// A server on this machine that is watched.
#[derive(Clone, Debug)]
pub struct WatchedHere {
    /// The server's processes.
    tree: Tree,
    /// The number of cores that they may run on.
    cores: usize,
    /// The cores that they are pinned to and that no other program is meant to use; empty where they are not pinned.
    pinned_to: Vec<usize>,
    /// The cores on which other programs would disturb the measurement; empty: all.
    used: Vec<usize>,
    /// Before the load.
    before: OtherLoad,
}

impl WatchedHere {
    /// Watches a server that drome has started on its side of the cores.
    pub fn pinned(tree: Tree, cores: &Cores) -> Self {
        Self::begin(tree, cores.server.len(), cores.server.clone(), cores.used())
    }

    /// Watches a server that a user has started, and a load generator on these CPUs.
    pub fn free(pid: i32, client: &[usize]) -> Self {
        let cores = Cores { server: net::cpu::allowed_to(pid), client: client.to_vec(), ..Cores::default() };
        // If the CPUs that it may use can't be read, it may run anywhere.
        let used = if cores.server.is_empty() { Vec::new() } else { cores.used() };
        Self::begin(Tree::From(pid), local::cores(pid), Vec::new(), used)
    }

    fn begin(tree: Tree, cores: usize, pinned_to: Vec<usize>, used: Vec<usize>) -> Self {
        let before = OtherLoad::now(&tree, &used);
        Self { tree, cores, pinned_to, used, before }
    }

    /// The share of the cores' time that others used since the watching began, in millionths.
    pub fn others_ppm(&self) -> Option<u64> {
        OtherLoad::now(&self.tree, &self.used).others_ppm_since(&self.before)
    }
}

impl Watched for WatchedHere {
    fn look(&self) -> Option<UsageLook> {
        Some(UsageLook {
            at_ns: clock::now_ns(),
            cores: self.cores,
            machine: std::fs::read_to_string("/proc/stat")
                .map_or_else(|_| Machine::default(), |text| Machine::of(&text, self)),
            clocks: tree::listed_clocks(&self.tree),
            used: tree::snapshot(&self.tree),
            switches: tree::switches(&self.tree),
        })
    }

    fn snapshot(&self) -> Snapshot {
        tree::snapshot(&self.tree)
    }

    fn with_disturbance(&self, usage: Usage) -> Usage {
        Usage { others_ppm: self.others_ppm(), ..usage }
    }
}

enum Edge {
    Opened,
    Closed(Option<Box<UsageLook>>),
}

/// What a server has used since the window opened, while it is measured.
#[derive(Clone, Debug)]
pub struct UsageSoFar {
    /// The times, the cores and the maxima; nothing else is known yet.
    pub usage: Usage,
    /// The memory that it holds; `None`: all of its processes have ended.
    pub rss_bytes: Option<u64>,
}

/// Samples a server during one measurement.
#[derive(Debug)]
pub struct Sampler {
    watched: Arc<dyn Watched>,
    edges: Sender<Edge>,
    so_far: Arc<Mutex<Option<UsageSoFar>>>,
    thread: JoinHandle<Option<Usage>>,
}

impl Sampler {
    /// Prepares to sample all processes of a server.
    pub fn start(watched: impl Watched + 'static) -> Self {
        let (edges, receiver) = channel();
        let watched: Arc<dyn Watched> = Arc::new(watched);
        let so_far = Arc::default();
        let of_thread = (Arc::clone(&watched), Arc::clone(&so_far));
        let thread = std::thread::spawn(move || look(&receiver, &*of_thread.0, &of_thread.1));
        Self { watched, edges, so_far, thread }
    }

    /// What was used by the last sample; `None` before the first one in the window.
    pub fn so_far(&self) -> Option<UsageSoFar> {
        locked(&self.so_far).clone()
    }

    /// What was used within the window; `None` when it did not open and close.
    pub fn finish(self) -> Option<Usage> {
        drop(self.edges);
        self.thread.join().ok().flatten()
    }

    /// Samples the server while `run` loads it with the watch that it is given, which passes all moments on to `watch`, too. Without a sampler
    /// nothing is known of what the server uses.
    pub fn around<T>(
        sampler: Option<Self>,
        watch: &dyn Watch,
        run: impl FnOnce(&dyn Watch) -> T,
    ) -> (T, Option<Usage>) {
        let Some(sampler) = sampler else { return (run(watch), None) };
        let result = run(&Both(watch, &sampler.watch()));
        (result, sampler.finish())
    }

    /// Makes the callback that tells the sampler of the window's edges.
    pub fn watch(&self) -> impl Watch + use<> {
        Edges { watched: Arc::clone(&self.watched), to: self.edges.clone() }
    }
}

struct Edges {
    watched: Arc<dyn Watched>,
    to: Sender<Edge>,
}

impl Watch for Edges {
    fn opened(&self) {
        let _ = self.to.send(Edge::Opened);
    }
    fn closed(&self) {
        let _ = self.to.send(Edge::Closed(self.watched.look().map(Box::new)));
    }
}

/// Everything that is known at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageLook {
    at_ns: u64,
    /// The number of cores that the server may run on.
    cores: usize,
    machine: Machine,
    clocks: ListedClocks,
    used: Snapshot,
    switches: Switches,
}

/// The machine's times up to now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Machine {
    /// The times of the CPUs of server and load generator.
    times: Option<Times>,
    /// The idle time of each of the server's cores.
    idle_ns: Vec<u64>,
}

impl Machine {
    /// Parses the text of `/proc/stat`.
    fn of(stat: &str, watched: &WatchedHere) -> Self {
        let idle_ns = |cpu: &usize| {
            cpu_time::of_one(stat, *cpu).map(|times| times.idle.saturating_mul(cpu_time::tick_ns()))
        };
        Self {
            times: cpu_time::of_or_all(stat, &watched.used),
            idle_ns: watched.pinned_to.iter().map(idle_ns).collect::<Option<_>>().unwrap_or_default(),
        }
    }
}

fn look(edges: &Receiver<Edge>, watched: &dyn Watched, so_far: &Mutex<Option<UsageSoFar>>) -> Option<Usage> {
    while !matches!(edges.recv().ok()?, Edge::Opened) {}
    let first = watched.look()?;
    let mut usage = Usage::default();
    loop {
        match edges.recv_timeout(INTERVAL) {
            Err(RecvTimeoutError::Timeout) | Ok(Edge::Opened) => {
                let (used, at_ns, known_ns) = (watched.snapshot(), clock::now_ns(), usage.cpu_ns);
                hold_most(&mut usage, &used);
                spend(&mut usage, &first, at_ns, &used);
                // The time of processes that have ended may be gone from the sum.
                usage.cpu_ns = usage.cpu_ns.max(known_ns);
                let rss_bytes = (used.processes > 0).then_some(used.rss_bytes);
                *locked(so_far) = Some(UsageSoFar { usage: usage.clone(), rss_bytes });
            }
            Err(RecvTimeoutError::Disconnected) => return None,
            Ok(Edge::Closed(last)) => {
                let last = last?;
                hold_most(&mut usage, &last.used);
                between(&mut usage, &first, &last);
                return Some(watched.with_disturbance(usage));
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

/// Computes the times since the first look, and the cores.
fn spend(usage: &mut Usage, first: &UsageLook, at_ns: u64, used: &Snapshot) {
    usage.wall_ns = at_ns.saturating_sub(first.at_ns);
    // A server of one thread can't use a second core.
    usage.cores = first.cores.min(usage.threads_max as usize).max(1);
    usage.cpu_ns = used.cpu_ns.saturating_sub(first.used.cpu_ns);
}

/// Computes what was used from the first look to the last.
fn between(usage: &mut Usage, first: &UsageLook, last: &UsageLook) {
    spend(usage, first, last.at_ns, &last.used);
    let [then, now] = [first, last].map(|look| look.clocks.iter().copied().collect::<ThreadClocks>());
    usage.busiest_thread_ns = tree::busiest_thread_ns(&then, &now, usage.cpu_ns);
    usage.switches_voluntary = last.switches.voluntary.checked_sub(first.switches.voluntary);
    usage.switches_involuntary = last.switches.involuntary.checked_sub(first.switches.involuntary);
    let times = first.machine.times.zip(last.machine.times);
    usage.steal_ppm = times.and_then(|(then, now)| then.steal_ppm_until(now));
    let idle = first.machine.idle_ns.iter().zip(&last.machine.idle_ns);
    usage.idle_ns_by_core = idle.map(|(then, now)| now.saturating_sub(*then)).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    fn watched(server: &[usize], client: &[usize]) -> WatchedHere {
        let cores = Cores { server: server.to_vec(), client: client.to_vec(), ..Cores::default() };
        WatchedHere::pinned(Tree::From(1), &cores)
    }

    #[test]
    fn idle_time_is_of_the_cores_that_the_server_has_and_the_hosts_of_both_sides() {
        let stat = "cpu  30 0 0 70 20 0 0 10 0 0\ncpu0 10 0 0 60 5 0 0 0 0 0\ncpu3 20 0 0 10 15 0 0 10 0 0\nctxt 1\n";
        let of = |server: &[usize], client: &[usize]| Machine::of(stat, &watched(server, client));
        assert_eq!(of(&[3], &[0]).idle_ns, [25 * cpu_time::tick_ns()]);
        assert_eq!(of(&[0, 3], &[]).idle_ns, [65, 25].map(|ticks| ticks * cpu_time::tick_ns()));
        assert_eq!(of(&[0, 1], &[]).idle_ns, [0; 0], "core 1 is not there");
        let steal = |server: &[usize], client: &[usize]| of(server, client).times.map(|times| times.steal);
        assert_eq!((steal(&[0], &[0]), steal(&[0], &[3]), steal(&[], &[])), (Some(0), Some(10), Some(10)));
        assert_eq!(Machine::of("", &watched(&[0], &[1])), Machine::default());
    }

    #[test]
    fn a_server_that_has_one_thread_before_the_load_can_use_more_cores_under_it() {
        // It starts three processes when it is asked to, and all end with its input.
        let script = "exec 3<&0; read line; cat <&3 & cat <&3 & cat <&3 & echo; wait";
        let mut server = Command::new("sh");
        server.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.spawn().unwrap();
        let sampler = Sampler::start(WatchedHere::free(server.id() as i32, &[]));
        let watch = sampler.watch();
        server.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        server.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        watch.opened();
        watch.closed();
        let usage = sampler.finish().unwrap();
        drop(server.stdin.take());
        server.wait().unwrap();
        assert_eq!((usage.threads_max, usage.cores), (4, net::cpu::allowed().len().min(4)));
    }

    #[test]
    fn what_was_used_is_what_lies_between_two_looks() {
        let look = |at_ns, cpu_ns, thread_ns, idle_ns| UsageLook {
            at_ns,
            cores: 1,
            machine: Machine {
                times: Some(Times { all: at_ns, idle: 0, steal: at_ns / 10 }),
                idle_ns: vec![idle_ns],
            },
            clocks: vec![((1, 1), thread_ns)],
            used: Snapshot { cpu_ns, ..Snapshot::default() },
            switches: Switches::default(),
        };
        let mut usage = Usage::default();
        between(&mut usage, &look(1_000, 500, 400, 70), &look(2_000, 1_400, 1_300, 90));
        assert_eq!((usage.wall_ns, usage.cpu_ns, usage.cores), (1_000, 900, 1));
        assert_eq!((usage.busiest_thread_ns, usage.idle_ns_by_core), (Some(900), vec![20]));
        assert_eq!(usage.steal_ppm, Some(100_000));
    }
}
