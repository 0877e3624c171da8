//! All that the load engine needs for one measurement. Resolved: nothing here is a default any more.

use crate::checked;
use crate::rate::Rate;
use crate::target::Target;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// One measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where requests go.
    pub target: Target,
    /// What is asked there; at least one.
    pub asks: Vec<Ask>,
    /// Which of them is next.
    pub order: Order,
    /// How requests arrive.
    pub load: Load,
    /// How connections come about.
    pub connecting: Connecting,
    /// Requests on their way on one connection at the same time.
    pub pipeline: usize,
    /// A pipeline is filled again only when all of it is answered.
    pub bursts: bool,
    /// A burst has one latency: that of its last answer.
    pub burst_latency: bool,
    /// Closed load: how long a connection waits after an answer before it asks again.
    pub think: Think,
    /// When the measurement ends.
    pub until: Until,
    /// No more requests than that: the measurement ends when they are over, if it has not ended before.
    pub most_requests: Option<u64>,
    /// Load before the measurement, not counted.
    pub warmup: Duration,
    /// A request without its whole answer after this long is an error.
    pub timeout: Duration,
    /// A worker that has nothing to do polls for so long before it sleeps.
    pub spin: Duration,
    /// Worker threads, each with its share of the connections.
    pub threads: usize,
    /// The cores that workers are pinned to, in turn; none: not pinned.
    pub cpus: Vec<usize>,
    /// Which bodies are looked at.
    pub verify: Verify,
    /// Which back end drives the sockets.
    pub io: IoChoice,
    /// How an encrypted target is spoken to.
    pub tls: TlsChoice,
    /// Seed of all that is random.
    pub seed: u64,
    /// The tally is wanted second by second, too.
    pub per_second: bool,
    /// How many answers came is wanted in steps of so long, worker by worker.
    pub pulse: Option<Duration>,
    /// The first answer is wanted as it came.
    pub keep_first: bool,
    /// Nothing is measured unless one connection comes about beforehand.
    pub probe: bool,
}

impl Plan {
    /// One request, asked again and again for `until`; everything else as `drome load` has it by default.
    pub fn new(target: Target, ask: Ask, load: Load, until: Until) -> Self {
        Self {
            target,
            asks: vec![ask],
            order: Order::InTurn,
            load,
            connecting: Connecting::default(),
            pipeline: 1,
            bursts: false,
            burst_latency: false,
            think: Think::None,
            until,
            most_requests: None,
            warmup: Duration::ZERO,
            timeout: Duration::from_secs(30),
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
        }
    }
}

/// One request and what must come back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    /// The request as bytes, head and body.
    pub request: Vec<u8>,
    /// The same as the last request of a connection, which says so.
    pub last: Vec<u8>,
    /// The method is HEAD: the answer has no body whatever its length says.
    pub head_only: bool,
    /// What an answer must be.
    pub expect: Expect,
    /// How often it is asked, relative to the others, where the order is weighted.
    pub weight: f64,
}

/// Which request is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are listed, over and over.
    #[default]
    InTurn,
    /// Any, each as likely as its weight says.
    Random,
}

/// How connections come about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connecting {
    /// No more than so many are opened per second.
    pub rate_per_s: Option<f64>,
    /// The first ones are opened spread over this time.
    pub ramp: Duration,
    /// The first one of each worker must have an answer before it opens another one.
    pub one_first: bool,
    /// The local addresses that they start from, in turn; none: the system's choice.
    pub from: Vec<IpAddr>,
}

/// How long a connection waits before it asks again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Think {
    /// Not at all.
    #[default]
    None,
    /// Evenly spread between two times, which may be equal.
    Between(Duration, Duration),
    /// As people do who know nothing of each other: exponential, with this mean.
    Exponential(Duration),
}

/// Which bodies are compared with what was expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// The first one of each connection.
    First,
    /// The first one of each connection, however often it is opened, and one in 64 afterwards; of bodies from 32 KiB on one in 1,024.
    #[default]
    Sample,
    /// All.
    All,
}

/// How an encrypted target is spoken to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsChoice {
    /// Any certificate will do.
    pub insecure: bool,
    /// Authorities to believe instead of the system's: a PEM file.
    pub cacert: Option<PathBuf>,
    /// Certificate and key to show a server that asks: PEM files.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// Every handshake is a full one.
    pub no_resumption: bool,
    /// The server is not told by which name it was called (SNI).
    pub no_sni: bool,
}

/// Which back end drives the sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Every connection asks again as soon as it was answered.
    Closed {
        /// How many connections.
        #[serde(deserialize_with = "checked::positive")]
        connections: usize,
        /// Requests before a connection is closed and opened anew; none: as long as the server keeps it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "checked::positive_or_none"
        )]
        per_connection: Option<usize>,
    },
    /// Requests become due at a rate, whatever the server does.
    Open {
        /// Requests per second, over all connections.
        rate_per_s: Rate,
        /// How many connections share them.
        #[serde(deserialize_with = "checked::positive")]
        connections: usize,
        /// How due times are spaced.
        #[serde(default)]
        arrivals: Arrivals,
        /// Requests before a connection is closed and opened anew; none: as long as the server keeps it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "checked::positive_or_none"
        )]
        per_connection: Option<usize>,
    },
}

impl Load {
    /// How many connections.
    pub fn connections(&self) -> usize {
        match self {
            Self::Closed { connections, .. } | Self::Open { connections, .. } => *connections,
        }
    }

    /// Requests before a connection is closed and opened anew.
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// As independent users arrive: exponential gaps.
    Poisson,
}

/// When a measurement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After this long.
    Elapsed(Duration),
    /// After so many answers.
    Answered(u64),
    /// When so many connections have been opened, or tried, and are closed again.
    Closed(u64),
}

impl Expect {
    /// Whether the bytes of the body matter, and not just how many they are.
    pub fn looks_at_body(&self) -> bool {
        self.sha256.is_some() || self.body.is_some()
    }
}

/// What an answer must be; what is `None` is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// This status; none: any below 400.
    pub status: Option<u16>,
    /// Any status will do.
    pub any_status: bool,
    /// A body of so many bytes.
    pub length: Option<u64>,
    /// A body with this SHA-256.
    pub sha256: Option<[u8; 32]>,
    /// This very body.
    pub body: Option<Vec<u8>>,
}
