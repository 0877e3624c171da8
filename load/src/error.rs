//! Why nothing could be measured, in words that say what helps.

use crate::SourceError;
use model::Address;
use net::Errno;
use net::tls::TlsError;

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
    /// The protocol can't say a request.
    #[error("a request can't be made in {protocol}: {error}")]
    Request {
        /// The protocol's name.
        protocol: &'static str,
        /// What is wrong with it.
        error: wire::WireError,
    },
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

impl LoadError {
    /// The error of a worker that could not be made, in words: where the machine ran out of something, with the remedy.
    pub(crate) fn unready(self) -> Self {
        let Self::Unready(error) = self else { return self };
        match Errno::from_io_error(&error).filter(|errno| net::is_local(*errno)) {
            Some(errno) => Self::RanOut(ran_out(errno)),
            None => Self::Io(error),
        }
    }
}

/// The resource that this machine ran out of, and the remedy.
pub fn ran_out(errno: Errno) -> String {
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
