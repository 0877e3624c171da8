//! The reference server, on drome's own I/O. It serves the same few bytes as every contender, and does nothing else that costs
//! time: so it measures what this machine could do at best, and its faults are known truths for tests. Or it serves a folder, as a
//! static file server does.

mod answers;
mod connections;
mod fault;
pub mod files;
mod housekeeping;
mod responder;
mod service;
mod threads;
mod turnstile;
mod worker;

pub use answers::fresh::OBJECT;
pub use answers::site::Site;
pub use fault::{Delay, Fault, FaultError, Faults, Framing, Mishap, Stall, Trickle, help as fault_help};
pub use files::root::{Identity, Missing, Opened, Resolver, Root};
pub use net::BackEnd;
pub use service::Messages;

use answers::date::Clock;
use answers::log::Log;
use connections::out::Each;
use fault::FaultyOutbox;
use files::Files;
use files::cache::{Bounds, Cache};
use net::tls::ServerTls;
use net::unix::SocketFile;
use responder::Responder;
use responder::http2::Http2Thread;
use service::Service;
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use threads::{Failure, Means};

/// The bounds of all threads together for files in memory or open.
const KEPT: Bounds = Bounds { files: 2048, bytes: 64 * 1024 * 1024 };

/// How long a peer may read nothing while it is being answered before it is disconnected, as in nginx (`send_timeout`).
const UNREAD: Duration = Duration::from_mins(1);

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the server listens.
    pub listen: Listen,
    /// The number of threads. On a port, each has its own listener.
    pub threads: usize,
    /// A folder that is served instead of the site.
    pub root: Option<PathBuf>,
    /// How long a connection may have no answer before it is closed.
    pub idle_timeout: Duration,
    /// The file of the access log.
    pub access_log: Option<PathBuf>,
    /// How long the server is busy for every request.
    pub spin: Duration,
    /// How many messages the server sends to itself; instead of `spin`.
    pub messages: Messages,
    /// The faults that the server has on purpose.
    pub faults: Faults,
    /// The back end that drives the sockets; `None`: the best one.
    pub io: Option<BackEnd>,
    /// TLS, if connections are encrypted.
    pub tls: Option<ServerTls>,
}

/// Where a server listens.
#[derive(Clone, Debug)]
pub enum Listen {
    /// At an address; port 0: any free one.
    Tcp(SocketAddr),
    /// At a Unix socket, which is created and removed again.
    Unix(PathBuf),
}

