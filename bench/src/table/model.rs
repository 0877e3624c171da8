//! What a table consists of: works, their runs, which take turns in every round, and the figures computed from them,
//! with their bounds. The works themselves are in `works`.

use serde::{Deserialize, Serialize};

/// Some clients at some servers, and the figures that compare them.
pub struct Work {
    /// Selects it on the command line.
    pub name: &'static str,
    /// What it is called in the table.
    pub title: &'static str,
    /// The number of connections of all client processes together.
    pub connections: usize,
    /// How many clients run at once, each with a server of its own. More than one where a single process may not open
    /// enough descriptors.
    pub processes: usize,
    /// Shortest length of a run in seconds, whatever the command line says: what it measures is rare, or takes time to happen.
    pub min_seconds: u64,
    /// The first one is drome's.
    pub runs: &'static [Run],
    pub figures: &'static [Figure],
}

/// One client at one server.
#[derive(Clone, Copy)]
pub struct Run {
    pub server: Server,
    pub path: &'static str,
    pub client: Client,
    /// The number of connections, if it is not the work's.
    pub connections: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// `floor_server` with a body of this many bytes.
    Floor(u32),
    /// `floor_server` with 12 bytes and `Connection: close`; it leaves the closing to the client.
    FloorLeaves,
    /// `drome serve` with these arguments.
    Reference(&'static [&'static str]),
    /// `drome serve --root` with the same files as nginx.
    Root,
    Nginx,
    /// nginx with TLS 1.3, one cipher suite, one group and an ECDSA key, so that all clients do the same work. The
    /// value says whether it resumes sessions.
    NginxTls(bool),
    /// nginx in HTTP/2: with TLS as above, or without it.
    NginxHttp2 {
        is_tls: bool,
    },
    /// The catalog's contender `go`: Go's own server.
    Go,
    /// The catalog's contender `node`: Node's own server.
    Node,
}

impl Server {
    /// Whether clients must use TLS.
    pub fn is_tls(self) -> bool {
        match self {
            Self::NginxTls(_) => true,
            Self::NginxHttp2 { is_tls } => is_tls,
            Self::Reference(args) => args.contains(&"--tls"),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// `drome load` with these arguments.
    Drome(&'static [&'static str]),
    /// `floor_client` with this many requests pipelined.
    Floor(u16),
    /// `wrk` with these arguments.
    Wrk(&'static [&'static str]),
    /// `h2load` with these arguments: HTTP/2, unless they say `--h1`.
    H2load(&'static [&'static str]),
    /// `ab` with these arguments.
    Ab(&'static [&'static str]),
    /// `floor_connector`, which opens a connection for every request.
    FloorConnector,
    /// `epoll_client`, which sends the next request at once and does not look at answers.
    Epoll,
}

/// A quantity of one run, alone or divided by a baseline, and the bound that it should keep.
pub struct Figure {
    pub quantity: Quantity,
    /// Index of the work's runs.
    pub run: usize,
    pub baseline: Baseline,
    pub bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// CPU time of the client's process and of those that it started, from start to end, divided by its requests.
    ClientCpu,
    /// CPU time of the server's process during the run, divided by the client's requests.
    ServerCpu,
    /// The largest resident memory of drome.
    Rss,
    /// The most memory that no file backs which the client had.
    ClientAnonymous,
    /// The server's memory that no file backs, after the run.
    ServerAnonymous,
    /// Requests/s by the client's own report.
    Rate,
    /// The share of its core that the server did not use in drome's window.
    ServerIdle,
    /// A value in drome's JSON: the name of a distribution, and that of one of its quantiles.
    Quantile(&'static str, &'static str),
}

/// What a quantity is compared with. Runs are indexes of the work's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Baseline {
    /// Not compared: the figure is the quantity itself.
    Nothing,
    /// Of these runs the one with the lowest median over all rounds; its value in the same round.
    LowestOf(&'static [usize]),
    /// Of these runs the one with the highest median over all rounds; its value in the same round.
    HighestOf(&'static [usize]),
    /// The same with fewer connections, in this run: the figure is the difference per connection.
    PerExtraConnection(&'static [usize; 1]),
    /// The value that is known to be correct.
    Expected(f64),
}

impl Baseline {
    /// The runs that a quantity is compared with.
    pub fn runs(self) -> &'static [usize] {
        match self {
            Self::LowestOf(runs) | Self::HighestOf(runs) => runs,
            Self::PerExtraConnection(run) => run,
            Self::Nothing | Self::Expected(_) => &[],
        }
    }
}

/// What a figure should be.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// Differs from 1 by no more than this.
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
