//! What is measured, as a plain table: each work's runs, which follow one another in every round, and the
//! figures that come of them, with their bounds.

use serde::{Deserialize, Serialize};

/// One work and what is to be known of it.
pub struct Work {
    /// Chooses it on the command line.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    pub connections: usize,
    /// A run lasts no less, however quick the bench: what it looks at is rare, or takes time to come about.
    pub least_seconds: u64,
    /// The first is drome's.
    pub runs: &'static [Run],
    pub figures: &'static [Figure],
}

/// One client at one server.
pub struct Run {
    pub server: Server,
    pub path: &'static str,
    pub client: Client,
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
    Ab,
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
    /// A quantile of a distribution in drome's JSON.
    Quantile(&'static str, &'static str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Over {
    Nothing,
    /// The least that any of these runs has in the same round.
    LeastOf(&'static [usize]),
    /// What it would be in truth.
    Truth(f64),
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
            AtMost(most) => value <= most,
            AtLeast(least) => value >= least,
            Within(off) => (value - 1.0).abs() <= off,
        }
    }
}

use Bound::{AtLeast, AtMost, Within};
use Client::{Ab, Drome, H2load, Wrk};
use Over::{LeastOf, Nothing, Truth};
use Quantity::{ClientCpu, Quantile, Rate, Rss, ServerCpu};
use Server::{Nginx, Reference, Root};

const FLOOR: Server = Server::Floor(12);
const REFERENCE: Server = Reference(&[]);
const STALLING: Server = Reference(&["--fault", "stall=100ms/1s"]);
const MS: f64 = 1e6;
const US: f64 = 1e3;
const MB: f64 = 1e6;

const fn run(server: Server, path: &'static str, client: Client) -> Run {
    Run { server, path, client }
}

const fn figure(what: Quantity, of: usize, over: Over, bound: Bound) -> Figure {
    Figure { what, of, over, bound }
}

const LAG_P99: Quantity = Quantile("schedule_lag_ns", "p99");

/// Schedule lag with a load generator that sleeps and with one that does not.
const LAGS: [Figure; 2] =
    [figure(LAG_P99, 0, Nothing, AtMost(100.0 * US)), figure(LAG_P99, 1, Nothing, AtMost(20.0 * US))];

/// All of them, in the order of the table.
pub const WORKS: &[Work] = &[
    Work {
        name: "keep-alive",
        title: "64 keep-alive connections, 12-byte body",
        connections: 64,
        least_seconds: 1,
        runs: &[
            run(FLOOR, "/", Drome(&[])),
            run(FLOOR, "/", Client::Floor(1)),
            run(FLOOR, "/", Wrk(&[])),
            run(FLOOR, "/", H2load(1)),
        ],
        figures: &[
            figure(ClientCpu, 0, LeastOf(&[1]), AtMost(1.10)),
            figure(ClientCpu, 0, LeastOf(&[2]), AtMost(0.75)),
            figure(ClientCpu, 0, LeastOf(&[3]), AtMost(0.65)),
        ],
    },
    Work {
        name: "pipeline",
        title: "64 keep-alive connections, 12-byte body, 16 requests pipelined on each",
        connections: 64,
        least_seconds: 1,
        runs: &[
            run(FLOOR, "/", Drome(&["--pipeline", "16"])),
            run(FLOOR, "/", Client::Floor(16)),
            run(FLOOR, "/", H2load(16)),
        ],
        figures: &[
            figure(ClientCpu, 0, LeastOf(&[1]), AtMost(1.5)),
            figure(ClientCpu, 0, LeastOf(&[2]), AtMost(0.60)),
        ],
    },
    Work {
        name: "epoll",
        title: "64 keep-alive connections, 12-byte body, `--io epoll`",
        connections: 64,
        least_seconds: 1,
        runs: &[run(FLOOR, "/", Drome(&["--io", "epoll"])), run(FLOOR, "/", Wrk(&[]))],
        figures: &[figure(ClientCpu, 0, LeastOf(&[1]), AtMost(0.95))],
    },
    Work {
        name: "body-50k",
        title: "64 keep-alive connections, 50 KB body that nobody looks at: wrk copies it, drome does not",
        connections: 64,
        least_seconds: 1,
        runs: &[run(Server::Floor(50_000), "/", Drome(&[])), run(Server::Floor(50_000), "/", Wrk(&[]))],
        figures: &[figure(ClientCpu, 0, LeastOf(&[1]), AtMost(0.60))],
    },
    Work {
        name: "body-200k",
        title: "64 keep-alive connections, 200 KB body that nobody looks at: wrk copies it, drome does not",
        connections: 64,
        least_seconds: 1,
        runs: &[run(Server::Floor(200_000), "/", Drome(&[])), run(Server::Floor(200_000), "/", Wrk(&[]))],
        figures: &[figure(ClientCpu, 0, LeastOf(&[1]), AtMost(0.45))],
    },
    Work {
        name: "no-keepalive",
        title: "a new connection per request, 64 at once",
        connections: 64,
        least_seconds: 1,
        // The floor server never closes; this work needs one that does as it is told.
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--no-keepalive"])),
            run(REFERENCE, "/hello", Ab),
            run(REFERENCE, "/hello", Wrk(&["-H", "Connection: close"])),
        ],
        figures: &[figure(ClientCpu, 0, LeastOf(&[1, 2]), AtMost(0.90))],
    },
    Work {
        name: "connections-10k",
        title: "10,000 keep-alive connections, 12-byte body",
        connections: 10_000,
        least_seconds: 3,
        runs: &[run(FLOOR, "/", Drome(&[])), run(FLOOR, "/", Wrk(&[]))],
        figures: &[figure(Rss, 0, Nothing, AtMost(20.0 * MB)), figure(Rate, 0, LeastOf(&[1]), AtLeast(1.0))],
    },
    Work {
        name: "open-1k",
        title: "open load, 1,000/s",
        connections: 64,
        least_seconds: 2,
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--rate", "1000"])),
            run(REFERENCE, "/hello", Drome(&["--rate", "1000", "--spin", "200us"])),
        ],
        figures: &[
            figure(LAG_P99, 0, Nothing, AtMost(100.0 * US)),
            figure(LAG_P99, 1, Nothing, AtMost(20.0 * US)),
            figure(Quantile("latency_ns", "p50"), 0, Nothing, AtMost(0.2 * MS)),
        ],
    },
    Work {
        name: "open-5k",
        title: "open load, 5,000/s",
        connections: 64,
        least_seconds: 2,
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--rate", "5000"])),
            run(REFERENCE, "/hello", Drome(&["--rate", "5000", "--spin", "200us"])),
        ],
        figures: &LAGS,
    },
    Work {
        name: "open-20k",
        title: "open load, 20,000/s",
        connections: 64,
        least_seconds: 2,
        runs: &[
            run(REFERENCE, "/hello", Drome(&["--rate", "20000"])),
            run(REFERENCE, "/hello", Drome(&["--rate", "20000", "--spin", "200us"])),
        ],
        figures: &LAGS,
    },
    Work {
        name: "stall",
        title: "open load, 1,009/s, at a server that stalls for 100 ms of every second",
        connections: 64,
        // A whole number of periods; in ten, ten answers are slower than the last quantile.
        least_seconds: 10,
        // At 1,000/s the first request of every stall would be due at the same moment after its begin, and every
        // wait would be so many milliseconds more or less than the truth, up to one. The prime rate shifts it.
        runs: &[run(STALLING, "/hello", Drome(&["--rate", "1009"]))],
        // A tenth of all requests is due in a stall and waits evenly between 0 and 100 ms.
        figures: &[
            figure(Quantile("latency_ns", "p95"), 0, Truth(50.0 * MS), Within(0.02)),
            figure(Quantile("latency_ns", "p99"), 0, Truth(90.0 * MS), Within(0.02)),
            figure(Quantile("latency_ns", "p999"), 0, Truth(99.0 * MS), Within(0.02)),
        ],
    },
    Work {
        name: "hello",
        title: "reference server, `/hello`",
        connections: 64,
        least_seconds: 1,
        runs: &[
            run(REFERENCE, "/hello", Drome(&[])),
            run(FLOOR, "/", Drome(&[])),
            run(Nginx, "/hello", Drome(&[])),
        ],
        figures: &[
            figure(ServerCpu, 0, LeastOf(&[1]), AtMost(1.15)),
            figure(ServerCpu, 0, LeastOf(&[2]), AtMost(0.40)),
        ],
    },
    Work {
        name: "file-200k",
        title: "reference server, file of 200 KB",
        connections: 64,
        least_seconds: 1,
        runs: &[run(Root, "/file-200k", Drome(&[])), run(Nginx, "/file-200k", Drome(&[]))],
        figures: &[figure(ServerCpu, 0, LeastOf(&[1]), AtMost(0.90))],
    },
];
