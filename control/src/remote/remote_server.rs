//! A server on another machine: what a heat asks of a server, asked over the link.

use super::messages::{Answers, Clocks, ContenderResult, Number, Sample, Start, Started};
use super::remote_contender::RemoteContender;
use super::remote_machine::RemoteMachine;
use crate::fault::Fault;
use crate::machine::cores::Cores;
use crate::machine::cpu_time::{self, Times};
use crate::machine::other_load::{OtherLoad, Place};
use crate::server::origin::Origin;
use crate::server::tree::{Snapshot, ThreadClocks, Tree};
use load::Watch;
use model::Usage;
use model::environment::Executable;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// A server on another machine.
#[derive(Debug)]
pub struct RemoteServer {
    there: RemoteMachine,
    id: u64,
    address: SocketAddr,
    /// The program that it is.
    pub program: Option<Executable>,
    is_stopped: bool,
}

/// What is asked for when a server is started.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The cores that it may use.
    pub cpus: &'a [usize],
    /// How many connections it will have.
    pub connections: usize,
    /// The name of the file for its output.
    pub log: &'a str,
}

impl RemoteServer {
    /// Starts a contender there and waits until it answers there.
    pub fn start(contender: &RemoteContender, wanted: Wanted<'_>, stop: &AtomicBool) -> Result<Self, Fault> {
        let there = &contender.machine;
        let Wanted { cpus, connections, log } = wanted;
        let question = Start {
            id: contender.id,
            host: there.host(),
            cpus: cpus.to_vec(),
            connections,
            log: log.to_owned(),
        };
        match there.ask_at_length("servers.start", &question, stop, &mut |_| {})? {
            ContenderResult::Failed(why) => Err(Fault::Contender(why)),
            ContenderResult::Well(Started { server, port, program }) => {
                let address = SocketAddr::V4(SocketAddrV4::new(there.host(), port));
                Ok(Self { there: there.clone(), id: server, address, program, is_stopped: false })
            }
        }
    }

    /// Where requests to it go.
    pub fn origin(&self) -> Origin {
        Origin::from(self.address)
    }

    /// The number by which the agent there knows it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The machine that it is on.
    pub fn machine(&self) -> &RemoteMachine {
        &self.there
    }

    /// How it ended, if it has and the link is not lost.
    pub fn ended(&self) -> Option<String> {
        self.there.ask("servers.ended", &self.number()).ok().flatten()
    }

    /// What its processes have used and hold; nothing where the link is lost.
    pub fn snapshot(&self) -> Snapshot {
        self.there.ask("servers.snapshot", &self.number()).unwrap_or_default()
    }

    /// CPU time of each of its threads; nothing where the link is lost.
    pub fn thread_clocks(&self) -> ThreadClocks {
        let clocks: Clocks = self.there.ask("servers.clocks", &self.number()).unwrap_or_default();
        clocks.into_iter().collect()
    }

    /// The names of its programs and threads.
    pub fn names(&self) -> Vec<String> {
        self.there.ask("servers.names", &self.number()).unwrap_or_default()
    }

    /// The lab's failure, if that explains why it does not answer here: it answers on its own machine, or the link is lost.
    pub fn unreachable(&self, path: &str, why: &str) -> Option<Fault> {
        if let Some(lost) = self.there.lost() {
            return Some(lost);
        }
        let question = Answers { server: self.id, path: path.to_owned() };
        let answers: bool = self.there.ask("servers.answers", &question).ok()?;
        answers.then(|| Fault::Lab(cut_off(&self.there, self.address, why)))
    }

    /// Asks it to stop, once, and waits for nothing.
    pub fn ask_to_stop(&mut self) {
        let _: Result<(), Fault> = self.there.ask("servers.ask_to_stop", &self.number());
    }

    /// Stops it and checks that nothing is left of it there.
    pub fn stop(mut self) -> Result<(), String> {
        self.is_stopped = true;
        if self.there.lost().is_some() {
            // Everything there ends with the link.
            return Ok(());
        }
        let came: Result<Option<String>, Fault> = self.there.ask("servers.stop", &self.number());
        came.map_err(|fault| fault.to_string())?.map_or(Ok(()), Err)
    }

    /// Prepares to sample it during a measurement.
    pub fn sampler(&self, cores: &Cores) -> Option<RemoteSampler> {
        let question = Sample { server: self.id, cpus: cores.server.clone() };
        let sample: Number = self.there.ask("servers.sample", &question).ok()?;
        Some(RemoteSampler::start(self.there.clone(), sample, Here::now(&cores.client)))
    }

