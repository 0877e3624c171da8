//! What the two sides say to each other, as JSON: a question and an answer for each request `servers.*`.

use model::environment::Executable;
use model::{Contender, Environment, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// How long the answer to a request may take, in seconds: much longer than a link may be silent before it counts as lost.
pub const PATIENCE_S: u64 = 60;

/// What an agent says of its machine.
#[derive(Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Its description, with all of its cores dealt to servers.
    pub environment: Environment,
    /// The CPUs that it deals to a load generator and to servers where both run there.
    pub halves: [Vec<usize>; 2],
    /// Identifies the boot and the PID namespace: equal on both sides if the agent runs on the machine that asks.
    pub boot: Option<String>,
    /// The address by which it is reached, as far as it knows.
    pub address: Option<Ipv4Addr>,
}

/// Asks the agent to write a contender's sources to its cache folder. They come in one blob, one file after the other.
#[derive(Debug, Serialize, Deserialize)]
pub struct WriteSources {
    /// Its name without a track.
    pub name: String,
    /// Its declaration, on the track that is wanted.
    pub contender: Contender,
    /// The sources' paths and lengths.
    pub sources: Vec<(PathBuf, usize)>,
    /// The number of the blob.
    pub blob: u64,
}

/// The answer to [`WriteSources`]: the contender's sources are in the agent's cache folder.
#[derive(Debug, Serialize, Deserialize)]
pub struct SourcesWritten {
    /// The number by which the agent knows it.
    pub id: u64,
    /// Its version, or what it lacks.
    pub version: Result<String, Lacks>,
}

/// What a contender lacks on the other machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lacks {
    /// Why it can't run.
    pub why: String,
    /// How to get it.
    pub remedy: String,
}

/// The workloads whose files servers read.
#[derive(Debug, Serialize, Deserialize)]
pub struct Bodies {
    /// By name.
    pub workloads: BTreeMap<String, Workload>,
}

/// Contenders to install.
#[derive(Debug, Serialize, Deserialize)]
pub struct Install {
    /// Their numbers.
    pub ids: Vec<u64>,
    /// Whether commands that change the machine may be run.
    pub may: bool,
}

/// A step of an installation.
#[derive(Debug, Serialize, Deserialize)]
pub enum Step {
    /// A line for the user.
    Says(String),
    /// A command that needs the user's consent.
    Asks(String),
}

/// How an installation ended.
#[derive(Debug, Serialize, Deserialize)]
pub struct Installed {
    /// What failed.
    pub failed: Option<String>,
    /// The versions now, in the order of the numbers.
    pub versions: Vec<Result<String, Lacks>>,
}

/// A server to start.
#[derive(Debug, Serialize, Deserialize)]
pub struct Start {
    /// The number of its contender.
    pub id: u64,
    /// The address on which it listens.
    pub host: Ipv4Addr,
    /// The cores that it may use.
    pub cpus: Vec<usize>,
    /// How many connections it will have.
    pub connections: usize,
    /// The name of the file for its output.
    pub log: String,
}

/// A server that runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct Started {
    /// Its number.
    pub server: u64,
    /// Its port.
    pub port: u16,
    /// The program that it is.
    pub program: Option<Executable>,
}

/// The result of something that a contender can fail at.
#[derive(Debug, Serialize, Deserialize)]
pub enum ContenderResult<T> {
    /// It went well.
    Well(T),
    /// The contender failed.
    Failed(String),
}

/// Anything there that has a number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Number {
    /// The number.
    pub id: u64,
}

/// A command that is run before a server starts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Prepare {
    /// The command line, for a shell.
    pub command: String,
    /// The name of the file for its output.
    pub log: String,
}

/// Asks the agent to sample what runs within turns.
#[derive(Debug, Serialize, Deserialize)]
pub struct Watch {
    /// The servers, by number, in the order of the members.
    pub servers: Vec<u64>,
    /// The cores of servers.
    pub cpus: Vec<usize>,
    /// The process that asks, where it is on the same machine: its CPU time does not count as another program's.
    pub asker: Option<i32>,
}

/// Asks the agent to sample a server over a measurement.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The server.
    pub server: u64,
    /// The cores of servers.
    pub cpus: Vec<usize>,
}

/// CPU time of every thread: process, thread, nanoseconds.
pub type Clocks = Vec<((i32, i32), u64)>;

/// Whether a server answers on its own machine.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answers {
    /// The server.
    pub server: u64,
    /// The path to request.
    pub path: String,
}

/// A probe of the network that is open.
#[derive(Debug, Serialize, Deserialize)]
pub struct Opened {
    /// Its port, of TCP and of UDP.
    pub port: u16,
    /// What every connection and datagram must begin with.
    pub token: [u8; 16],
}

/// The datagrams that came since the last time that this was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Datagrams {
    /// How many.
    pub came: u64,
    /// From the first to the last, in ns.
    pub took_ns: u64,
    /// How many the socket had no room for since it was opened: they came, and were not read soon enough. `None`: unknown.
    pub dropped_ever: Option<u64>,
}

impl Datagrams {
    /// The same, with only what was dropped since an earlier answer.
    #[must_use]
    pub fn since(self, before: &Self) -> Self {
        let dropped = self.dropped_ever.zip(before.dropped_ever);
        Self { dropped_ever: dropped.map(|(now, then)| now.saturating_sub(then)), ..self }
    }
}
