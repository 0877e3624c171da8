//! A server that is measured, wherever it is and whoever started it: what is asked of it, and what is done to it.

use crate::fault::Fault;
use crate::machine::cores::Cores;
use crate::machine::digest;
use crate::prepare::running::RunningServer;
use crate::processes::likely_class;
use crate::processes::local;
use crate::processes::tree::{self, ListedClocks, Snapshot, ThreadClocks, Tree};
use crate::processes::usage::{Sampler, WatchedHere};
use crate::remote::messages::RemoteRequest;
use crate::remote::remote_server::RemoteServer;
use crate::supervise::GuardedProcess;
use model::Usage;
use model::contender::Class;
use model::environment::Executable;
use std::fmt::Debug;

/// A server that is measured. [`GuardedProcess`]: drome has started it, pinned it to the servers' cores, and stops it. [`RunningServer`]: it already ran,
/// and goes on. [`RemoteServer`]: an agent has started it on another machine, and stops it.
pub trait AnyServer: Debug + Send {
    /// Its first process on this machine; `None` where there is none, or it is not known.
    fn pid(&self) -> Option<i32> {
        None
    }

    /// Its processes on this machine; `None` where there are none, or they are not known.
    fn tree(&self) -> Option<Tree> {
        self.pid().map(Tree::From)
    }

    /// The program that it is, where that is known.
    fn program(&self) -> Option<Executable> {
        self.pid().and_then(digest::executable)
    }

    /// The server on the other machine, if it is on one.
    fn remote(&self) -> Option<&RemoteServer> {
        None
    }

    /// What its processes have used and hold; nothing where they are not known.
    fn snapshot(&self) -> Snapshot {
        self.tree().map(|tree| tree::snapshot(&tree)).unwrap_or_default()
    }

    /// CPU time of each of its threads; nothing where they are not known.
    fn thread_clocks(&self) -> ThreadClocks {
        self.tree().map(|tree| tree::thread_clocks(&tree)).unwrap_or_default()
    }

    /// The class that its processes show; `None` where nothing is known of them.
    fn likely_class(&self) -> Option<Class> {
        likely_class::of(&self.tree()?)
    }

    /// Whether it runs on the servers' cores and nowhere else.
    fn is_pinned(&self) -> bool {
        true
    }

    /// Prepares to sample it while it is loaded; `None` where its processes are not known.
    fn sampler(&self, cores: &Cores) -> Option<Sampler>;

    /// What a report says of how its figures are taken, if that is not the usual way.
    fn caveat(&self) -> Option<&'static str> {
        None
    }

    /// Its usage with the cores that it can use, where `usage` has those to which drome pins servers.
    fn on_its_cores(&self, usage: Usage) -> Usage {
        usage
    }

    /// The lab's failure, if it explains why the server does not answer: the link or the network is gone. `path` is requested on the
    /// server's own machine to find out.
    fn unreachable(&self, path: &str, why: &str) -> Option<Fault> {
        self.remote()?.unreachable(path, why)
    }

    /// How it ended, if it has and that is known.
    fn ended(&mut self) -> Option<String>;

    /// Asks it to stop, once, if drome started it, and waits for nothing.
    fn ask_to_stop(&mut self) {}

    /// Stops it, if drome started it, and checks that nothing is left. An error is the contender's fault.
    fn stop(self: Box<Self>) -> Result<(), String> {
        Ok(())
    }
}

impl AnyServer for GuardedProcess {
    fn pid(&self) -> Option<i32> {
        Some(GuardedProcess::pid(self))
    }

    fn tree(&self) -> Option<Tree> {
        Some(GuardedProcess::tree(self))
    }

    fn sampler(&self, cores: &Cores) -> Option<Sampler> {
        Some(Sampler::start(WatchedHere::pinned(GuardedProcess::tree(self), cores)))
    }

    fn caveat(&self) -> Option<&'static str> {
        GuardedProcess::caveat(self)
    }

    fn ended(&mut self) -> Option<String> {
        GuardedProcess::ended(self)
    }

    fn ask_to_stop(&mut self) {
        GuardedProcess::ask_to_stop(self);
    }

    fn stop(self: Box<Self>) -> Result<(), String> {
        GuardedProcess::stop(*self)
    }
}