    fn number(&self) -> Number {
        Number { id: self.id }
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        if !self.is_stopped && self.there.lost().is_none() {
            let _: Result<Option<String>, Fault> = self.there.ask("servers.stop", &self.number());
        }
    }
}

/// Says that something which listens there can't be reached from here.
pub fn cut_off(there: &RemoteMachine, at: SocketAddr, why: &str) -> String {
    format!(
        "{} listens on {at} and is answered on its own machine, but not from here ({why}): a firewall or a route between the two \
         machines stands in the way. Let TCP and UDP from this machine reach the ports 12000 to 31999 of {}, check that the network is \
         up, or name another address with --server-address",
        there.name(),
        at.ip(),
    )
}

enum Edge {
    Opened,
    Closed(Sender<()>),
}

/// Samples a server on another machine over one measurement.
#[derive(Debug)]
pub struct RemoteSampler {
    there: RemoteMachine,
    sample: Number,
    edges: Sender<Edge>,
    thread: JoinHandle<()>,
    /// Before the load.
    here: Here,
}

/// A sample of what disturbs the load generator on this machine.
#[derive(Debug)]
struct Here {
    place: Place,
    others: OtherLoad,
    times: Option<Times>,
}

impl Here {
    fn now(client_cpus: &[usize]) -> Self {
        let place = Place::of(&[], client_cpus);
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let (own, times) = (Tree::Below(std::process::id() as i32), cpu_time::of_or_all(&stat, &place.cpus));
        Self { others: OtherLoad::now(&own, &place), place, times }
    }

    /// The usage with the larger disturbance of the two machines since this sample; unknown if it is unknown on one of them.
    fn added_to(&self, usage: Usage) -> Usage {
        let now = Self::now(&self.place.cpus);
        let worse = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.max(b));
        let steal_ppm = self.times.zip(now.times).and_then(|(then, now)| then.steal_ppm_until(now));
        Usage {
            others_ppm: worse(usage.others_ppm, now.others.others_ppm_since(&self.others)),
            steal_ppm: worse(usage.steal_ppm, steal_ppm),
            ..usage
        }
    }
}

impl RemoteSampler {
    fn start(there: RemoteMachine, sample: Number, here: Here) -> Self {
        let (edges, told) = channel();
        let of_thread = there.clone();
        // A worker at the beginning of its window must not wait for an answer.
        let thread = std::thread::spawn(move || {
            for edge in told {
                let (name, done) = match edge {
                    Edge::Opened => ("servers.sample_opened", None),
                    Edge::Closed(done) => ("servers.sample_closed", Some(done)),
                };
                let _: Result<(), Fault> = of_thread.ask(name, &sample);
                drop(done);
            }
        });
        Self { there, sample, edges, thread, here }
    }

    /// Makes the callback that tells the sampler of the window's edges.
    pub fn watch(&self) -> impl Watch + use<> {
        Edges { to: self.edges.clone() }
    }

    /// What was used within the window; `None` where that is not known.
    pub fn finish(self) -> Option<Usage> {
        let Self { there, sample, edges, thread, here } = self;
        drop(edges);
        let _ = thread.join();
        let usage: Option<Usage> = there.ask("servers.sample_end", &sample).ok().flatten();
        // If both are the same machine, the load generator itself would count as another program.
        let known = |usage: Usage| {
            if there.is_this_machine() { Usage { others_ppm: None, ..usage } } else { here.added_to(usage) }
        };
        usage.map(known)
    }
}

struct Edges {
    to: Sender<Edge>,
}

impl Watch for Edges {
    fn opened(&self) {
        let _ = self.to.send(Edge::Opened);
    }
    fn closed(&self) {
        let (done, is_done) = channel();
        let _ = self.to.send(Edge::Closed(done));
        // This returns only when the other side has taken its sample, so nothing later is in it.
        let _ = is_done.recv();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_disturbed_more_on_either_machine_counts_and_unknown_is_not_nothing() {
        let here = Here::now(&[]);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let far = Usage { others_ppm: Some(1_000_000_000), steal_ppm: Some(7), ..Usage::default() };
        let both = here.added_to(far.clone());
        assert!(both.others_ppm.is_none_or(|ppm| ppm == 1_000_000_000), "{both:?}");
        assert!(both.steal_ppm.is_none_or(|ppm| ppm >= 7), "{both:?}");
        let unknown = here.added_to(Usage { others_ppm: None, steal_ppm: None, ..far });
        assert_eq!((unknown.others_ppm, unknown.steal_ppm), (None, None));
    }
}
