//! What the server uses while it is measured. A thread looks at its processes when the window opens, now and
//! then, and when it closes.

use crate::beside::Beside;
use crate::tree::{self, Tree};
use load::Watch;
use model::Usage;
use net::clock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often memory is looked at. A look costs the load generator's core some hundred microseconds.
const INTERVAL: Duration = Duration::from_millis(200);

enum Edge {
    Opened,
    Closed,
}

/// Looks at a process tree for one measurement.
#[derive(Debug)]
pub struct Sampler {
    edges: Sender<Edge>,
    thread: JoinHandle<Option<Usage>>,
}

impl Sampler {
    /// Ready to look at all processes of a server, which may use `cores` cores.
    pub fn start(tree: Tree, cores: usize) -> Self {
        let (edges, receiver) = channel();
        // Here, and not in the thread: it must be over before the load begins.
        let before = Beside::now(tree);
        Self { edges, thread: std::thread::spawn(move || look(&receiver, tree, cores, before)) }
    }

    /// What was used within the window; `None` when it did not open and close.
    pub fn finish(self) -> Option<Usage> {
        drop(self.edges);
        self.thread.join().ok().flatten()
    }

    /// Tells the sampler of the window's edges.
    pub fn watch(&self) -> impl Watch + use<> {
        Edges(self.edges.clone())
    }
}

struct Edges(Sender<Edge>);

impl Watch for Edges {
    fn opened(&self) {
        let _ = self.0.send(Edge::Opened);
    }
    fn closed(&self) {
        let _ = self.0.send(Edge::Closed);
    }
}

fn look(edges: &Receiver<Edge>, tree: Tree, cores: usize, before: Beside) -> Option<Usage> {
    while !matches!(edges.recv().ok()?, Edge::Opened) {}
    let (start_ns, first, steal) = (clock::now_ns(), tree::snapshot(tree), machine_times());
    let switches = tree::switches(tree);
    let mut usage = Usage { cores, ..Usage::default() };
    loop {
        let edge = edges.recv_timeout(INTERVAL);
        let (now_ns, snapshot) = (clock::now_ns(), tree::snapshot(tree));
        usage.rss_max_bytes = usage.rss_max_bytes.max(snapshot.rss_bytes);
        usage.virtual_max_bytes = usage.virtual_max_bytes.max(snapshot.virtual_bytes);
        usage.threads_max = usage.threads_max.max(snapshot.threads);
        usage.processes_max = usage.processes_max.max(snapshot.processes);
        match edge {
            Err(RecvTimeoutError::Timeout) | Ok(Edge::Opened) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
            Ok(Edge::Closed) => {
                let last = tree::switches(tree);
                usage.wall_ns = now_ns - start_ns;
                // A server of one thread can't use a second core.
                usage.cores = cores.min(usage.threads_max as usize).max(1);
                usage.cpu_ns = snapshot.cpu_ns.saturating_sub(first.cpu_ns);
                usage.switches_voluntary = last.voluntary.checked_sub(switches.voluntary);
                usage.switches_involuntary = last.involuntary.checked_sub(switches.involuntary);
                usage.steal_ppm = steal_ppm(steal, machine_times());
                usage.others_ppm =
                    machine_cores().and_then(|cores| Beside::now(tree).others_ppm_since(&before, cores));
                return Some(usage);
            }
        }
    }
}

/// All cores of the machine, whoever may use them.
fn machine_cores() -> Option<usize> {
    use procfs::CurrentSI;
    Some(procfs::KernelStats::current().ok()?.cpu_time.len())
}

/// All time and stolen time of the machine, in ticks.
fn machine_times() -> Option<(u64, u64)> {
    use procfs::CurrentSI;
    let cpu = procfs::KernelStats::current().ok()?.total;
    let steal = cpu.steal?;
    let known = [cpu.iowait, cpu.irq, cpu.softirq].into_iter().flatten().sum::<u64>();
    Some((cpu.user + cpu.nice + cpu.system + cpu.idle + known + steal, steal))
}

fn steal_ppm(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> Option<u64> {
    let ((all_0, steal_0), (all_1, steal_1)) = (before?, after?);
    let all = all_1.checked_sub(all_0).filter(|all| *all > 0)?;
    Some(steal_1.saturating_sub(steal_0) * 1_000_000 / all)
}
