//! Watches servers that run on this machine for another one: what they use in turns, over a measurement, and the machine's conditions.

use super::super::messages::{Clocks, Number, Sample, Watch as WatchAsked};
use super::running::Running;
use super::{locked, no_number};
use crate::cpu_sampler::{CpuSampler, CpuUsage, SampledProcesses};
use crate::machine::cores::Cores;
use crate::machine::environment::Watch as Conditions;
use crate::machine::system::System;
use crate::server::likely_class;
use crate::server::tree::{self, Snapshot, Tree};
use crate::server::usage::{Sampler, Watched};
use load::Watch;
use model::Usage;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The maximum number of samples, and of conditions, that may be under way.
const MOST: usize = 64;

/// What is being watched.
#[derive(Default)]
pub struct Watching {
    /// The sampler of the current cell's turns.
    cpu_sampler: Mutex<Option<(u64, CpuSampler)>>,
    samples: Mutex<BTreeMap<u64, Sampling>>,
    conditions: Mutex<BTreeMap<u64, Conditions>>,
}

struct Sampling {
    sampler: Sampler,
    edges: Box<dyn Watch + Send>,
}

impl Watching {
    /// Takes the first sample of the members of a cell.
    pub fn begin_cpu_sampler(
        &self,
        asked: &WatchAsked,
        running: &Running,
        number: u64,
    ) -> Result<Number, String> {
        let trees =
            asked.servers.iter().map(|id| running.tree(*id).map(Some)).collect::<Result<Vec<_>, _>>()?;
        let sampler = CpuSampler::begin(SampledProcesses {
            members: trees,
            server_cpus: asked.cpus.iter().copied().collect(),
            excluded: asked.asker.into_iter().collect(),
            only_samples: true,
            ..SampledProcesses::default()
        });
        *locked(&self.cpu_sampler) = Some((number, sampler));
        Ok(Number { id: number })
    }

    /// Takes the next sample.
    pub fn cpu_usage(&self, id: u64) -> Result<CpuUsage, String> {
        let mut sampler = locked(&self.cpu_sampler);
        let sampler = sampler.as_mut().filter(|(number, _)| *number == id);
        sampler.map(|(_, sampler)| sampler.sample()).ok_or_else(|| no_number("sampler", id))
    }

    /// Prepares to sample a server.
    pub fn begin_sample(&self, asked: &Sample, running: &Running, number: u64) -> Result<Number, String> {
        let cores = Cores { server: asked.cpus.clone(), ..Cores::default() };
        let sampler = Sampler::start(Watched::pinned(running.tree(asked.server)?, &cores));
        let edges = Box::new(sampler.watch());
        keep(&mut locked(&self.samples), number, Sampling { sampler, edges });
        Ok(Number { id: number })
    }

    /// Tells the sampler that the window opens.
    pub fn opened(&self, id: u64) {
        if let Some(sampling) = locked(&self.samples).get(&id) {
            sampling.edges.opened();
        }
    }

    /// Tells the sampler that the window closes.
    pub fn closed(&self, id: u64) {
        if let Some(sampling) = locked(&self.samples).get(&id) {
            sampling.edges.closed();
        }
    }

    /// What was used within the window.
    pub fn end_sample(&self, id: u64) -> Option<Usage> {
        let Sampling { sampler, edges } = locked(&self.samples).remove(&id)?;
        drop(edges);
        sampler.finish()
    }

    /// Reads the machine's conditions.
    pub fn begin_conditions(&self, number: u64) -> Number {
        let cores = Cores { server: Cores::deal().allowed(), ..Cores::default() };
        keep(&mut locked(&self.conditions), number, Conditions::begin(&System::here(), &cores));
        Number { id: number }
    }

    /// Reads them again, and returns those of the time in between.
    pub fn end_conditions(&self, id: u64) -> Option<model::Conditions> {
        locked(&self.conditions).remove(&id).map(Conditions::end)
    }
}

/// Keeps something; the oldest makes room.
fn keep<T>(all: &mut BTreeMap<u64, T>, number: u64, what: T) {
    all.insert(number, what);
    while all.len() > MOST {
        all.pop_first();
    }
}

/// What a server's processes use.
pub fn snapshot(tree: &Tree) -> Snapshot {
    tree::snapshot(tree)
}

/// CPU time of a server's threads.
pub fn clocks(tree: &Tree) -> Clocks {
    tree::thread_clocks(tree).into_iter().collect()
}

/// The names of a server's programs and threads.
pub fn names(tree: &Tree) -> Vec<String> {
    likely_class::names(tree)
}
