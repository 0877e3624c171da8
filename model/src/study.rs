//! A study: contenders × cells, a design and, for the founding pages, the published figures.

use crate::checked;
use crate::contender::{Contender, Track};
pub use crate::design::Design;
use crate::metric::{Metric, Percentile};
pub use crate::page::{AsPublished, Published};
use crate::plan::{Load, Protocol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The contender that stands for what this machine can do at best; it enters every cell twice.
pub const REFERENCE: &str = "reference";

/// The name of every run that is a race.
pub const RACE: &str = "race";

/// Which contenders are compared, under which workloads and loads, and for how long: `studies/NAME.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The heading of the report.
    pub title: String,
    /// Where the published figures come from.
    pub source: Option<String>,
    /// Names of contenders in `contenders/`, without the reference.
    pub contenders: Vec<String>,
    /// The tracks on which they take part; a contender without a tuned track takes part once.
    #[serde(default = "default_track")]
    pub tracks: Vec<Track>,
    /// The workloads and their loads.
    #[serde(rename = "cell")]
    pub cells: Vec<Cell>,
    /// How much is measured.
    #[serde(deserialize_with = "Design::read")]
    pub design: Design,
    /// The other machine on which its servers are started, as for `--server-on`: a command to which `drome agent` can be appended.
    #[serde(default, rename = "server-on", skip_serializing_if = "Option::is_none")]
    pub server_on: Option<String>,
    /// The published figures of the page.
    pub published: Option<Published>,
    /// How the page measured, cell by cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub as_published: Vec<AsPublished>,
    /// What was not the same for all on the page, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub unequal: Vec<String>,
}

impl Study {
    /// The same study over other connections, in every cell.
    #[must_use]
    pub fn over(self, transport: Transport) -> Self {
        let cells = self.cells.into_iter().map(|cell| cell.over(transport)).collect();
        Self { cells, ..self }
    }

    /// The metric that contenders are ranked by in a cell. A server that does not fall behind an offered rate has exactly this rate,
    /// however fast it is, so under open load latency ranks in place of the rate.
    pub fn metric(&self, cell: usize) -> Metric {
        match (self.design.metric, &self.cells[cell].load) {
            (Metric::Rate, Load::Open { .. }) => Metric::Latency(Percentile::P99),
            (metric, _) => metric,
        }
    }
}

/// The tracks of a study that names none.
pub fn default_track() -> Vec<Track> {
    vec![Track::Default]
}

/// One workload under one load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Its name in tables and charts.
    pub title: String,
    /// The name of a workload in `workloads/`.
    pub workload: String,
    /// How requests arrive.
    pub load: Load,
    /// What is spoken on a connection.
    #[serde(default, skip_serializing_if = "Protocol::is_usual")]
    #[schemars(extend("default" = "http1"))]
    pub protocol: Protocol,
    /// The number of HTTP/2's streams that a connection has open at the same time, or of WebSocket's messages in flight; absent: 1.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "checked::positive_or_none"
    )]
    #[schemars(range(min = 1))]
    pub streams: Option<usize>,
    /// Whether connections are encrypted, by TLS 1.3, and how each of them begins; absent: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Handshake>,
}

/// What a cell's connections speak: the keys of the same names in [`Cell`], which refuses unknown keys and so can't have this as one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Transport {
    /// The protocol.
    #[serde(default, skip_serializing_if = "Protocol::is_usual")]
    #[schemars(extend("default" = "http1"))]
    pub protocol: Protocol,
    /// The number of HTTP/2's streams that a connection has open at the same time, or of WebSocket's messages in flight; absent: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<usize>,
    /// How each encrypted connection begins; absent: none is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Handshake>,
}

/// How an encrypted connection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Handshake {
    /// With a full handshake: certificate and signature.
    Full,
    /// By resuming the session of an earlier connection, from the second connection on. A server that never resumes fails verification, and a
    /// measurement with more than 1 % of full handshakes is void.
    Resumed,
}

impl Cell {
    /// A cell over plain HTTP/1.1.
    pub fn plain(title: String, workload: String, load: Load) -> Self {
        Self { title, workload, load, protocol: Protocol::default(), streams: None, tls: None }
    }

    /// The same cell over other connections.
    #[must_use]
    pub fn over(self, transport: Transport) -> Self {
        let Transport { protocol, streams, tls } = transport;
        Self { protocol, streams, tls, ..self }
    }

    /// What its connections speak.
    pub fn transport(&self) -> Transport {
        Transport { protocol: self.protocol, streams: self.streams, tls: self.tls }
    }

    /// Why this contender can't be asked so; `None`: it can.
    pub fn lack(&self, contender: &Contender) -> Option<String> {
        if !contender.serves.contains_key(&self.workload) {
            let workload = &self.workload;
            return Some(format!(
                "does not serve the workload `{workload}`: add it under [serves] of its contender.toml"
            ));
        }
        let (speaks, place) = match (&self.tls, &contender.tls) {
            (None, _) => (&contender.speaks, "at the top"),
            (Some(_), Some(tls)) => (&tls.speaks, "under [tls]"),
            (Some(_), None) => {
                return Some("does not listen with TLS: add [tls] to its contender.toml".to_owned());
            }
        };
        (!speaks.contains(&self.protocol)).then(|| {
            let (name, tls) = (self.protocol.name(), if self.tls.is_some() { " with TLS" } else { "" });
            format!("does not speak {name}{tls}: name it in `speaks` {place} of its contender.toml")
        })
    }

    /// Why the cell contradicts itself; `None`: it does not.
    pub fn contradiction(&self) -> Option<&'static str> {
        match (self.protocol, self.tls, self.load.per_connection()) {
            (Protocol::Http1, ..) if self.streams.is_some() => {
                Some("streams needs protocol = \"http2\", \"grpc\" or \"websocket\"")
            }
            (_, Some(Handshake::Resumed), None) => Some(
                "tls = \"resumed\" needs new connections that can resume a session: write per_connection = 1 in its load",
            ),
            _ => None,
        }
    }

    /// The load that warms servers up for this cell: closed load over the same number of connections. At a low rate a compiler would take
    /// minutes to see what is worth compiling, and an offered rate does not show whether a server has settled.
    pub fn warm_up_load(&self) -> Load {
        Load::Closed { connections: self.load.connections(), per_connection: self.load.per_connection() }
    }

    /// Whether servers are warmed up for both cells by the same requests, in the same way.
    pub fn warms_up_like(&self, other: &Self) -> bool {
        let asked = |cell: &Self| (cell.workload.clone(), cell.warm_up_load(), cell.transport());
        asked(self) == asked(other)
    }
}
