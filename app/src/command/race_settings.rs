//! What a command line of `drome race` and a `drome.toml` say alike: which servers are raced, what is requested of them, and who wins. Both are
//! read into one type and merged as data.

use super::race_urls::is_url;
use crate::failure::WrongInput;
use crate::options::{Slowdown, connections, grpc_method, protocol, transport};
use clap::Args;
use model::Protocol;
use model::metric::Decider;
use model::study::Transport;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::fmt::Display;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The largest number of servers in a race.
pub const MOST: usize = 26;

/// How the servers of a race are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerSource {
    /// By commands that start them.
    Commands,
    /// By revisions, which drome builds and starts.
    Revisions,
    /// By container images, which drome runs.
    Images,
    /// By URLs of servers that already run.
    Urls,
}

/// The servers that drome starts.
const STARTED: &[ServerSource] = &[ServerSource::Commands, ServerSource::Revisions, ServerSource::Images];

/// Why options are for revisions alone, and for images alone.
const OF_REVISIONS: &str = "it is for servers of --rev, and these are others";
const OF_IMAGES: &str = "it is for servers of --image, and these are others";

/// The options of `drome race`, as on the command line. An option of the command line replaces the one in the file.
#[derive(Clone, Debug, Default, Args, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename = "Race")]
pub struct RaceSettings {
    /// Commands that each start a server, where {port} stands for the port that it must listen on; or URLs of servers that
    /// already run, which are neither started nor stopped [default: the servers of drome.toml in this folder or above]
    #[arg(conflicts_with_all = ["rev", "images"], num_args = 1..=MOST, value_name = "COMMAND")]
    #[serde(rename = "urls")]
    #[schemars(
        description = "URLs of servers that already run, instead of revisions, such as `[\"http://127.0.0.1:8080/\", \"http://127.0.0.1:8081/\"]`."
    )]
    pub named: Vec<String>,
    /// Revision of this folder's git repository to race, such as main, HEAD~1 or v1.2; a dot is the working tree with
    /// its changes. Repeat it for each revision; the others are compared with the first
    #[arg(long, value_name = "REV", group = "built_servers")]
    #[schemars(
        description = "Revisions to race, such as `[\"main\", \".\"]`: a dot is the working tree. The others are compared with the first."
    )]
    pub rev: Vec<String>,
    /// Command that builds a revision, run by a shell in this folder of a checkout; a build is kept by commit, command and tools
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// Command that starts a revision's server, in the same folder; {port} stands for the port that it must listen on.
    /// For images: the words after the image's name
    #[arg(long, value_name = "COMMAND")]
    pub start: Option<String>,
    /// Container image to race, such as localhost/app:old, run by podman or docker and pulled if it is missing. Repeat it for
    /// each image; the others are compared with the first
    #[arg(long = "image", value_name = "NAME", group = "built_servers")]
    #[schemars(
        description = "Container images to race instead of revisions, such as `[\"localhost/app:old\", \"localhost/app:new\"]`."
    )]
    pub images: Vec<String>,
    /// Environment variable of every container, such as PORT={port}; {port} stands for the port that the server must
    /// listen on; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    #[schemars(description = "Environment variables of every container, such as `[\"PORT={port}\"]`.")]
    pub env: Vec<String>,
    /// Program that runs containers, with its own options, such as 'podman --runtime runc' [default: podman, else
    /// docker]
    #[arg(long, value_name = "TOOL")]
    pub container_tool: Option<String>,
    /// Option for the run command of the container tool, after drome's own, such as --memory=1g; may be repeated
    #[arg(long = "container-arg", value_name = "ARG", allow_hyphen_values = true)]
    #[schemars(description = "Options for the run command of that program.")]
    pub container_args: Vec<String>,
    /// URL to request of servers that drome starts; {port} stands for the server's port [default:
    /// http://127.0.0.1:{port}/]
    #[arg(long)]
    pub url: Option<String>,
    /// Number of connections [default: 64]
    #[arg(short, long, value_name = "N", value_parser = connections)]
    pub connections: Option<NonZeroU32>,
    /// Open a new connection for every request
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub no_keepalive: Option<bool>,
    /// Speak HTTP/2: agreed on in the TLS handshake of https URLs, and at once with http URLs
    #[arg(long, num_args = 0, default_missing_value = "true")]
    pub http2: Option<bool>,
    /// Call this method of gRPC, such as /package.Service/Method, over HTTP/2 in place of a request
    #[arg(long, value_name = "METHOD", value_parser = grpc_method, conflicts_with = "http2")]
    pub grpc: Option<String>,
    /// File with the message of --grpc, encoded as it is sent (protobuf's bytes) [default: an empty message]
    #[arg(long, value_name = "FILE")]
    pub data: Option<String>,
    /// With --http2 or --grpc: number of streams that a connection has open at the same time [default: 1]
    #[arg(long, value_name = "N", value_parser = connections)]
    pub streams: Option<NonZeroU32>,
    /// Longest time from the start of a server to its first answer that is no error, such as 503 or 404; one that takes longer has
    /// failed [default: 30s]
    #[arg(long, value_name = "TIME")]
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "Option<String>")]
    pub ready: Option<humantime::Duration>,
    /// Metric that decides: rate, server-cpu (CPU time per request), rss (memory), or p50@RATE, p90@RATE, p99@RATE,
    /// p999@RATE (latency at an offered rate in requests/s, such as p99@5k) [default: rate]
    #[arg(long, value_name = "METRIC")]
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "Option<String>")]
    pub metric: Option<Decider>,
    /// Exit with 3 if a command is certainly slower than the first by more than this share, such as 2%; with 0 if none is;
    /// with 4 if that is still open at the end, or if another command does not build or start, or answers wrongly. The race continues until
    /// this is decided
    #[arg(long, value_name = "SHARE")]
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "Option<String>")]
    pub fail_if_slower: Option<Slowdown>,
    /// Longest time of the race; a round that would exceed it is not started [default: 2min, or twice the time of
    /// the rounds before the first look]
    #[arg(long, value_name = "TIME")]
    #[serde(deserialize_with = "parsed")]
    #[schemars(with = "Option<String>")]
    pub budget: Option<humantime::Duration>,
}

