//! Another machine for servers, seen from the one with the load generator: the link to it, and what it has said of itself.

use super::host;
use super::messages::{MachineFacts, PATIENCE_S, RemoteRequest, SERVERS};
use crate::fault::Fault;
use crate::machine::cores::Cores;
use crate::poll_while::poll_while;
use agent::{Link, LinkError};
use model::ServersOn;
use model::environment::{Environment, cpu_ranges};
use serde::de::DeserializeOwned;
use std::fmt::{Debug, Formatter};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Why another machine can't be used for servers.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct RemoteError(pub String);

impl From<Fault> for RemoteError {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

/// Another machine for servers. Handles are cheap to clone; when the last one is dropped, the agent there ends, with everything that it
/// started.
#[derive(Clone)]
pub struct RemoteMachine(Arc<Inner>);

struct Inner {
    link: Link,
    host: Ipv4Addr,
    machine: MachineFacts,
    is_this_machine: bool,
}

impl Debug for RemoteMachine {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteMachine({} at {})", self.name(), self.host())
    }
}

impl RemoteMachine {
    /// Opens the machine at the other end of `link`. Its servers listen on `address` or, without one, on the address by which the machine
    /// is reached.
    pub fn open(link: Link, address: Option<Ipv4Addr>) -> Result<Self, RemoteError> {
        let patience = Some(Duration::from_secs(PATIENCE_S));
        let machine: MachineFacts = link
            .ask(SERVERS, &RemoteRequest::Describe, patience, &mut |_| {})
            .map_err(|error| RemoteError(error.to_string()))?;
        let unknown = || {
            RemoteError(format!(
                "{} does not know the address by which it is reached from here: give one of its own with --server-address",
                link.name()
            ))
        };
        let host = address.or(machine.address).ok_or_else(unknown)?;
        let is_this_machine = match host::nearness(machine.boot.as_deref(), host::boot().as_deref()) {
            host::Nearness::SameProcesses => true,
            host::Nearness::Elsewhere => false,
            host::Nearness::Container => {
                return Err(RemoteError(format!(
                    "{} is on this very machine, in a container with a PID namespace of its own: its servers would share their cores with \
                     the load generator. Start the container with --pid=host, or race here without --server-on",
                    link.name()
                )));
            }
        };
        Ok(Self(Arc::new(Inner { link, host, machine, is_this_machine })))
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        self.0.link.name()
    }

    /// The address on which its servers listen.
    pub fn host(&self) -> Ipv4Addr {
        self.0.host
    }

    /// Whether it is this very machine.
    pub fn is_this_machine(&self) -> bool {
        self.0.is_this_machine
    }

    /// The agent's process, where it is one of this machine.
    pub fn process(&self) -> Option<i32> {
        self.is_this_machine().then_some(self.0.link.hello().pid as i32)
    }

    /// The cores: servers have all of the other machine, the load generator all of this one, as far as limits of CPU
    /// time allow. If both are the same machine, its cores are divided as always.
    pub fn cores(&self) -> Cores {
        if self.is_this_machine() {
            let [client, server] = self.0.machine.halves.clone();
            return Cores { server, client, ..Cores::deal() };
        }
        Cores { server: self.0.machine.environment.server_cpus.clone(), ..Cores::of_load_alone() }
    }

    /// The run's environment: this machine with its load generator, the other one with its servers.
    pub fn environment(&self, here: Environment) -> Environment {
        let (cores, hello) = (self.cores(), self.0.link.hello());
        let mut there = self.0.machine.environment.clone();
        there.server_cpus.clone_from(&cores.server);
        let on = ServersOn {
            name: self.name().to_owned(),
            address: self.host().to_string(),
            host: hello.host.clone(),
            os: hello.os.clone(),
            arch: hello.arch.clone(),
            is_this_machine: self.is_this_machine(),
            environment: there,
            network: None,
        };
        let notes_there =
            on.environment.core_notes.iter().map(|note| format!("on the other machine, {note}"));
        let notes: Vec<String> = cores.notes.into_iter().chain(notes_there).collect();
        let note = if self.is_this_machine() {
            "the servers are on this very machine, too, and its cores are divided between them and the load generator".to_owned()
        } else {
            format!("servers have the cores {} of the other machine", cpu_ranges(&cores.server))
        };
        Environment {
            server_cpus: cores.server,
            client_cpus: cores.client,
            idle_cpus: cores.idle,
            core_notes: notes.into_iter().chain([note]).collect(),
            servers_on: Some(Box::new(on)),
            ..here
        }
    }

    /// Asks something that the other side answers soon.
    pub fn ask<A: DeserializeOwned>(&self, request: &RemoteRequest) -> Result<A, Fault> {
        let patience = Some(Duration::from_secs(PATIENCE_S));
        self.0.link.ask(SERVERS, request, patience, &mut |_| {}).map_err(|error| self.fault(&error))
    }

    /// Asks something that may take long, until the user asks to stop.
    pub fn ask_at_length<A: DeserializeOwned>(
        &self,
        request: &RemoteRequest,
        stop: &AtomicBool,
        events: &mut dyn FnMut(serde_json::Value),
    ) -> Result<A, Fault> {
        let stopped = || {
            if stop.load(Ordering::Relaxed) {
                self.0.link.stop();
            }
            // The request itself may still be on its way: it is asked to stop again and again.
            false
        };
        let answer = poll_while(stopped, || self.0.link.ask(SERVERS, request, None, events));
        answer.map_err(|error| self.fault(&error))
    }

    /// Does work, and sets `halted` as soon as the link is lost meanwhile, however long the work takes.
    pub fn while_linked<T>(&self, halted: &AtomicBool, work: impl FnOnce() -> T) -> T {
        let lost = || {
            let is_lost = self.0.link.lost().is_some();
            if is_lost {
                halted.store(true, Ordering::Relaxed);
            }
            is_lost
        };
        poll_while(lost, work)
    }

    /// Runs the command that comes before a start.
    pub fn run_prepare(&self, command: &str, log: &str, stop: &AtomicBool) -> Result<(), Fault> {
        let request = RemoteRequest::Prepare { command: command.to_owned(), log: log.to_owned() };
        self.ask_at_length::<Result<(), String>>(&request, stop, &mut |_| {})?.map_err(Fault::Contender)
    }

    /// The lab's failure, if the link is lost.
    pub fn lost(&self) -> Option<Fault> {
        self.0.link.lost().map(|why| self.is_gone(&why))
    }

    fn is_gone(&self, why: &str) -> Fault {
        Fault::Lab(format!(
            "the link to {} is lost: {why}. Its servers end there by themselves; when the machine can be reached again, go on with \
             --resume, or start a race or a sweep again",
            self.name()
        ))
    }

    fn fault(&self, error: &LinkError) -> Fault {
        match error {
            LinkError::Lost { why, .. } => self.is_gone(why),
            LinkError::Refused(why) => Fault::Lab(format!("{}: {why}", self.name())),
            other => Fault::Lab(other.to_string()),
        }
    }
}
