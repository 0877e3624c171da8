//! The load engine: one [`Plan`] in, one [`Tally`] out. Threads share nothing while they measure; each
//! has its connections, its arrivals and its tally, and the tallies are merged at the end.
//!
//! For several live servers, each with a plan of its own, a [`Generator`] keeps connections to all of them and loads one at a time, in
//! slices that are ordered one by one.

mod accounts;
mod answer;
mod begin;
mod check;
mod connection;
mod counted;
mod crew;
mod deadlines;
mod generator;
mod heard;
mod log;
mod means;
mod offered;
mod opening;
mod outage;
mod pace;
mod pick;
mod pulse;
mod reader;
mod request_end;
mod series;
mod share;
mod silence;
mod slice_edges;
mod slice_plan;
mod slicing;
mod sources;
#[cfg(test)]
mod tests;
mod think;
mod window;
mod worker;

use crew::{Chosen, SharedByThreads};
pub use generator::Generator;
pub use pace::Pace;
pub use series::View;
pub use slice_plan::{AfterLook, Enough, SlicePlan};
pub use sources::SourceError;

use model::{Address, Exchange, IoChoice, Plan, Tally, Target, TlsVersion};
use net::tls::{ClientOptions, ClientTls, IdentityFiles, TlsError, Version};
use net::{BackEnd, Endpoint, Errno, Sizes, limits};
use std::net::TcpStream;
use std::slice::from_ref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// The time within which one connection must be established before a measurement starts.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The descriptors needed besides those of connections: standard streams, poll sets, the store, logs.
const SPARE_DESCRIPTORS: u64 = 64;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No server answers there.
    #[error("can't connect to {address} ({source}){more}: is the server running, and on this port?")]
    Connect {
        /// The address.
        address: Address,
        /// The other addresses that were tried, in words.
        more: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The limit of descriptors is too low.
    #[error(
        "{connections} connections need {needed} descriptors, but the hard limit is {limit}: raise it with \
         `ulimit -Hn {needed}` as root or in /etc/security/limits.conf, or ask for fewer connections"
    )]
    Descriptors {
        /// The number of connections asked for.
        connections: usize,
        /// The number of descriptors needed, drome's own included.
        needed: u64,
        /// The system's limit.
        limit: u64,
    },
    /// A source address can't be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// `io_uring` was asked for by name and can't be used.
    #[error("io_uring can't be used here ({0}); alternatively, use epoll")]
    NoUring(String),
    /// A thread can't be started.
    #[error("can't start another thread ({0}): ask for fewer threads (-t), or raise `ulimit -u`")]
    Thread(#[source] std::io::Error),
    /// A worker can't be made; nothing was sent.
    #[error("the load engine's own I/O can't be set up: {0}")]
    Unready(#[source] std::io::Error),
    /// The back end failed.
    #[error("the load engine's own I/O failed: {0}")]
    Io(#[from] std::io::Error),
    /// Nothing could be measured; the reason in words.
    #[error("{0}")]
    Halted(String),
    /// This machine ran out of a resource before anything was sent, which is not the server's fault.
    #[error("{0}")]
    RanOut(String),
    /// The files or options of TLS are wrong.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The plans can't take turns on one load generator.
    #[error("one load generator can't serve these targets: {0}")]
    Plans(&'static str),
    /// The slice is impossible.
    #[error("this slice can't be measured: {0}")]
    Slice(&'static str),
    /// A worker thread died.
    #[error("a worker thread of the load engine died: this is a bug in drome, please report it")]
    Worker,
}

/// Receives the moments when the load starts, and when the measured window opens and closes. Called by one worker, never per request.
pub trait Watch: Sync {
    /// The load starts now: nothing has been asked for yet.
    fn started(&self) {}
    /// The window opens now.
    fn opened(&self) {}
    /// The window closed now.
    fn closed(&self) {}
}

/// Watches nothing.
impl Watch for () {}

/// Passes all moments on to two others, in this order.
pub struct Both<'a>(pub &'a dyn Watch, pub &'a dyn Watch);

impl Watch for Both<'_> {
    fn started(&self) {
        self.0.started();
        self.1.started();
    }

    fn opened(&self) {
        self.0.opened();
        self.1.opened();
    }

    fn closed(&self) {
        self.0.closed();
        self.1.closed();
    }
}

/// The state that a measurement shares with its observers: written once a pass of the loop, read for a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// When the load starts, in nanoseconds of the monotonic clock. `None`: at once.
    pub starts_ns: Option<u64>,
    /// Set to end the measurement early.
    pub stop: Arc<AtomicBool>,
    /// Set by a worker that can't go on, so that all workers end; `stop` is left as it is.
    pub halted: AtomicBool,
    /// Whether a TLS handshake has completed on any of the workers; written at handshakes only.
    pub secured: AtomicBool,
    /// When any worker could last expect an answer, in nanoseconds of the monotonic clock.
    pub expected_ns: AtomicU64,
    /// The number of answers so far, over all workers, within the window.
    pub completed: AtomicU64,
    /// The counts of every quarter of a second, if they are wanted.
    pub view: Option<View>,
    /// The receiver of single exchanges, in chunks, if they are wanted.
    pub log: Option<Sender<Vec<Exchange>>>,
}

/// Runs one measurement. Errors: where nothing could be measured. Requests that fail are counted in the tally.
pub fn run(plan: &Plan, progress: &Progress, watch: &dyn Watch) -> Result<Tally, LoadError> {
    let plans = from_ref(plan);
    let tls = try_out(plans)?;
    let threads = plan.threads.clamp(1, plan.load.connections());
    let chosen = choose(plan.io, plan.load.connections().div_ceil(threads));
    let shared = SharedByThreads { plans, progress: from_ref(progress), tls: &tls, threads };
    let (tallies, (io, fallback)) = crew::measure(shared, chosen, &means::real(), watch)?;
    let mut total = Tally::default();
    tallies.iter().for_each(|tally| total.merge(tally));
    (total.io, total.io_fallback) = (Some(io.name().to_owned()), fallback);
    if let Some(reason) = total.halted.clone().filter(|_| total.sent == 0) {
        let is_own = total.errors.local > 0;
        return Err(if is_own { LoadError::RanOut(reason) } else { LoadError::Halted(reason) });
    }
    total.interrupted |= progress.stop.load(Ordering::Relaxed) && total.halted.is_none();
    Ok(total)
}

/// Finds what makes a plan impossible here, without any load: what is wrong with it, too few descriptors, no server at the address.
pub fn check(plan: &Plan) -> Result<(), LoadError> {
    try_out(from_ref(plan)).map(drop)
}

/// Checks each plan first, whether or not a server is there, and then whether one accepts connections. Returns the plans' TLS
/// configurations.
fn try_out(plans: &[Plan]) -> Result<Vec<Option<ClientTls>>, LoadError> {
    ensure_descriptors(plans.iter().map(|plan| plan.load.connections()).sum())?;
    let try_one = |plan: &Plan| {
        sources::check(plan)?;
        let tls = secure(plan)?;
        if plan.probe {
            probe(&plan.target)?;
        }
        Ok(tls)
    };
    plans.iter().map(try_one).collect()
}

/// The TLS configuration of the plan, where the target is encrypted.
fn secure(plan: &Plan) -> Result<Option<ClientTls>, LoadError> {
    if !plan.target.tls {
        return Ok(None);
    }
    let identity = plan.tls.identity.clone();
    let options = ClientOptions {
        insecure: plan.tls.insecure,
        cacert: plan.tls.cacert.clone(),
        identity: identity.map(|(certificate, key)| IdentityFiles { certificate, key }),
        resume: !plan.tls.no_resumption,
        sni: !plan.tls.no_sni,
        version: plan.tls.version.map(|version| match version {
            TlsVersion::Tls12 => Version::Tls12,
            TlsVersion::Tls13 => Version::Tls13,
        }),
    };
    Ok(Some(ClientTls::new(&options, plan.target.name())?))
}

/// The back end to begin with, for threads of this number of connections, and why it is not the best one, if that is asked for.
fn choose(choice: IoChoice, connections: usize) -> Chosen {
    let wanted = match choice {
        IoChoice::Best => None,
        IoChoice::Epoll => Some(BackEnd::Epoll),
        IoChoice::Uring => Some(BackEnd::Uring),
    };
    net::choose(wanted, Sizes::of(connections))
}

/// The resource that this machine ran out of, and the remedy.
fn ran_out(errno: Errno) -> String {
    let (what, remedy) = match errno {
        Errno::ADDRNOTAVAIL => (
            "local ports",
            "give several source addresses (--source 127.0.0.2,127.0.0.3,…), keep connections open, or widen \
             net.ipv4.ip_local_port_range",
        ),
        Errno::MFILE | Errno::NFILE => {
            ("descriptors", "raise `ulimit -n` (and fs.file-max), or ask for fewer connections")
        }
        _ => ("memory for sockets", "ask for fewer connections, or raise net.ipv4.tcp_mem"),
    };
    format!("this machine ran out of {what} ({errno}) and the measurement was stopped: {remedy}")
}

/// Raises the limit of descriptors to what the system allows: a ring's table of files counts against it too, however few are open.
fn ensure_descriptors(connections: usize) -> Result<(), LoadError> {
    let needed = connections as u64 + SPARE_DESCRIPTORS;
    match limits::raise_descriptors(u64::MAX) {
        Some(limit) if limit < needed => Err(LoadError::Descriptors { connections, needed, limit }),
        _ => Ok(()),
    }
}

/// Tries the addresses of the target's host in turn, and keeps the first that accepts a connection. Nothing is tried if there is only one.
pub fn reach(target: &mut Target) -> Result<(), LoadError> {
    if target.others.is_empty() {
        return Ok(());
    }
    let (mut first, mut more) = (None, String::new());
    for address in target.addresses().collect::<Vec<_>>() {
        match (connect(&address), &first) {
            (Ok(()), _) => {
                (target.address, target.others) = (address, Vec::new());
                return Ok(());
            }
            (Err(source), None) => first = Some(source),
            (Err(why), Some(_)) => more.push_str(&format!(", nor to {address} ({why})")),
        }
    }
    let source = first.unwrap_or_else(|| Errno::ADDRNOTAVAIL.into());
    Err(LoadError::Connect { address: target.address.clone(), more, source })
}

/// Tries whether the target's address accepts a connection.
pub fn probe(target: &Target) -> Result<(), LoadError> {
    let address = &target.address;
    connect(address).map_err(|source| LoadError::Connect {
        address: address.clone(),
        more: String::new(),
        source,
    })
}

fn connect(address: &Address) -> std::io::Result<()> {
    match address {
        Address::Tcp(address) => TcpStream::connect_timeout(address, PROBE_TIMEOUT).map(drop),
        // A full queue belongs to a server that is there; a connection that blocks would wait for room in it without end.
        Address::Unix(path) => match net::socket::connecting(&Endpoint::Unix(path.clone()), None) {
            Ok(_) | Err(Errno::AGAIN) => Ok(()),
            Err(errno) => Err(errno.into()),
        },
    }
}
