//! A server that is measured, whether drome started it or it already ran: what is asked of either, and what is done to it.

use crate::machine::cores::Cores;
use crate::server::local;
use crate::server::running::Running;
use crate::server::supervise::Server;
use crate::server::tree::Tree;
use crate::server::usage::Watched;
use model::Usage;

/// A server that is measured.
#[derive(Debug)]
pub enum AnyServer {
    /// drome has started it, pinned it to the servers' cores, and stops it.
    Owned(Box<Server>),
    /// It already ran, and goes on.
    Running(Running),
}

impl AnyServer {
    /// Its processes; `None` where they are not known.
    pub fn tree(&self) -> Option<Tree> {
        match self {
            Self::Owned(server) => Some(server.tree()),
            Self::Running(running) => running.pid().map(Tree::From),
        }
    }

    /// Its first process; `None` where it is not known.
    pub fn pid(&self) -> Option<i32> {
        match self {
            Self::Owned(server) => Some(server.pid()),
            Self::Running(running) => running.pid(),
        }
    }

    /// Whether it runs on the servers' cores and nowhere else.
    pub fn is_pinned(&self) -> bool {
        matches!(self, Self::Owned(_))
    }

    /// What is to be watched while it is loaded; `None` where its processes are not known.
    pub fn watched(&self, cores: &Cores) -> Option<Watched> {
        match self {
            Self::Owned(server) => Some(Watched::pinned(server.tree(), cores)),
            Self::Running(running) => running.pid().map(|pid| Watched::free(pid, &cores.client)),
        }
    }

    /// What a report says of how its figures are taken, if that is not the usual way.
    pub fn caveat(&self) -> Option<&'static str> {
        match self {
            Self::Owned(server) => server.caveat(),
            Self::Running(_) => None,
        }
    }

    /// Its usage with the cores that it can use, where `usage` has those to which drome pins servers. How long cores were idle says
    /// nothing about a server that is not pinned to them.
    pub fn on_its_cores(&self, usage: Usage) -> Usage {
        match self {
            Self::Owned(_) => usage,
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
        }
    }

    /// Asks it to stop, once, if drome started it, and waits for nothing.
    pub fn ask_to_stop(&mut self) {
        if let Self::Owned(server) = self {
            server.ask_to_stop();
        }
    }

    /// Stops it, if drome started it, and checks that nothing is left. An error is the contender's fault.
    pub fn stop(self) -> Result<(), String> {
        match self {
            Self::Owned(server) => server.stop(),
            Self::Running(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

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
}
