//! A server on another machine: started, watched and stopped over the link.

use super::messages::{Lack, RemoteRequest, StartServer, Started};
use super::remote_machine::RemoteMachine;
use crate::fault::Fault;
use crate::machine::cores::Cores;
use crate::machine::cpu_time::{self, Times};
use crate::processes::other_load::OtherLoad;
use crate::processes::tree::{Snapshot, Tree};
use crate::processes::usage::{UsageLook, Watched};
use model::Usage;
use model::environment::Executable;
use serde::de::DeserializeOwned;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::atomic::AtomicBool;

/// A contender whose sources are in the cache folder of another machine.
#[derive(Clone, Debug)]
pub struct RemoteContender {
    /// The machine.
    pub machine: RemoteMachine,
    /// The number by which the agent there knows it.
    pub id: u64,
    /// Its version there, or what it lacks.
    pub version: Result<String, Lack>,
}

/// A server on another machine.
#[derive(Debug)]
pub struct RemoteServer {
    there: RemoteMachine,
    id: u64,
    address: SocketAddr,
    /// Its port with TLS, if it has one.
    pub tls_port: Option<u16>,
    /// The program that it is.
    pub program: Option<Executable>,
    is_stopped: bool,
}

impl RemoteServer {
    /// Starts a contender there and waits until it answers there.
    pub fn start(there: &RemoteMachine, start: StartServer, stop: &AtomicBool) -> Result<Self, Fault> {
        let started: Result<Started, String> =
            there.ask_at_length(&RemoteRequest::Start(start), stop, &mut |_| {})?;
        let Started { server, port, tls_port, program } = started.map_err(Fault::Contender)?;
        let address = SocketAddr::V4(SocketAddrV4::new(there.host(), port));
        Ok(Self { there: there.clone(), id: server, address, tls_port, program, is_stopped: false })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number by which the agent there knows it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The machine that it is on.
    pub fn machine(&self) -> &RemoteMachine {
        &self.there
    }

    /// Asks something that a request with its number asks.
    pub fn ask<A: DeserializeOwned>(&self, request: impl FnOnce(u64) -> RemoteRequest) -> Result<A, Fault> {
        self.there.ask(&request(self.id))
    }

    /// The lab's failure, if that explains why it does not answer here: it answers on its own machine, or the link is lost.
    pub fn unreachable(&self, path: &str, why: &str) -> Option<Fault> {
        if let Some(lost) = self.there.lost() {
            return Some(lost);
        }
        let answers: bool =
            self.there.ask(&RemoteRequest::Answers { server: self.id, path: path.to_owned() }).ok()?;
        answers.then(|| Fault::Lab(cut_off(&self.there, self.address, why)))
    }

    /// Stops it and checks that nothing is left of it there.
    pub fn stop(mut self) -> Result<(), String> {
        self.is_stopped = true;
        if self.there.lost().is_some() {
            // Everything there ends with the link.
            return Ok(());
        }
        let came: Result<Option<String>, Fault> = self.ask(RemoteRequest::Stop);
        came.map_err(|fault| fault.to_string())?.map_or(Ok(()), Err)
    }

    /// Begins to watch it, for a measurement; `None` where the link is lost.
    pub fn watched(&self, cores: &Cores) -> Option<impl Watched + use<>> {
        let there = self.there.clone();
        let watch =
            there.ask(&RemoteRequest::BeginWatch { server: self.id, cpus: cores.server.clone() }).ok()?;
        Some(RemoteWatched { there, server: self.id, watch, here: Here::now(&cores.client) })
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        if !self.is_stopped && self.there.lost().is_none() {
            let _: Result<Option<String>, Fault> = self.ask(RemoteRequest::Stop);
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

/// A server on another machine that is watched there, with what disturbs the load generator here.
#[derive(Debug)]
struct RemoteWatched {
    there: RemoteMachine,
    server: u64,
    watch: u64,
    /// Before the load.
    here: Here,
}

impl Watched for RemoteWatched {
    fn look(&self) -> Option<UsageLook> {
        self.there.ask(&RemoteRequest::Look(self.watch)).ok()
    }

    fn snapshot(&self) -> Snapshot {
        self.there.ask(&RemoteRequest::Snapshot(self.server)).unwrap_or_default()
    }

    fn with_disturbance(&self, usage: Usage) -> Usage {
        let others_ppm = self.there.ask(&RemoteRequest::EndWatch(self.watch)).ok().flatten();
        // If both are the same machine, the load generator itself would count as another program.
        if self.there.is_this_machine() {
            return usage;
        }
        self.here.added_to(Usage { others_ppm, ..usage })
    }
}

/// A sample of what disturbs the load generator on this machine.
#[derive(Debug)]
struct Here {
    cpus: Vec<usize>,
    others: OtherLoad,
    times: Option<Times>,
}

impl Here {
    fn now(cpus: &[usize]) -> Self {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let (own, times) = (Tree::Below(std::process::id() as i32), cpu_time::of_or_all(&stat, cpus));
        Self { others: OtherLoad::now(&own, cpus), cpus: cpus.to_vec(), times }
    }

    /// The usage with the larger disturbance of the two machines since this sample; unknown if it is unknown on one of them.
    fn added_to(&self, usage: Usage) -> Usage {
        let now = Self::now(&self.cpus);
        let worse = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.max(b));
        let steal_ppm = self.times.zip(now.times).and_then(|(then, now)| then.steal_ppm_until(now));
        Usage {
            others_ppm: worse(usage.others_ppm, now.others.others_ppm_since(&self.others)),
            steal_ppm: worse(usage.steal_ppm, steal_ppm),
            ..usage
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_disturbed_more_on_either_machine_counts_and_unknown_is_not_nothing() {
        let here = Here::now(&[]);
        std::thread::sleep(Duration::from_millis(20));
        let far = Usage { others_ppm: Some(1_000_000_000), steal_ppm: Some(7), ..Usage::default() };
        let both = here.added_to(far.clone());
        assert!(both.others_ppm.is_none_or(|ppm| ppm == 1_000_000_000), "{both:?}");
        assert!(both.steal_ppm.is_none_or(|ppm| ppm >= 7), "{both:?}");
        let unknown = here.added_to(Usage { others_ppm: None, steal_ppm: None, ..far });
        assert_eq!((unknown.others_ppm, unknown.steal_ppm), (None, None));
    }
}
