//! Everything that the load engine needs for one measurement. It is resolved: nothing here is a default any more.

use crate::checked;
use crate::rate::Rate;
use crate::target::{Asking, Target};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How long a server may answer nothing, while every request fails, before the load ends: longer than a restart takes.
pub const ABORT_AFTER: Duration = Duration::from_secs(5);

/// One measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Where requests go.
    pub target: Target,
    /// The requests; at least one.
    pub asks: Vec<Ask>,
    /// The order of the requests.
    pub order: Order,
    /// How requests arrive.
    pub load: Load,
    /// How connections are opened.
    pub connecting: Connecting,
    /// What is spoken on them.
    #[serde(default)]
    pub protocol: Protocol,
    /// The number of requests in flight on one connection at the same time: in a pipeline, or as streams.
    pub pipeline: usize,
    /// Whether a pipeline is refilled only after all of its requests were answered, so that requests leave in bursts.
    pub bursts: bool,
    /// Whether one latency is recorded for each burst, that of its last answer, rather than one for each answer.
    pub burst_latency: bool,
    /// Closed load: how long a connection waits after an answer before its next request.
    pub think: Think,
    /// When the measurement ends.
    pub until: Until,
    /// The largest number of requests: the measurement ends when they are done, if it has not ended before.
    pub most_requests: Option<u64>,
    /// How long the load runs before the measurement begins. Nothing is counted in that time.
    pub warmup: Duration,
    /// A request without its whole answer after this long is an error.
    pub timeout: Duration,
    /// The load ends early when the server has answered nothing for this long and every request meanwhile was lost; `None`: never.
    pub abort_after: Option<Duration>,
    /// How long a worker that has nothing to do polls before it sleeps.
    pub spin: Duration,
    /// The number of worker threads, each with its share of the connections.
    pub threads: usize,
    /// The cores that workers are pinned to, in turn; empty: not pinned.
    pub cpus: Vec<usize>,
    /// The bodies that are verified.
    pub verify: Verify,
    /// The back end that drives the sockets.
    pub io: IoChoice,
    /// The TLS options of an encrypted target.
    pub tls: TlsChoice,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether the tally is wanted second by second, too.
    pub per_second: bool,
    /// The length of the steps in which answers are counted, worker by worker; `None`: they are not.
    pub pulse: Option<Duration>,
    /// Whether the bytes of the first answer are kept.
    pub keep_first: bool,
    /// Whether one connection must be established beforehand; if it can't be, nothing is measured.
    pub probe: bool,
    /// Which of several machines this plan is for. Connections and the number of requests are this machine's; the rate is that of all
    /// machines together.
    pub one_of: OneOf,
}

/// One of several machines that drive one load together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneOf {
    /// The index of this machine, from 0.
    pub index: usize,
    /// The number of machines.
    pub machines: usize,
}

impl Default for OneOf {
    /// The only machine.
    fn default() -> Self {
        Self { index: 0, machines: 1 }
    }
}

impl Plan {
    /// A plan for one request, sent again and again for `until`; everything else as in `drome load` by default.
    pub fn new(target: Target, ask: Ask, load: Load, until: Until) -> Self {
        Self {
            target,
            asks: vec![ask],
            order: Order::InTurn,
            load,
            connecting: Connecting::default(),
            protocol: Protocol::default(),
            pipeline: 1,
            bursts: false,
            burst_latency: false,
            think: Think::None,
            until,
            most_requests: None,
            warmup: Duration::ZERO,
            timeout: Duration::from_secs(30),
            abort_after: Some(ABORT_AFTER),
            spin: Duration::ZERO,
            threads: 1,
            cpus: Vec::new(),
            verify: Verify::Sample,
            io: IoChoice::Best,
            tls: TlsChoice::default(),
            seed: 0,
            per_second: false,
            pulse: None,
            keep_first: false,
            probe: true,
            one_of: OneOf::default(),
        }
    }
}

/// One request and the answer that it must get.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The request as bytes, head and body.
    #[serde(with = "checked::bytes")]
    pub request: Vec<u8>,
    /// The request as it is sent last on a connection: without keep-alive.
    #[serde(with = "checked::bytes")]
    pub last: Vec<u8>,
    /// Whether the method is HEAD: the answer then has no body, whatever its length says.
    pub head_only: bool,
    /// What an answer must be.
    pub expect: Expect,
    /// How often it is sent, relative to the others, where the order is weighted.
    pub weight: f64,
}

impl Ask {
    /// A GET of the target's path on connections that are used again, of whose answer nothing is expected but a status below 400.
    pub fn get(target: &Target) -> Self {
        let (method, path) = ("GET", target.path.as_str());
        let request =
            target.request(Asking { method, path, http10: false, keep_alive: true, headers: &[], body: b"" });
        Self { last: request.clone(), request, weight: 1.0, ..Self::default() }
    }
}

/// The order of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// In the order of the list, over and over.
    #[default]
    InTurn,
    /// At random, with probabilities in proportion to the weights.
    Random,
    /// In turn, each worker through a part of the list that is its own: the list is divided evenly.
    ByThread,
}