impl RaceSettings {
    /// These settings, and for what they leave out those of `other`.
    pub fn or(self, other: Self) -> Self {
        let list = |own: Vec<String>, others| if own.is_empty() { others } else { own };
        Self {
            named: list(self.named, other.named),
            rev: list(self.rev, other.rev),
            build: self.build.or(other.build),
            start: self.start.or(other.start),
            images: list(self.images, other.images),
            env: list(self.env, other.env),
            container_tool: self.container_tool.or(other.container_tool),
            container_args: list(self.container_args, other.container_args),
            url: self.url.or(other.url),
            connections: self.connections.or(other.connections),
            no_keepalive: self.no_keepalive.or(other.no_keepalive),
            http2: self.http2.or(other.http2),
            grpc: self.grpc.or(other.grpc),
            data: self.data.or(other.data),
            streams: self.streams.or(other.streams),
            ready: self.ready.or(other.ready),
            metric: self.metric.or(other.metric),
            fail_if_slower: self.fail_if_slower.or(other.fail_if_slower),
            budget: self.budget.or(other.budget),
        }
    }

    /// What connections speak where they are encrypted or not. Errors: options that contradict each other.
    pub fn transport(&self, tls: bool) -> Result<Transport, WrongInput> {
        let over_http2 = protocol(self.http2 == Some(true));
        let protocol = self.grpc.as_ref().map_or(over_http2, |_| Protocol::Grpc);
        transport(protocol, self.streams, tls)
    }

    /// How the servers are named.
    pub fn source(&self) -> ServerSource {
        if !self.rev.is_empty() {
            ServerSource::Revisions
        } else if !self.images.is_empty() {
            ServerSource::Images
        } else if self.named.iter().any(|word| is_url(word)) {
            ServerSource::Urls
        } else {
            ServerSource::Commands
        }
    }

    /// Whether they say enough to start servers. Where they have only the names of revisions or images, drome.toml may have the rest.
    pub fn is_whole(&self) -> bool {
        match self.source() {
            ServerSource::Commands | ServerSource::Urls => !self.named.is_empty(),
            ServerSource::Revisions => self.start.is_some(),
            ServerSource::Images => self.start.is_some() || !self.env.is_empty(),
        }
    }

