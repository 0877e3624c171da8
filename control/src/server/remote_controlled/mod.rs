//! The side that obeys: prepares contenders on this machine, and starts, watches and stops their servers, as drome on another machine asks.

mod contenders;
mod numbered;
mod running;

use crate::fault::Fault;
use crate::locked;
use crate::machine::cores::Cores;
use crate::machine::environment::ConditionsWatch;
use crate::machine::system::System;
use crate::processes::cpu_sampler::{CpuSampler, SampledProcesses};
use crate::processes::usage::{Watched, WatchedHere};
use crate::processes::{likely_class, tree};
use crate::remote::host;
use crate::remote::messages::{RemoteRequest, SERVERS};
use crate::remote::probe::Probe;
use agent::{Call, Handler};
use contenders::Contenders;
use numbered::Numbered;
use running::RunningServers;
use serde::Serialize;
use serde_json::Value;
use std::sync::Mutex;

/// How many things are watched at once, at most: many more than are measured at once.
const MOST_WATCHED: usize = 64;

/// The servers on this machine that drome on another machine asks for.
#[derive(Default)]
pub struct ControlledServers {
    contenders: Contenders,
    running: RunningServers,
    /// The sampler of the current cell's turns.
    samplers: Numbered<CpuSampler>,
    /// Servers that are watched over a measurement.
    watched: Numbered<WatchedHere>,
    conditions: Numbered<ConditionsWatch>,
    probe: Mutex<Option<Probe>>,
}

impl Handler for ControlledServers {
    fn answer(&self, call: &Call<'_>) -> Option<Result<Value, String>> {
        (call.name() == SERVERS).then(|| self.carry_out(call.question()?, call))
    }

    fn end(&self) {
        *locked(&self.probe) = None;
        self.running.end();
    }
}

impl ControlledServers {
    fn carry_out(&self, request: RemoteRequest, call: &Call<'_>) -> Result<Value, String> {
        let Self { contenders, running, samplers, watched, conditions, probe } = self;
        match request {
            RemoteRequest::Describe => json(host::machine()),
            RemoteRequest::WriteSources(asked) => json(contenders.write_sources(*asked)?),
            RemoteRequest::MakeBodies(workloads) => json(contenders.make_bodies(&workloads)?),
            RemoteRequest::Install { ids, may } => json(contenders.install(&ids, may, call)?),
            RemoteRequest::Prepare { command, log } => {
                json(or_contenders_fault(running::prepare(&command, &log, call.stop()))?)
            }
            RemoteRequest::Start(asked) => {
                let (prepared, assets) = contenders.to_start(asked.id)?;
                json(or_contenders_fault(running.start(&asked, &prepared, assets, call.stop()))?)
            }
            RemoteRequest::Ended(id) => json(running.with(id, |one| one.server.ended())?),
            RemoteRequest::Answers { server, path } => json(running.answers(server, &path)?),
            RemoteRequest::AskToStop(id) => json(running.with(id, |one| one.server.ask_to_stop())?),
            RemoteRequest::Stop(id) => json(running.stop(id)),
            RemoteRequest::Snapshot(id) => json(tree::snapshot(&running.tree(id)?)),
            RemoteRequest::ThreadClocks(id) => json(tree::listed_clocks(&running.tree(id)?)),
            RemoteRequest::LikelyClass(id) => json(likely_class::of(&running.tree(id)?)),
            RemoteRequest::BeginSamples { servers, cpus, asker } => {
                samplers.take_all();
                json(samplers.add(CpuSampler::begin(SampledProcesses {
                    members:
                        servers.iter().map(|id| running.tree(*id).map(Some)).collect::<Result<_, _>>()?,
                    server_cpus: cpus.into_iter().collect(),
                    excluded: asker.into_iter().collect(),
                    only_samples: true,
                    ..SampledProcesses::default()
                })))
            }
            RemoteRequest::Sample(id) => json(samplers.with(id, CpuSampler::sample)?),
            RemoteRequest::BeginWatch { server, cpus } => {
                let cores = Cores { server: cpus, ..Cores::default() };
                json(watched.add_among(WatchedHere::pinned(running.tree(server)?, &cores), MOST_WATCHED))
            }
            RemoteRequest::Look(id) => json(watched.with(id, |watched| watched.look())?),
            RemoteRequest::EndWatch(id) => json(watched.take(id).and_then(|watched| watched.others_ppm())),
            RemoteRequest::BeginConditions => {
                let begun = ConditionsWatch::begin(&System::here(), &Cores::of_servers_alone());
                json(conditions.add_among(begun, MOST_WATCHED))
            }
            RemoteRequest::EndConditions(id) => json(conditions.take(id).map(ConditionsWatch::end)),
            RemoteRequest::OpenProbe(host) => {
                let opened = Probe::open(host)?;
                let answer = json(opened.opened());
                // If there was a probe before, replacing it closes it.
                *locked(probe) = Some(opened);
                answer
            }
            RemoteRequest::Datagrams => {
                json(locked(probe).as_ref().map(Probe::datagrams).unwrap_or_default())
            }
            RemoteRequest::CloseProbe => {
                *locked(probe) = None;
                json(())
            }
        }
    }
}

fn json(answer: impl Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|error| error.to_string())
}

/// Returns a contender's fault as an answer, and the lab's own as an error.
fn or_contenders_fault<T>(result: Result<T, Fault>) -> Result<Result<T, String>, String> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Fault::Contender(why)) => Ok(Err(why)),
        Err(Fault::Lab(why)) => Err(why),
    }
}

/// A name that can be a file's, and leads nowhere else.
fn file_name(name: &str) -> Result<&str, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    if !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(is_plain) {
        Ok(name)
    } else {
        Err(format!("`{}` can't be the name of a file", name.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_leads_nowhere() {
        for name in ["1-2-nginx@tuned-0.log", "a"] {
            assert_eq!(file_name(name), Ok(name));
        }
        let long = "a".repeat(201);
        for name in ["", ".", "..", "a/b", "/etc/passwd", "a\0", "ä", "a b", &long] {
            assert!(file_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_contenders_fault_is_an_answer_and_the_labs_own_an_error() {
        assert_eq!(or_contenders_fault(Ok(1)), Ok(Ok(1)));
        let failed = or_contenders_fault::<()>(Err(Fault::Contender("x".to_owned())));
        assert_eq!(failed, Ok(Err("x".to_owned())));
        let own = or_contenders_fault::<()>(Err(Fault::Lab("full".to_owned())));
        assert_eq!(own, Err("full".to_owned()));
    }
}
