//! A server that is measured, whether drome started it or it already ran: what is asked of either, and what is done to it.

use crate::fault::Fault;
use crate::machine::cores::Cores;
use crate::machine::digest;
use crate::remote::RemoteMachine;
use crate::remote::remote_server::{RemoteSampler, RemoteServer};
use crate::server::likely_class;
use crate::server::local;
use crate::server::running::Running;
use crate::server::supervise::Server;
use crate::server::tree::{self, Snapshot, ThreadClocks, Tree};
use crate::server::usage::{Sampler, Watched};
use load::Watch;
use model::Usage;
use model::contender::Class;
use model::environment::Executable;

/// A server that is measured.
#[derive(Debug)]
pub enum AnyServer {
    /// drome has started it, pinned it to the servers' cores, and stops it.
    Owned(Box<Server>),
    /// It already ran, and goes on.
    Running(Running),
    /// An agent has started it on another machine, and stops it.
    Remote(RemoteServer),
}

/// Samples a server during one measurement, wherever it is.
#[derive(Debug)]
pub enum AnySampler {
    /// On this machine.
    Here(Sampler),
    /// On another one.
    Remote(RemoteSampler),
}

impl AnySampler {
    /// Makes the callback that tells the sampler of the window's edges.
    pub fn watch(&self) -> Box<dyn Watch> {
        match self {
            Self::Here(sampler) => Box::new(sampler.watch()),
            Self::Remote(sampler) => Box::new(sampler.watch()),
        }
    }

    /// What was used within the window; `None` when it did not open and close.
    pub fn finish(self) -> Option<Usage> {
        match self {
            Self::Here(sampler) => sampler.finish(),
            Self::Remote(sampler) => sampler.finish(),
        }
    }
}

impl AnyServer {
    /// Its processes on this machine; `None` where there are none, or they are not known.
    pub fn tree(&self) -> Option<Tree> {
        match self {
            Self::Owned(server) => Some(server.tree()),
            Self::Running(running) => running.pid().map(Tree::From),
            Self::Remote(_) => None,
        }
    }

    /// Its first process on this machine; `None` where there is none, or it is not known.
    pub fn pid(&self) -> Option<i32> {
        match self {
            Self::Owned(server) => Some(server.pid()),
            Self::Running(running) => running.pid(),
            Self::Remote(_) => None,
        }
    }

    /// The program that it is, where that is known.
    pub fn program(&self) -> Option<Executable> {
        match self {
            Self::Remote(remote) => remote.program.clone(),
            Self::Owned(_) | Self::Running(_) => self.pid().and_then(digest::executable),
        }
    }

    /// The server on the other machine, if it is on one.
    pub fn remote(&self) -> Option<&RemoteServer> {
        match self {
            Self::Remote(remote) => Some(remote),
            Self::Owned(_) | Self::Running(_) => None,
        }
    }

    /// What its processes have used and hold; nothing where they are not known.
    pub fn snapshot(&self) -> Snapshot {
        match self {
            Self::Remote(remote) => remote.snapshot(),
            Self::Owned(_) | Self::Running(_) => {
                self.tree().map(|tree| tree::snapshot(&tree)).unwrap_or_default()
            }
        }
    }

    /// CPU time of each of its threads; nothing where they are not known.
    pub fn thread_clocks(&self) -> ThreadClocks {
        match self {
            Self::Remote(remote) => remote.thread_clocks(),
            Self::Owned(_) | Self::Running(_) => {
                self.tree().map(|tree| tree::thread_clocks(&tree)).unwrap_or_default()
            }
        }
    }

    /// The class that its processes show; `None` where nothing is known of them. Of a server that already runs and whose processes are not
    /// known, the program that listens on this machine tells the class, unless it is native: such a program may pass requests on to one that is
    /// not.
    pub fn likely_class(&self) -> Option<Class> {
        let of = |names: Vec<String>| likely_class::class(names.iter().map(String::as_str));
        match (self, self.tree()) {
            // Without a name the link is lost.
            (Self::Remote(remote), _) => Some(remote.names()).filter(|names| !names.is_empty()).and_then(of),
            (_, Some(tree)) => of(likely_class::names(&tree)),
            (Self::Running(running), None) => {
                let listener = Tree::From(local::listener(running.origin.address)?);
                of(likely_class::names(&listener)).filter(|class| *class != Class::Native)
            }
            (Self::Owned(_), None) => None,
        }
    }

    /// The lab's failure, if it explains why the server does not answer: the link or the network is gone. `path` is requested on the
    /// server's own machine to find out.
    pub fn unreachable(&self, path: &str, why: &str) -> Option<Fault> {
        self.remote()?.unreachable(path, why)
    }

    /// The machine that it is on, where that is not this one.
    pub fn machine(&self) -> Option<&RemoteMachine> {
        self.remote().map(RemoteServer::machine)
    }

