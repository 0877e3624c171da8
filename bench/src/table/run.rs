//! Measures a work: every round does each of its runs once. Each round begins with a different run than the round
//! before, so that a machine whose speed drifts favours nobody.

use super::clients;
use super::machine::{self, CpuWatch};
use super::model::{Run, Server, Work};
use super::options::Options;
use super::record::{Record, SCHEMA, Setting};
use super::sample::{Round, Sample};
use super::server::Fixtures;
use super::versions;
use crate::drome::Drome;
use crate::process::{Listening, Running};
use anyhow::{Context, Result};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

/// A client may take this much longer than it was told.
const GRACE: Duration = Duration::from_secs(20);

/// Descriptors that a process needs besides its connections.
const SPARE_DESCRIPTORS: u64 = 64;

/// Everything that all works share.
pub struct Bench {
    fixtures: Fixtures,
    server_core: usize,
    client_core: usize,
    rounds: usize,
    seconds: u64,
    /// Whether standard error is a terminal, which then shows the progress.
    shows_progress: bool,
}

/// The servers of one kind, or why there are none.
type Started = Result<Vec<Listening>, String>;

impl Bench {
    /// `examples` is the folder of the programs that drome is compared with.
    pub fn new(options: &Options, drome: Drome, examples: PathBuf) -> Result<Self> {
        let cores = net::cpu::allowed();
        let first = *cores.first().context("can't find out which cores this process may use")?;
        Ok(Self {
            fixtures: Fixtures::new(drome, examples)?,
            server_core: first,
            client_core: cores.get(1).copied().unwrap_or(first),
            rounds: options.rounds(),
            seconds: options.seconds(),
            shows_progress: std::io::stderr().is_terminal(),
        })
    }

    /// The record before anything is measured: date, machine, versions and settings.
    pub fn record(&self) -> Record {
        Record {
            schema: SCHEMA,
            date: versions::today(),
            machine: machine::described(),
            versions: versions::all(self.fixtures.drome.path()),
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
                let all = (0..work.processes).map(|_| self.fixtures.start(self.server_core, *server));
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
                clients::label(run.client)
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

    /// Replaces the line of progress with this text; an empty text clears it.
    fn show(&self, text: &str) {
        if self.shows_progress {
            eprint!("\r\x1b[K{text}");
        }
    }

    /// Runs all clients at once, one at each server, and adds up their results.
    fn run(&self, work: &Work, run: &Run, servers: &[Listening]) -> Result<Sample> {
        let seconds = self.seconds.max(work.min_seconds);
        let connections = run.connections.unwrap_or(work.connections).div_ceil(servers.len());
        let all_cpu_ns = || -> Result<u64> {
            let each = servers.iter().map(|server| server.process.cpu_ns());
            each.sum::<Option<u64>>().context("the server has ended")
        };
        let watch = CpuWatch::start();
        let before_ns = all_cpu_ns()?;
        let mut started = Vec::new();
        for server in servers {
            let command = clients::command(&self.fixtures, run, server.port, connections, seconds)?;
            started.push(Running::start(Some(self.client_core), &command)?);
        }
        let mut ended = Vec::new();
        for client in started {
            let end = client.end(Duration::from_secs(seconds) + GRACE);
            ended.push(end.with_context(|| clients::label(run.client))?);
        }
        let server_cpu_ns = all_cpu_ns()?.saturating_sub(before_ns);
        let anonymous = servers.iter().map(|server| server.process.anonymous_bytes());
        let server_anonymous_bytes = anonymous.sum();
        let client_anonymous_bytes = ended.iter().map(|client| client.anonymous_max_bytes).sum();
        let client_cpu_ns = ended.iter().map(|client| client.cpu_ns).sum();
        let others_cores = watch.others_cores(client_cpu_ns + server_cpu_ns);
        let reports = ended.iter().map(|client| clients::read_report(&self.fixtures, run.client, client));
        Ok(Sample {
            reports: reports.collect::<Result<_>>()?,
            client_cpu_ns,
            server_cpu_ns,
            server_anonymous_bytes,
            client_anonymous_bytes,
            connections: connections * servers.len(),
            others_cores,
        })
    }
}