    /// The settings that mean nothing for servers that are named in this way: each as an option, as a key of the file, and why.
    pub fn misplaced(&self, servers: ServerSource) -> Vec<[&'static str; 3]> {
        let built = "it is for servers of --rev and --image, and these are others";
        let running = "it is for servers that drome starts, and these already run";
        let has_url = "the URLs of the servers already say what is requested";
        let images = &[ServerSource::Images][..];
        let all = [
            (["--build", "build", OF_REVISIONS], self.build.is_some(), &[ServerSource::Revisions][..]),
            (
                ["--start", "start", built],
                self.start.is_some(),
                &[ServerSource::Revisions, ServerSource::Images],
            ),
            (["--env", "env", OF_IMAGES], !self.env.is_empty(), images),
            (["--container-tool", "container_tool", OF_IMAGES], self.container_tool.is_some(), images),
            (["--container-arg", "container_args", OF_IMAGES], !self.container_args.is_empty(), images),
            (["--ready", "ready", running], self.ready.is_some(), STARTED),
            (["--url", "url", has_url], self.url.is_some(), STARTED),
        ];
        all.into_iter()
            .filter(|(_, is_given, of)| *is_given && !of.contains(&servers))
            .map(|one| one.0)
            .collect()
    }

    /// The words of a command line that say this besides those of `given`, which replace these.
    pub fn words(&self, given: &Self) -> Vec<String> {
        let lists = [
            ("rev", &self.rev, &given.rev),
            ("image", &self.images, &given.images),
            ("env", &self.env, &given.env),
            ("container-arg", &self.container_args, &given.container_args),
        ];
        let lists = lists.into_iter().filter(|(_, _, given)| given.is_empty());
        let lists = lists.flat_map(|(name, own, _)| own.iter().map(move |value| (name, value.clone())));
        let others = self.single_options().into_iter().zip(given.single_options());
        let others = others.filter(|(_, given)| given.1.is_none());
        let others = others.filter_map(|((name, value), _)| Some((name, value?)));
        let options = lists.chain(others).map(|(name, value)| format!("--{name}={value}"));
        let flags =
            [("--no-keepalive", self.no_keepalive, given.no_keepalive), ("--http2", self.http2, given.http2)];
        let flags = flags.into_iter().filter(|(_, own, given)| *own == Some(true) && given.is_none());
        let flags = flags.map(|(name, ..)| name.to_owned());
        self.named.iter().cloned().chain(options).chain(flags).collect()
    }

    /// The options that are given once and have a value.
    fn single_options(&self) -> [(&'static str, Option<String>); 12] {
        [
            ("build", self.build.clone()),
            ("start", self.start.clone()),
            ("container-tool", self.container_tool.clone()),
            ("url", self.url.clone()),
            ("connections", self.connections.map(|n| n.to_string())),
            ("grpc", self.grpc.clone()),
            ("data", self.data.clone()),
            ("streams", self.streams.map(|n| n.to_string())),
            ("ready", self.ready.map(|time| time.to_string())),
            ("metric", self.metric.as_ref().map(ToString::to_string)),
            ("fail-if-slower", self.fail_if_slower.map(|share| share.to_string())),
            ("budget", self.budget.map(|time| time.to_string())),
        ]
    }
}

/// Reads a key of the file as the option of the command line is read.
pub fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(from: D) -> Result<Option<T>, D::Error> {
    String::deserialize(from)?.parse().map(Some).map_err(Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_alone_are_not_enough_to_start() {
        let whole = |images: &[&str], env: &[&str], start: Option<&str>| {
            let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
            let (images, env, start) = (owned(images), owned(env), start.map(str::to_owned));
            RaceSettings { start, images, env, ..RaceSettings::default() }.is_whole()
        };
        assert!(whole(&["a"], &["P={port}"], None) && whole(&["a"], &[], Some("x")));
        assert!(!whole(&["a"], &[], None) && !whole(&[], &["P={port}"], Some("x")));
    }
}