/// Why a server can't start.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The server can't listen on its address or Unix socket.
    #[error("can't listen on the given address or Unix socket: {0}")]
    Listen(#[source] Error),
    /// The folder does not exist, or can't be opened.
    #[error("can't serve the folder {0}: {1}")]
    Root(PathBuf, #[source] Error),
    /// The log can't be opened.
    #[error("can't append to the access log {0}: {1}")]
    Log(PathBuf, #[source] Error),
}

/// A server that listens and does not yet answer.
#[derive(Debug)]
pub struct Server {
    config: Config,
    listeners: Vec<OwnedFd>,
    at: At,
    root: Option<Root>,
    log: Option<File>,
    back_end: BackEnd,
    fallback: Option<String>,
    means: Means,
}

#[derive(Debug)]
enum At {
    Tcp(SocketAddr),
    Unix(SocketFile),
}

impl Server {
    /// Starts to listen, and opens the served folder and the access log. Errors: one of these can't be done.
    pub fn bind(config: Config) -> Result<Self, BindError> {
        let root = config
            .root
            .as_deref()
            .map(|path| Root::open(path).map_err(|error| BindError::Root(path.to_owned(), error)));
        let root = root.transpose()?;
        let log = config
            .access_log
            .as_deref()
            .map(|path| answers::log::open(path).map_err(|error| BindError::Log(path.to_owned(), error)));
        let log = log.transpose()?;
        let (listeners, at) = match &config.listen {
            Listen::Tcp(address) => listen_tcp(address, config.threads),
            Listen::Unix(path) => listen_unix(path, config.threads),
        }
        .map_err(BindError::Listen)?;
        let (back_end, fallback) = net::choose(config.io, worker::sizes());
        Ok(Self { config, listeners, at, root, log, back_end, fallback, means: Means::default() })
    }

    /// Why epoll drives the sockets although it was not asked for.
    pub fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }

    /// Where it listens: a URL, or `unix:` and a path.
    pub fn place(&self) -> String {
        match &self.at {
            At::Tcp(address) => format!("http://{address}/"),
            At::Unix(file) => format!("unix:{}", file.path().display()),
        }
    }

    /// Answers until `stop` is set. What was received until then is answered, within a bound and if no fault delays it; a peer that does
    /// not read does not keep the server from ending. `begun` is called when all threads are ready, before any of them answers. Errors: a
    /// thread can't begin, so that none answers; a thread fails later, or dies, which ends the others.
    pub fn run(mut self, site: &Site, stop: &AtomicBool, begun: impl FnOnce(&Self)) -> std::io::Result<()> {
        let (listeners, mut begun) = (std::mem::take(&mut self.listeners), Some(begun));
        let may_fall_back = self.back_end == BackEnd::Uring && self.config.io.is_none();
        let mut spare: Vec<_> =
            listeners.iter().filter(|_| may_fall_back).map(OwnedFd::try_clone).collect::<Result<_, _>>()?;
        let all = spare.len();
        let first = self.serve(site, stop, listeners, || {
            // A copy would keep the port in use when the threads have closed theirs.
            spare.clear();
            tell(&self, begun.take());
        });
        let ended = match first {
            Err(Failure::NotBegun(error)) if may_fall_back => {
                self.fallback = Some(format!("one io_uring for each of {all} threads: {error}"));
                self.back_end = BackEnd::Epoll;
                self.serve(site, stop, spare, || tell(&self, begun.take()))
            }
            ended => ended,
        };
        ended.map_err(Failure::cause)
    }

    /// Faults are decided for each answer by itself.
    fn each(&self) -> Each {
        if self.config.faults.touch_answers() { Each::Alone } else { Each::Gathered }
    }

    fn outbox<'n>(&'n self, numbers: &'n AtomicU64) -> Option<FaultyOutbox<'n>> {
        let faults = &self.config.faults;
        faults.touch_answers().then(|| FaultyOutbox::new(faults, numbers))
    }

    /// The responder of a thread.
    fn responder(&self, site: &Site) -> std::io::Result<Responder> {
        let clock = Clock::new();
        let mut site = if self.root.is_some() { Site::new() } else { site.clone() };
        site.set_date(clock.date());
        let threads = self.config.threads.max(1);
        let bounds = Bounds { files: KEPT.files / threads, bytes: KEPT.bytes / threads };
        let root = self.root.as_ref().map(Root::try_clone).transpose()?;
        let log = self.log.as_ref().map(File::try_clone).transpose()?;
        Ok(Responder {
            site,
            files: root.map(|root| Files::new(Cache::new(root, bounds))),
            fresh: answers::fresh::Writer::default(),
            log: log.map(|file| Log::new(file, clock.date())),
            clock,
            http2: Http2Thread::new(self.each()),
            service: Service::of(net::clock::ns_of(self.config.spin), self.config.messages)?,
            is_stopping: false,
            was_http10: false,
        })
    }
}

fn tell(server: &Server, begun: Option<impl FnOnce(&Server)>) {
    if let Some(begun) = begun {
        begun(server);
    }
}

fn listen_tcp(address: &SocketAddr, threads: usize) -> std::io::Result<(Vec<OwnedFd>, At)> {
    ensure_free(address)?;
    let first = net::socket::listener(address)?;
    let address = net::socket::local_address(&first)?;
    let mut listeners = vec![first];
    for _ in 1..threads {
        listeners.push(net::socket::listener(&address)?);
    }
    for listener in &listeners {
        net::socket::give_up_after(listener, UNREAD)?;
    }
    Ok((listeners, At::Tcp(address)))
}

/// Listens at a path, which has one listener that the threads share.
fn listen_unix(path: &Path, threads: usize) -> std::io::Result<(Vec<OwnedFd>, At)> {
    let (first, file) = net::unix::listener(path)?;
    let mut listeners = vec![first];
    for _ in 1..threads {
        listeners.push(listeners[0].try_clone()?);
    }
    Ok((listeners, At::Unix(file)))
}

/// Fails if the port is in use: listeners that share a port would let a second server take half of a first one's connections unseen.
fn ensure_free(address: &SocketAddr) -> std::io::Result<()> {
    if address.port() == 0 { Ok(()) } else { TcpListener::bind(address).map(drop) }
}

impl BindError {
    /// Whether another server listens there.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::Listen(error) if error.kind() == ErrorKind::AddrInUse)
    }
}
