//! A server that can be raced, as its `contender.toml` declares it. Unknown keys are errors.

use crate::checked;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// `contenders/<name>/contender.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// What a table calls it.
    pub title: String,
    /// The language that it is written in.
    pub language: String,
    /// What sort of thing it is.
    pub kind: Kind,
    /// Where its users find it.
    pub homepage: String,
    /// How it gets onto the machine; nothing for what drome brings along.
    #[serde(default)]
    pub install: Install,
    /// A command that makes it from `src/`, where it needs one.
    pub build: Option<Build>,
    /// How it tells its version.
    pub version: Version,
    /// How it is started and stopped.
    pub run: Start,
    /// The path of every workload that it serves.
    pub serves: BTreeMap<String, String>,
}

/// What sort of thing a contender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A web server of its own.
    Server,
    /// A library that programs answer requests with.
    Framework,
    /// A process that runs an application written for it.
    AppServer,
}

/// How a contender gets onto the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// Debian packages.
    #[serde(default)]
    pub apt: Vec<String>,
    /// Commands that must be on PATH and that drome does not install.
    #[serde(default)]
    pub needs: Vec<String>,
    /// How a person gets `needs`.
    pub hint: Option<String>,
}

/// A command that is run once for a given source, in a cache folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Program and arguments; `{src}` and `{build}` are filled in.
    pub command: Vec<String>,
}

/// How a contender tells its version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Program and arguments; what it prints on either stream is searched.
    pub command: Vec<String>,
    /// The version is the first dotted number after this text.
    pub after: Option<String>,
}

/// How a contender is started and stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Program and arguments; `{port} {workers} {dir} {assets} {src} {build}` are filled in.
    pub command: Vec<String>,
    /// Files of `src/` that are copied to `{dir}` with the placeholders filled in.
    #[serde(default)]
    pub files: Vec<String>,
    /// The server's own default number of workers, where it has that notion.
    #[serde(default, deserialize_with = "checked::positive_or_none")]
    pub workers: Option<usize>,
    /// The signal that stops it.
    #[serde(default)]
    pub stop: StopSignal,
    /// How long it may take until it answers its first request.
    #[serde(default = "ready", with = "checked::duration")]
    pub ready: Duration,
}

fn ready() -> Duration {
    Duration::from_secs(30)
}

/// The signals that servers stop on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the signals'")]
pub enum StopSignal {
    #[default]
    #[serde(rename = "SIGTERM")]
    Term,
    #[serde(rename = "SIGINT")]
    Int,
    #[serde(rename = "SIGQUIT")]
    Quit,
    #[serde(rename = "SIGKILL")]
    Kill,
}