/// How connections are opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Connecting {
    /// The largest number of connections that are opened per second.
    pub rate_per_s: Option<f64>,
    /// At a rate: the times between two openings.
    pub gaps: Gaps,
    /// The time over which the first connections are opened.
    pub ramp: Duration,
    /// Whether the first connection of each worker must have an answer before the worker opens another one.
    pub one_first: bool,
    /// The local addresses that they start from, in turn; empty: the system's choice.
    pub from: Vec<IpAddr>,
}

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// HTTP/1.1, or 1.0 where a request says so.
    #[default]
    Http1,
    /// HTTP/2: agreed on in the TLS handshake, or spoken at once where there is no TLS.
    Http2,
    /// WebSocket: the bodies of requests are messages, and each one's answer is the next message of the server.
    WebSocket,
    /// gRPC over HTTP/2: the bodies of requests are messages, each of a unary call.
    Grpc,
}

impl Protocol {
    /// Whether it is HTTP/1.1.
    pub fn is_usual(&self) -> bool {
        *self == Self::Http1
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
            Self::WebSocket => "WebSocket",
            Self::Grpc => "gRPC",
        }
    }
}

/// The times between two openings of connections at a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Gaps {
    /// All the same.
    #[default]
    Even,
    /// Uniformly distributed around their mean: this share of it shorter to this share longer, from 0 to 1.
    Uniform(f64),
    /// As independent users arrive: exponential.
    Exponential,
}

/// How long a connection waits before its next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Think {
    /// Not at all.
    #[default]
    None,
    /// Evenly spread between two times, which may be equal.
    Between(Duration, Duration),
    /// As independent users do: exponential, with this mean.
    Exponential(Duration),
}

/// The bodies that are compared with the expected ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verify {
    /// The first body of each connection.
    First,
    /// The first body of each connection, however often it is opened, and one in 64 afterwards; of bodies from 32 KiB on one in 1,024.
    #[default]
    Sample,
    /// All bodies.
    All,
}

/// The TLS options of an encrypted target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsChoice {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// The authorities to trust instead of the system's: a PEM file.
    pub cacert: Option<PathBuf>,
    /// The certificate and the key to show to a server that asks: PEM files.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Whether a connection resumes the session of an earlier one.
    pub resumption: Resumption,
    /// Whether the server is not told the name by which it was called (SNI).
    pub no_sni: bool,
    /// The only version that is offered; `None`: the best that both sides know.
    pub version: Option<TlsVersion>,
}

/// Whether a connection resumes the session of an earlier one, which costs the server far less than a full handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resumption {
    /// Where the server does.
    #[default]
    Offered,
    /// Never.
    Off,
    /// The server must: full handshakes beyond a small share are not the same work.
    Required,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

/// The back end that drives the sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum IoChoice {
    /// `io_uring` where the kernel allows it, else `epoll`.
    #[default]
    Best,
    /// `epoll`.
    Epoll,
    /// `io_uring`.
    Uring,
}

/// How requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Every connection sends its next request as soon as the last one was answered.
    Closed {
        /// The number of connections.
        #[serde(deserialize_with = "checked::positive")]
        #[schemars(range(min = 1))]
        connections: usize,
        /// Requests before a connection is closed and opened anew; absent: as long as the server keeps it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "checked::positive_or_none"
        )]
        #[schemars(range(min = 1))]
        per_connection: Option<usize>,
    },
    /// Requests become due at a rate, whatever the server does.
    Open {
        /// Requests per second, over all connections.
        rate_per_s: Rate,
        /// The number of connections that share them.
        #[serde(deserialize_with = "checked::positive")]
        #[schemars(range(min = 1))]
        connections: usize,
        /// How due times are spaced.
        #[serde(default)]
        arrivals: Arrivals,
        /// Requests before a connection is closed and opened anew; absent: as long as the server keeps it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "checked::positive_or_none"
        )]
        #[schemars(range(min = 1))]
        per_connection: Option<usize>,
    },
}

impl Load {
    /// The number of connections.
    pub fn connections(&self) -> usize {
        match self {
            Self::Closed { connections, .. } | Self::Open { connections, .. } => *connections,
        }
    }

    /// The number of requests before a connection is closed and opened anew.
    pub fn per_connection(&self) -> Option<usize> {
        match self {
            Self::Closed { per_connection, .. } | Self::Open { per_connection, .. } => *per_connection,
        }
    }

    /// The offered rate of open load.
    pub fn rate_per_s(&self) -> Option<&Rate> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { rate_per_s, .. } => Some(rate_per_s),
        }
    }
}

/// How the due times of open load are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// As independent users arrive: exponential gaps.
    Poisson,
}

/// When a measurement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Until {
    /// After this long.
    Elapsed(Duration),
    /// After this many answers.
    Answered(u64),
    /// When this many connections have been opened, or tried, and are closed again.
    Closed(u64),
}

impl Expect {
    /// Whether the bytes of the body matter, and not only their number.
    pub fn looks_at_body(&self) -> bool {
        self.sha256.is_some() || self.body.is_some()
    }
}

/// What an answer must be; what is `None` is not checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// The status; `None`: any below 400.
    pub status: Option<u16>,
    /// Whether any status will do.
    pub any_status: bool,
    /// The length of the body.
    pub length: Option<u64>,
    /// The SHA-256 of the body.
    pub sha256: Option<[u8; 32]>,
    /// The body.
    #[serde(default, with = "checked::bytes_or_none")]
    pub body: Option<Vec<u8>>,
}