    /// The lab's failure, if the link to its machine is lost.
    pub fn lost(&self) -> Option<Fault> {
        self.machine()?.lost()
    }

    /// Whether it runs on the servers' cores and nowhere else.
    pub fn is_pinned(&self) -> bool {
        matches!(self, Self::Owned(_) | Self::Remote(_))
    }

    /// What is to be watched while it is loaded; `None` where its processes are not known, or not on this machine.
    pub fn watched(&self, cores: &Cores) -> Option<Watched> {
        match self {
            Self::Owned(server) => Some(Watched::pinned(server.tree(), cores)),
            Self::Running(running) => running.pid().map(|pid| Watched::free(pid, &cores.client)),
            Self::Remote(_) => None,
        }
    }

    /// Prepares to sample it while it is loaded; `None` where its processes are not known.
    pub fn sampler(&self, cores: &Cores) -> Option<AnySampler> {
        match self {
            Self::Remote(remote) => remote.sampler(cores).map(AnySampler::Remote),
            Self::Owned(_) | Self::Running(_) => {
                self.watched(cores).map(Sampler::start).map(AnySampler::Here)
            }
        }
    }

    /// What a report says of how its figures are taken, if that is not the usual way.
    pub fn caveat(&self) -> Option<&'static str> {
        match self {
            Self::Owned(server) => server.caveat(),
            Self::Running(_) | Self::Remote(_) => None,
        }
    }

    /// Its usage with the cores that it can use, where `usage` has those to which drome pins servers. How long cores were idle says
    /// nothing about a server that is not pinned to them.
    pub fn on_its_cores(&self, usage: Usage) -> Usage {
        match self {
            Self::Owned(_) | Self::Remote(_) => usage,
            Self::Running(running) => {
                let cores = running.pid().map_or(usage.cores, local::cores);
                Usage { cores, idle_ns_by_core: Vec::new(), ..usage }
            }
        }
    }

    /// How it ended, if it has and that is known.
    pub fn ended(&mut self) -> Option<String> {
        match self {
            Self::Owned(server) => server.ended(),
            Self::Running(running) => running.ended(),
            Self::Remote(remote) => remote.ended(),
        }
    }

    /// Asks it to stop, once, if drome started it, and waits for nothing.
    pub fn ask_to_stop(&mut self) {
        match self {
            Self::Owned(server) => server.ask_to_stop(),
            Self::Remote(remote) => remote.ask_to_stop(),
            Self::Running(_) => {}
        }
    }

    /// Stops it, if drome started it, and checks that nothing is left. An error is the contender's fault.
    pub fn stop(self) -> Result<(), String> {
        match self {
            Self::Owned(server) => server.stop(),
            Self::Running(_) => Ok(()),
            Self::Remote(remote) => remote.stop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::SocketAddr;
    use std::os::fd::OwnedFd;
    use std::process::{Command, Stdio};

    #[test]
    fn a_server_that_already_ran_is_neither_pinned_nor_stopped() {
        let own = std::process::id() as i32;
        let of = |pid| {
            let origin = SocketAddr::from(([127, 0, 0, 1], 81)).into();
            AnyServer::Running(Running::new(origin, pid).unwrap())
        };
        let usage = || Usage { cpu_ns: 7, cores: 0, idle_ns_by_core: vec![1], ..Usage::default() };
        let mut known = of(Some(own));
        known.ask_to_stop();
        assert_eq!((known.tree(), known.pid(), known.is_pinned()), (Some(Tree::From(own)), Some(own), false));
        let seen = known.on_its_cores(usage());
        assert!(seen.cores > 0 && seen.cpu_ns == 7 && seen.idle_ns_by_core.is_empty(), "{seen:?}");
        assert!(known.watched(&Cores::default()).is_some() && known.ended().is_none());
        assert_eq!(known.stop(), Ok(()));
        let unknown = of(None);
        assert_eq!((unknown.tree(), unknown.pid()), (None, None));
        assert!(unknown.watched(&Cores::default()).is_none());
    }

    #[test]
    fn of_a_server_whose_processes_are_not_known_only_a_listener_that_is_not_native_tells_the_class() {
        let unknown = |address: SocketAddr| AnyServer::Running(Running::new(address.into(), None).unwrap());
        // A native one may pass requests on to any other. This process has the children of other tests, so it is none.
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        let mut native = Command::new("sleep").arg("100").stdin(OwnedFd::from(socket)).spawn().unwrap();
        let of_native = unknown(address).likely_class();
        native.kill().unwrap();
        native.wait().unwrap();
        assert_eq!(of_native, None);
        let script = "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); sys.stdin.read()";
        let mut python = Command::new("python3");
        let mut child =
            python.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let found = unknown(SocketAddr::from(([127, 0, 0, 1], port.trim().parse().unwrap()))).likely_class();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(found, Some(Class::Managed));
    }
}
