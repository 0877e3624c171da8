//! A cell of `drome.toml`: what is requested in one of several races of the same servers, and how slow it may become.

use crate::command::race_settings::{RaceSettings, parsed};
use crate::options::Slowdown;
use model::metric::Decider;
use schemars::JsonSchema;
use serde::Deserialize;
use std::num::NonZeroU32;

/// One race. An option that is missing here is taken from `[race]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The name of this race in reports.
    pub title: String,
    /// URL to request; `{port}` stands for the server's port.
    #[serde(default)]
    pub url: Option<String>,
    /// Number of connections.
    #[serde(default)]
    connections: Option<NonZeroU32>,
    /// Whether a new connection is opened for every request.
    #[serde(default)]
    no_keepalive: Option<bool>,
    /// Whether HTTP/2 is spoken.
    #[serde(default)]
    http2: Option<bool>,
    /// The method of gRPC that is called.
    #[serde(default)]
    grpc: Option<String>,
    /// The file with its message.
    #[serde(default)]
    data: Option<String>,
    /// HTTP/2: number of streams that a connection has open at the same time.
    #[serde(default)]
    streams: Option<NonZeroU32>,
    /// Metric that decides, such as `rate`, `server-cpu` or `p99@5k`.
    #[serde(default, deserialize_with = "parsed")]
    #[schemars(with = "Option<String>")]
    metric: Option<Decider>,
    /// Largest slowdown that passes, such as `2%`.
    #[serde(default, deserialize_with = "parsed")]
    #[schemars(with = "Option<String>")]
    fail_if_slower: Option<Slowdown>,
    /// Longest time of this race, such as `2min`.
    #[serde(default, deserialize_with = "parsed")]
    #[schemars(with = "Option<String>")]
    budget: Option<humantime::Duration>,
}

impl Cell {
    /// What it says of its race.
    pub fn settings(self) -> RaceSettings {
        let Self { title: _, url, connections, no_keepalive, http2, grpc, data, streams, .. } = self;
        let Self { metric, fail_if_slower, budget, .. } = self;
        RaceSettings {
            url,
            connections,
            no_keepalive,
            http2,
            grpc,
            data,
            streams,
            metric,
            fail_if_slower,
            budget,
            ..RaceSettings::default()
        }
    }
}
