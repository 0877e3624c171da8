//! The words of the bench's table: works, their runs, which follow one another in every round, and the figures that
//! come of them, with their bounds. The table itself is in `works`.

use serde::{Deserialize, Serialize};

/// One work and what is to be known of it.
pub struct Work {
    /// Chooses it on the command line.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// Of all processes together.
    pub connections: usize,
    /// How many clients at once, each at a server of its own: one process may not have descriptors enough.
    pub processes: usize,
    /// A run lasts no less, however quick the bench: what it looks at is rare, or takes time to come about.
    pub least_seconds: u64,
    /// The first is drome's.
    pub runs: &'static [Run],
    pub figures: &'static [Figure],
}

/// One client at one server.
#[derive(Clone, Copy)]
pub struct Run {
    pub server: Server,
    pub path: &'static str,
    pub client: Client,
    /// Other than the work's.
    pub connections: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// `floor_server` with a body of so many bytes.
    Floor(u32),
    /// `drome serve` with these arguments.
    Reference(&'static [&'static str]),
    /// `drome serve --root` with the same files as nginx.
    Root,
    Nginx,
    /// nginx with TLS 1.3, one suite, one group and a key for ECDSA, so that all clients do the same work; whether it
    /// resumes sessions.
    NginxTls(bool),
    /// The contender of this name: Go's and Node's own servers.
    Go,
    Node,
}

impl Server {
    /// It is spoken to in TLS.
    pub fn is_tls(self) -> bool {
        match self {
            Self::NginxTls(_) => true,
            Self::Reference(args) => args.contains(&"--tls"),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// `drome load` with these arguments.
    Drome(&'static [&'static str]),
    /// `floor_client` with so many requests ahead.
    Floor(u16),
    Wrk(&'static [&'static str]),
    /// `h2load --h1` with so many requests ahead.
    H2load(u16),
    /// With these arguments.
    Ab(&'static [&'static str]),
    /// `floor_connector`, which opens a connection for every request.
    FloorConnector,
    /// `epoll_client`, which asks again at once and looks at nothing.
    Epoll,
}

/// A quantity of one run, alone or over that of others, and what it should be.
pub struct Figure {
    pub what: Quantity,
    /// Which of the work's runs.
    pub of: usize,
    pub over: Over,
    pub bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// CPU time of the client's process over its requests, from start to end.
    ClientCpu,
    /// CPU time of the server's process during the run over the client's requests.
    ServerCpu,
    /// The largest resident memory of drome.
    Rss,
    /// Requests per second, by the client's own report.
    Rate,
    /// The share of its core that the server did not use in drome's window.
    ServerIdle,
    /// A quantile of a distribution in drome's JSON.
    Quantile(&'static str, &'static str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Over {
    Nothing,
    /// What that of these runs has in the same round whose median over all rounds is the least.
    LeastOf(&'static [usize]),
    /// What that of these runs has in the same round whose median over all rounds is the most.
    MostOf(&'static [usize]),
    /// What is more than in this run, over the connections that are more.
    PerConnectionBeyond(&'static [usize; 1]),
    /// What it would be in truth.
    Truth(f64),
}

impl Over {
    /// The runs that a quantity is compared with.
    pub fn others(self) -> &'static [usize] {
        match self {
            Self::LeastOf(others) | Self::MostOf(others) => others,
            Self::PerConnectionBeyond(other) => other,
            Self::Nothing | Self::Truth(_) => &[],
        }
    }
}

#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// Off from 1 by no more than this.
    Within(f64),
}

impl Bound {
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::Within(off) => (value - 1.0).abs() <= off,
        }
    }
}
