//! The spine: trial after trial, each observation stored at once, until the schedule says it is enough.

use crate::cores::Cores;
use crate::environment::{self, System, Watch};
use crate::instance::{self, Instance, Place, Works};
use crate::prepare::Prepared;
use crate::sample::{Sampler, Watched};
use crate::schedule::{self, Next};
use crate::store::{Store, StoreError};
use crate::tree::Tree;
use crate::verdict::{Case, Policy};
use crate::{analyse, before, clock_text, plan, verdict, verify};
use load::Progress;
use model::environment::Executable;
use model::{Conditions, Findings, Measurement, Observation, Outcome, Plan, Run, Tally, Trial, Usage};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// All that a run needs beside its description.
#[derive(Debug)]
pub struct Lab {
    /// The contenders that take part.
    pub prepared: BTreeMap<String, Prepared>,
    /// The workloads that are asked for.
    pub works: Works,
    /// The cores.
    pub cores: Cores,
    /// The folder of the workloads' files.
    pub assets: PathBuf,
    /// Where servers' output is kept, a file a trial.
    pub logs: PathBuf,
    /// Set to end the run after, or in the middle of, the trial at hand.
    pub stop: Arc<AtomicBool>,
    /// Trials count although other programs use much of the machine.
    pub may_be_busy: bool,
    /// The contenders that were verified in full since the lab began.
    pub verified: Mutex<BTreeSet<String>>,
}

/// Is told what goes on.
pub trait Show {
    /// A trial begins; so many are done of at least so many.
    fn begins(&mut self, run: &Run, trial: &Trial, done: usize, least: usize);
    /// A trial was observed.
    fn observed(&mut self, run: &Run, observation: &Observation);
    /// All that was observed so far, once after every trial; for who draws estimates meanwhile.
    fn knows(&mut self, _run: &Run, _observations: &[Observation]) {}
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The results can't be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Somebody asked it to stop. What was finished is kept.
    #[error("interrupted; every finished trial is kept")]
    Interrupted,
    /// The lab's own files can't be written.
    #[error("can't write {path}: {source}; free some space, or set DROME_CACHE to another folder")]
    Files {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Runs what is left of a run and says what all of it means.
pub fn run(
    lab: &Lab,
    run: &Run,
    mut observations: Vec<Observation>,
    store: &Store,
    show: &mut dyn Show,
) -> Result<Findings, LabError> {
    std::fs::create_dir_all(&lab.logs)
        .map_err(|source| LabError::Files { path: lab.logs.clone(), source })?;
    // What the lab does beside the trials, it does where the load generator is, never where a server is.
    let _ = net::cpu::pin(&lab.cores.client);
    let why = loop {
        let trial = match schedule::next(run, &observations) {
            Next::Trial(trial) => trial,
            Next::Done(why) => break why,
        };
        show.begins(run, &trial, observations.len(), schedule::least_trials(run));
        let observation = observe(lab, run, trial);
        if lab.stop.load(Ordering::Relaxed) {
            return Err(LabError::Interrupted);
        }
        store.insert(&run.id, &observation)?;
        show.observed(run, &observation);
        observations.push(observation);
        show.knows(run, &observations);
    };
    store.end_run(&run.id, &why)?;
    Ok(analyse::findings(run, &observations, Some(&why)))
}

/// One trial. Whatever the contender does, the outcome is an observation.
fn observe(lab: &Lab, run: &Run, trial: Trial) -> Observation {
    let (started_at, started) = (clock_text(), Instant::now());
    let (watch, mut server) = (Watch::begin(&System::here(), &lab.cores), None);
    let loaded = measure(lab, run, &trial, &mut server);
    let elapsed_ns = started.elapsed().as_nanos() as u64;
    let others_ppm = loaded.as_ref().ok().and_then(|loaded| loaded.usage.others_ppm);
    let conditions = Conditions { server, others_ppm, ..watch.end() };
    let outcome = match loaded {
        Ok(loaded) => Outcome::Measured(Box::new(loaded.judged(lab, &conditions))),
        Err(why) => Outcome::Failed(why),
    };
    Observation { trial, started_at, elapsed_ns, outcome, conditions }
}

/// What a trial came to, before anybody has judged it.
struct Loaded {
    plan: Plan,
    tally: Tally,
    usage: Usage,
    /// What went wrong when the server was stopped.
    stopping: Option<String>,
}

impl Loaded {
    fn judged(self, lab: &Lab, conditions: &Conditions) -> Measurement {
        let case = Case {
            usage: Some(&self.usage),
            conditions: Some(conditions),
            stopping: self.stopping.as_deref(),
            ..Case::new(Policy::trial(lab.may_be_busy), &self.plan, &self.tally)
        };
        let verdict = verdict::judge(&case);
        Measurement { tally: self.tally, usage: self.usage, verdict }
    }
}

/// In full, and with every workload that it serves, once in a run.
fn verify_once(lab: &Lab, prepared: &Prepared, instance: &Instance) -> Result<(), String> {
    let mut verified = lab.verified.lock().unwrap_or_else(PoisonError::into_inner);
    if verified.contains(&prepared.name) {
        return Ok(());
    }
    let wrong =
        verify::full(instance.address, &prepared.contender.serves, &prepared.contender.faults, &lab.works)
            .wrong();
    if !wrong.is_empty() {
        return Err(instance::fails(&wrong));
    }
    verified.insert(prepared.name.clone());
    Ok(())
}

/// Prepare, start, verify, warm up, measure, stop. An error is the contender's; what program it was is known all the same.
fn measure(lab: &Lab, run: &Run, trial: &Trial, program: &mut Option<Executable>) -> Result<Loaded, String> {
    let prepared = lab.prepared.get(&trial.contender).ok_or("it is not prepared")?;
    let cell = &run.study.cells[trial.cell];
    let work = lab.works.get(&cell.workload).ok_or("its workload is not known")?;
    let path = prepared.contender.serves.get(&cell.workload).ok_or("it does not serve the workload")?;
    let name = format!("{}-{}-{}-{}", trial.block, trial.cell, trial.contender, trial.copy);
    let log = lab.logs.join(format!("{name}.log"));
    let (cpus, assets) = (lab.cores.server.clone(), lab.assets.clone());
    let place = Place { cpus, connections: cell.load.connections(), assets, log };
    if let Some(command) = run.race.as_ref().and_then(|race| race.prepare.as_deref()) {
        before::run(command, &lab.logs.join(format!("{name}-prepare.log")), &lab.stop)?;
    }

    let asked = Works::from([(cell.workload.clone(), work.clone())]);
    let mut instance = Instance::start(prepared, &place, &asked, &lab.stop)?;
    *program = environment::executable(instance.server.pid());
    verify_once(lab, prepared, &instance)?;
    let seed = stats::random::derive(&[run.seed, trial.block as u64, trial.cell as u64]);
    let plan = plan::plan(cell, &run.study.design, instance.address, path, work, &lab.cores, seed);
    let sampler = Sampler::start(Watched::pinned(Tree::Below(instance.server.root()), &lab.cores.server));
    let progress = Progress { stop: Arc::clone(&lab.stop), ..Progress::default() };
    let tally = load::run(&plan, &progress, &sampler.watch()).map_err(|e| e.to_string());
    let usage = sampler.finish();
    if let Some(end) = instance.server.ended() {
        return Err(format!("under load {end}"));
    }
    let stopping = instance.server.stop().err();
    let (tally, usage) = (tally?, usage.ok_or("its processes could not be watched")?);
    Ok(Loaded { plan, tally, usage, stopping })
}