impl AnyServer for RunningServer {
    fn pid(&self) -> Option<i32> {
        RunningServer::pid(self)
    }

    /// Where its processes are not known, the program that listens on this machine tells the class, unless it is native: such a program may
    /// pass requests on to one that is not.
    fn likely_class(&self) -> Option<Class> {
        if let Some(pid) = RunningServer::pid(self) {
            return likely_class::of(&Tree::From(pid));
        }
        let listener = Tree::From(local::listener(self.origin.address)?);
        likely_class::of(&listener).filter(|class| *class != Class::Native)
    }

    fn is_pinned(&self) -> bool {
        false
    }

    fn sampler(&self, cores: &Cores) -> Option<Sampler> {
        RunningServer::pid(self).map(|pid| Sampler::start(WatchedHere::free(pid, &cores.client)))
    }

    /// How long cores were idle says nothing about a server that is not pinned to them.
    fn on_its_cores(&self, usage: Usage) -> Usage {
        let may_use = RunningServer::pid(self).map_or(usage.cores, local::cores);
        let cores = may_use.min(usage.threads_max as usize).max(1);
        Usage { cores, idle_ns_by_core: Vec::new(), ..usage }
    }

    fn ended(&mut self) -> Option<String> {
        RunningServer::ended(self)
    }
}

impl AnyServer for RemoteServer {
    fn program(&self) -> Option<Executable> {
        self.program.clone()
    }

    fn remote(&self) -> Option<&RemoteServer> {
        Some(self)
    }

    fn snapshot(&self) -> Snapshot {
        self.ask(RemoteRequest::Snapshot).unwrap_or_default()
    }

    fn thread_clocks(&self) -> ThreadClocks {
        let clocks: ListedClocks = self.ask(RemoteRequest::ThreadClocks).unwrap_or_default();
        clocks.into_iter().collect()
    }

    fn likely_class(&self) -> Option<Class> {
        self.ask(RemoteRequest::LikelyClass).ok().flatten()
    }

    fn sampler(&self, cores: &Cores) -> Option<Sampler> {
        self.watched(cores).map(Sampler::start)
    }

    fn ended(&mut self) -> Option<String> {
        self.ask(RemoteRequest::Ended).ok().flatten()
    }

    fn ask_to_stop(&mut self) {
        let _: Result<(), Fault> = self.ask(RemoteRequest::AskToStop);
    }

    fn stop(self: Box<Self>) -> Result<(), String> {
        RemoteServer::stop(*self)
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
            let running: Box<dyn AnyServer> = Box::new(RunningServer::new(origin, pid).unwrap());
            running
        };
        let usage = || Usage { cpu_ns: 7, cores: 0, idle_ns_by_core: vec![1], ..Usage::default() };
        let mut known = of(Some(own));
        known.ask_to_stop();
        assert_eq!((known.tree(), known.pid(), known.is_pinned()), (Some(Tree::From(own)), Some(own), false));
        let seen = known.on_its_cores(usage());
        assert!(seen.cores > 0 && seen.cpu_ns == 7 && seen.idle_ns_by_core.is_empty(), "{seen:?}");
        assert!(known.sampler(&Cores::default()).is_some() && known.ended().is_none());
        assert_eq!(known.stop(), Ok(()));
        let unknown = of(None);
        assert_eq!((unknown.tree(), unknown.pid()), (None, None));
        assert!(unknown.sampler(&Cores::default()).is_none());
    }

    #[test]
    fn a_server_that_already_ran_can_use_as_many_cores_as_it_had_threads_under_load() {
        let mut server = Command::new("sleep").arg("100").spawn().unwrap();
        let origin = SocketAddr::from(([127, 0, 0, 1], 81)).into();
        let running = RunningServer::new(origin, Some(server.id() as i32)).unwrap();
        let cores = |threads_max| running.on_its_cores(Usage { threads_max, ..Usage::default() }).cores;
        let found = [1, 3].map(cores);
        server.kill().unwrap();
        server.wait().unwrap();
        assert_eq!(found, [1, net::cpu::allowed().len().min(3)]);
    }

    #[test]
    fn of_a_server_whose_processes_are_not_known_only_a_listener_that_is_not_native_tells_the_class() {
        let unknown = |address: SocketAddr| RunningServer::new(address.into(), None).unwrap();
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
