//! The reference server: the same few bytes as every contender, on drome's own I/O, and nothing else that
//! costs time. It measures what this machine could do at best, and its faults are known truths for tests.

mod fault;
mod site;
mod worker;

pub use fault::{Delay, Fault, FaultError, Faults, Framing, Mishap, Stall, Trickle, help as fault_help};
pub use site::Site;

use fault::Outbox;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// How the server is run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens; port 0: any free one.
    pub address: SocketAddr,
    /// Threads, each with its own listener on the same port.
    pub threads: usize,
    /// Busy for so long for every request.
    pub spin: Duration,
    /// What it does wrong on purpose.
    pub faults: Faults,
    /// What drives the sockets; none: what is best.
    pub io: Option<BackEnd>,
}

/// What drives the sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BackEnd {
    Epoll,
    Uring,
}

/// A server that listens and does not yet answer.
#[derive(Debug)]
pub struct Server {
    config: Config,
    listeners: Vec<OwnedFd>,
    address: SocketAddr,
}

impl Server {
    /// Listens.
    pub fn bind(config: Config) -> std::io::Result<Self> {
        ensure_free(&config.address)?;
        let first = net::socket::listener(&config.address)?;
        let address = net::socket::local_address(&first)?;
        let mut listeners = vec![first];
        for _ in 1..config.threads {
            listeners.push(net::socket::listener(&address)?);
        }
        Ok(Self { config, listeners, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` is set; what was received until then is answered, if no fault holds it back.
    pub fn run(self, site: &Site, stop: &AtomicBool) -> std::io::Result<()> {
        let origin_ns = net::clock::now_ns();
        let config = &self.config;
        let numbers = AtomicU64::new(0);
        let outbox = || config.faults.touch_answers().then(|| Outbox::new(&config.faults, &numbers));
        std::thread::scope(|scope| {
            let workers: Vec<_> = self
                .listeners
                .into_iter()
                .map(|listener| {
                    let outbox = outbox();
                    scope.spawn(move || worker::run(config, site, listener, stop, origin_ns, outbox))
                })
                .collect();
            for worker in workers {
                worker.join().map_err(|_| std::io::Error::other("a thread of the server died"))??;
            }
            Ok(())
        })
    }
}

/// Listeners that share a port would let a second server take half of a first one's connections unseen.
fn ensure_free(address: &SocketAddr) -> std::io::Result<()> {
    if address.port() == 0 { Ok(()) } else { net::socket::exclusive(address).map(drop) }
}
