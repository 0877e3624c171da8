//! One interleaved comparison: every round does every run of a work once, and begins with another one than the
//! round before, so that a machine that drifts favours nobody.

use super::machine::{self, Watch};
use super::options::Options;
use super::peers::{self, Count};
use super::process::Running;
use super::record::{Record, SCHEMA, Setting};
use super::rows::{Run, Server, Work};
use super::server::{Listening, Place};
use super::versions;
use anyhow::{Context, Result};
use std::io::IsTerminal;
use std::time::Duration;

/// A client may take so much longer than it was told.
const GRACE: Duration = Duration::from_secs(20);

/// Descriptors beside those of connections.
const SPARE_DESCRIPTORS: u64 = 64;

/// The machine as the bench uses it.
pub struct Bench {
    place: Place,
    server_core: usize,
    client_core: usize,
    rounds: usize,
    seconds: u64,
    is_watched: bool,
}

/// What one run came to.
#[derive(Debug)]
pub struct Sample {
    /// Of each client.
    pub counts: Vec<Count>,
    pub client_cpu_ns: u64,
    pub server_cpu_ns: u64,
    pub connections: usize,
    /// How many cores somebody else kept busy meanwhile.
    pub others_cores: Option<f64>,
}

/// The servers of one kind, or why there are none.
type Started = Result<Vec<Listening>, String>;

/// Each run of the work, or why there is none.
pub type Round = Vec<Result<Sample, String>>;

impl Bench {
    pub fn new(options: &Options) -> Result<Self> {
        // The bench itself was built by the same cargo into the same folder.
        let own = std::env::current_exe()?;
        let target = own.ancestors().nth(2).context("no target folder")?;
        let cores = net::cpu::allowed();
        let first = *cores.first().context("no core that may be used is known")?;
        Ok(Self {
            place: Place::new(target.join("release"))?,
            server_core: first,
            client_core: cores.get(1).copied().unwrap_or(first),
            rounds: options.rounds,
            seconds: options.seconds,
            is_watched: std::io::stderr().is_terminal(),
        })
    }

    /// What is known before anything is measured.
    pub fn record(&self) -> Record {
        Record {
            schema: SCHEMA,
            date: versions::today(),
            machine: machine::described(),
            versions: versions::all(&self.place.release),
            setting: Some(Setting {
                server_core: self.server_core,
                client_core: self.client_core,
                rounds: self.rounds,
                seconds: self.seconds,
            }),
            rows: Vec::new(),
        }
    }

    /// All rounds of a work.
    pub fn measure(&self, work: &Work) -> Vec<Round> {
        let most = work.runs.iter().map(|run| run.connections.unwrap_or(work.connections)).max().unwrap_or(0);
        let needed = most.div_ceil(work.processes) as u64 + SPARE_DESCRIPTORS;
        if let Some(limit) = net::limits::raise_descriptors(needed).filter(|limit| *limit < needed) {
            let reason = format!("{needed} descriptors are needed and {limit} allowed: raise `ulimit -Hn`");
            return vec![work.runs.iter().map(|_| Err(reason.clone())).collect()];
        }
        let servers = self.start_servers(work);
        (0..self.rounds).map(|round| self.round(work, round, &servers)).collect()
    }

    fn start_servers(&self, work: &Work) -> Vec<(Server, Started)> {
        let mut servers: Vec<(Server, Started)> = Vec::new();
        for Run { server, .. } in work.runs {
            if servers.iter().all(|(started, _)| started != server) {
                let all = (0..work.processes).map(|_| self.place.start(self.server_core, *server));
                let started: Result<Vec<Listening>> = all.collect();
                servers.push((*server, started.map_err(|error| format!("{error:#}"))));
            }
        }
        servers
    }

    fn round(&self, work: &Work, round: usize, servers: &[(Server, Started)]) -> Round {
        let runs = work.runs.len();
        let mut samples: Vec<(usize, Result<Sample, String>)> = Vec::new();
        for at in (0..runs).map(|k| (round + k) % runs) {
            let run = &work.runs[at];
            self.show(&format!(
                "{}: round {} of {}, {}",
                work.name,
                round + 1,
                self.rounds,
                peers::label(run.client)
            ));
            let server = servers.iter().find(|(server, _)| *server == run.server).map(|(_, server)| server);
            let sample = match server {
                Some(Ok(servers)) => self.run(work, run, servers).map_err(|error| format!("{error:#}")),
                Some(Err(reason)) => Err(reason.clone()),
                None => Err("no such server".to_owned()),
            };
            samples.push((at, sample));
        }
        self.show("");
        samples.sort_by_key(|(at, _)| *at);
        samples.into_iter().map(|(_, sample)| sample).collect()
    }

    /// What is going on, where somebody watches.
    fn show(&self, text: &str) {
        if self.is_watched {
            eprint!("\r\x1b[K{text}");
        }
    }

    /// All clients of a run at once, one at each server, and what they did together.
    fn run(&self, work: &Work, run: &Run, servers: &[Listening]) -> Result<Sample> {
        let seconds = self.seconds.max(work.least_seconds);
        let connections = run.connections.unwrap_or(work.connections).div_ceil(servers.len());
        let all_cpu_ns = || -> Result<u64> {
            let each = servers.iter().map(|server| server.process.cpu_ns());
            each.sum::<Option<u64>>().context("the server is gone")
        };
        let watch = Watch::start();
        let before_ns = all_cpu_ns()?;
        let mut clients = Vec::new();
        for server in servers {
            let (program, args) = peers::command(&self.place, run, server.port, connections, seconds)?;
            clients.push(Running::start(self.client_core, &program, &args)?);
        }
        let mut ended = Vec::new();
        for client in clients {
            let end = client.end(Duration::from_secs(seconds) + GRACE);
            ended.push(end.with_context(|| peers::label(run.client))?);
        }
        let server_cpu_ns = all_cpu_ns()?.saturating_sub(before_ns);
        let client_cpu_ns = ended.iter().map(|client| client.cpu_ns).sum();
        let others_cores = watch.others_cores(client_cpu_ns + server_cpu_ns);
        let counts = ended.iter().map(|client| peers::count(run.client, client));
        Ok(Sample {
            counts: counts.collect::<Result<_>>()?,
            client_cpu_ns,
            server_cpu_ns,
            connections: connections * servers.len(),
            others_cores,
        })
    }
}
