//! A contender under load: driven, watched, stopped.

use crate::fault::Fault;
use crate::instance::Instance;
use crate::sample::{Sampler, Watched};
use crate::tree::Tree;
use load::{LoadError, Progress};
use model::{Plan, Tally, Usage};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What came of it.
#[derive(Debug)]
pub struct Loaded {
    /// The client's side.
    pub tally: Tally,
    /// The server's; `None` where its processes could not be watched.
    pub usage: Option<Usage>,
    /// What went wrong when it was stopped, which takes nothing from what was measured before.
    pub stopping: Option<String>,
}

/// Carries the plan out and stops the contender, which may use these cores.
pub fn load(
    mut instance: Instance,
    plan: &Plan,
    cores: &[usize],
    stop: &Arc<AtomicBool>,
) -> Result<Loaded, Fault> {
    let sampler = Sampler::start(Watched::pinned(Tree::Below(instance.server.root()), cores));
    let progress = Progress { stop: Arc::clone(stop), ..Progress::default() };
    let tally = load::run(plan, &progress, &sampler.watch());
    let usage = sampler.finish();
    if let Some(end) = instance.server.ended() {
        return Err(Fault::Contender(format!("under load {end}")));
    }
    let stopping = instance.server.stop().err();
    Ok(Loaded { tally: tally.map_err(fault)?, usage, stopping })
}

/// Whose failure it is that nothing was measured.
pub fn fault(error: LoadError) -> Fault {
    match error {
        LoadError::Connect { .. } | LoadError::Halted(_) => Fault::Contender(error.to_string()),
        own => Fault::Lab(own.to_string()),
    }
}
