//! What the two sides say to each other, as JSON: one enum of requests, each of which names the type of its answer.

use model::environment::Executable;
use model::{Contender, Environment, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::PathBuf;

/// How long the answer to a request may take, in seconds: much longer than a link may be silent before it counts as lost.
pub const PATIENCE_S: u64 = 60;

/// The name that all of these requests have on the link.
pub const SERVERS: &str = "servers";

/// What drome on another machine is asked. Contenders, servers and whatever is watched there have numbers, which that side gives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum RemoteRequest {
    /// Describes the machine: [`MachineFacts`].
    Describe,
    /// Writes a contender's sources to the cache folder: [`SourcesWritten`].
    WriteSources(Box<WriteSources>),
    /// Makes the files of these workloads, which servers read.
    MakeBodies(BTreeMap<String, Workload>),
    /// Installs what these contenders lack, and reports each [`InstallStep`] meanwhile: [`Installed`].
    Install {
        /// Their numbers.
        ids: Vec<u64>,
        /// Whether commands that change the machine may be run.
        may: bool,
    },
    /// Runs a command before a server starts: `Result<(), String>`, whose error is the command's.
    Prepare {
        /// The command line, for a shell.
        command: String,
        /// The name of the file for its output.
        log: String,
    },
    /// Starts a server: `Result<Started, String>`, whose error is the contender's.
    Start(StartServer),
    /// How a server ended, if it has: `Option<String>`.
    Ended(u64),
    /// Whether a server answers on its own machine: `bool`.
    Answers {
        /// The server.
        server: u64,
        /// The path to request.
        path: String,
    },
    /// Asks a server to stop, and waits for nothing.
    AskToStop(u64),
    /// Stops a server: `Option<String>`, what was wrong at its end.
    Stop(u64),
    /// What a server's processes have used and hold: [`Snapshot`](crate::processes::tree::Snapshot).
    Snapshot(u64),
    /// CPU time of each thread of a server: [`ListedClocks`](crate::processes::tree::ListedClocks).
    ThreadClocks(u64),
    /// The class that a server's processes show: `Option<Class>`.
    LikelyClass(u64),
    /// Begins to sample what runs within turns: `u64`, the number of the sampler. The one before ends.
    BeginSamples {
        /// The servers, in the order of the members.
        servers: Vec<u64>,
        /// The cores of servers.
        cpus: Vec<usize>,
        /// The process that asks, where it is on the same machine: its CPU time does not count as another program's.
        asker: Option<i32>,
    },
    /// Takes the next sample: [`CpuUsage`](crate::processes::cpu_sampler::CpuUsage).
    Sample(u64),
    /// Begins to watch a server over a measurement: `u64`.
    BeginWatch {
        /// The server.
        server: u64,
        /// The cores of servers.
        cpus: Vec<usize>,
    },
    /// Reads everything about a watched server: [`UsageLook`](crate::processes::usage::UsageLook).
    Look(u64),
    /// The share of its cores' time that others used since it is watched, in millionths: `Option<u64>`. It is not watched any more.
    EndWatch(u64),
    /// Reads the machine's conditions: `u64`.
    BeginConditions,
    /// Reads them again: `Option<Conditions>`, those of the time in between.
    EndConditions(u64),
    /// Opens a probe of the network on this address: [`Opened`].
    OpenProbe(Ipv4Addr),
    /// Counts what came to it since the last time: [`Datagrams`].
    Datagrams,
    /// Closes it.
    CloseProbe,
}

/// What an agent says of its machine.
#[derive(Debug, Serialize, Deserialize)]
pub struct MachineFacts {
    /// Its description, with all of its cores dealt to servers.
    pub environment: Environment,
    /// The CPUs that it deals to a load generator and to servers where both run there.
    pub halves: [Vec<usize>; 2],
    /// Identifies the boot and the PID namespace: equal on both sides if the agent runs on the machine that asks.
    pub boot: Option<String>,
    /// The address by which it is reached, as far as it knows.
    pub address: Option<Ipv4Addr>,
}

/// A contender with its sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WriteSources {
    /// Its name without a track.
    pub name: String,
    /// Its declaration, on the track that is wanted.
    pub contender: Contender,
    /// Its sources.
    pub sources: Vec<Source>,
}

/// A file of a contender's sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    /// Its path within the contender's folder.
    pub path: PathBuf,
    /// What is in it.
    #[serde(with = "model::base64")]
    pub bytes: Vec<u8>,
}

/// A contender's sources are in the agent's cache folder.
#[derive(Debug, Serialize, Deserialize)]
pub struct SourcesWritten {
    /// The number by which the agent knows it.
    pub id: u64,
    /// Its version, or what it lacks.
    pub version: Result<String, Lack>,
}

/// What a contender lacks on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// Why it can't run.
    pub why: String,
    /// The command or the hint that gets it.
    pub remedy: String,
}

impl Lack {
    /// Both in one sentence.
    pub fn sentence(&self) -> String {
        format!("{}; get it: {}", self.why, self.remedy)
    }
}

/// A step of an installation.
#[derive(Debug, Serialize, Deserialize)]
pub enum InstallStep {
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
    pub versions: Vec<Result<String, Lack>>,
}

/// A server to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StartServer {
    /// The number of its contender.
    pub id: u64,
    /// The address on which it listens.
    pub host: Ipv4Addr,
    /// The cores that it may use.
    pub cpus: Vec<usize>,
    /// How many connections it will have.
    pub connections: usize,
    /// Whether it must listen with TLS.
    pub tls: bool,
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
    /// Its port with TLS, if it has one beside that.
    pub tls_port: Option<u16>,
    /// The program that it is.
    pub program: Option<Executable>,
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
