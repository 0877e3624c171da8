//! The spine: runs trial after trial and stores each observation at once, until the schedule says that it is enough.

use crate::blocks::{self, Next};
use crate::fault::Fault;
use crate::findings::analyse;
use crate::heat;
use crate::heat::run::Measured;
use crate::machine::cores::Cores;
use crate::machine::environment::{self, System, Watch};
use crate::machine::pinned::Pinned;
use crate::prepare::Prepared;
use crate::server::instance::{self, Instance, Place, Works};
use crate::server::plan;
use crate::server::prepare_command;
use crate::server::under_load;
use crate::server::verify;
use crate::setup::lock::Lock;
use crate::store::{Store, StoreError};
use crate::verdict::{Case, Policy};
use crate::{clock_text, verdict};
use model::environment::Executable;
use model::heat::{Heat, Start, Step};
use model::{Conditions, Findings, Measurement, Observation, Outcome, Plan, Run, Tally, Trial, Usage};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Everything that a run needs beside its description.
#[derive(Debug)]
pub struct Lab {
    /// The contenders that take part.
    pub prepared: BTreeMap<String, Prepared>,
    /// The workloads that are asked for.
    pub works: Works,
    /// The cores of servers and load generator.
    pub cores: Cores,
    /// The folder of the workloads' files.
    pub assets: PathBuf,
    /// The folder for servers' output, a file a trial.
    pub logs: PathBuf,
    /// Set to end the run, in the middle of the current trial or after it.
    pub stop: Arc<AtomicBool>,
    /// Whether trials count although other programs use much of the machine.
    pub may_be_busy: bool,
    /// The contenders that were verified in full since the lab began.
    pub verified: Mutex<BTreeSet<String>>,
    /// The lock that keeps every other drome from continuing the run.
    pub lock: Lock,
}

/// Receives the progress of a run.
pub trait Show {
    /// A trial begins; `done` are finished, of at least `least`.
    fn begins(&mut self, run: &Run, trial: &Trial, done: usize, least: usize);
    /// A trial was observed.
    fn observed(&mut self, run: &Run, observation: &Observation);
    /// All observations so far, once after every trial, for estimates that are shown meanwhile.
    fn knows(&mut self, _run: &Run, _observations: &[Observation]) {}
    /// A step within a heat: a few times a second, between two turns.
    fn step(&mut self, _run: &Run, _heat: &Heat, _step: &Step) {}
    /// A heat is over; `starts` are its own.
    fn heat_over(&mut self, _run: &Run, _heat: &Heat, _starts: &[Start]) {}
    /// Everything measured in heats so far, once after every heat, for estimates that are shown meanwhile.
    fn knows_heats(&mut self, _run: &Run, _measured: &Measured) {}
}

/// Why a run could not continue.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The results can't be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A user asked to stop. Every finished trial is kept.
    #[error("interrupted; every finished trial is kept")]
    Interrupted,
    /// The lab failed in a heat. Its finished cells are kept.
    #[error("the lab failed in heat {heat} of round {round}: {why}; every finished cell is kept")]
    Heat {
        /// The round, counted from 1.
        round: usize,
        /// The heat, counted from 1.
        heat: usize,
        /// What went wrong.
        why: String,
    },
    /// The lab failed in a trial, which therefore has no outcome.
    #[error("the lab failed in a trial of {contender} in block {block}: {why}; every finished trial is kept")]
    Trial {
        /// The contender of the trial.
        contender: String,
        /// The block, counted from 1.
        block: usize,
        /// What went wrong.
        why: String,
    },
}

/// Runs what is left of a run and returns its findings.
pub fn run(lab: &Lab, run: &Run, store: &Store, show: &mut dyn Show) -> Result<Findings, LabError> {
    if run.study.design.heats.is_some() {
        return heat::run::run(lab, run, store, show);
    }
    // What the lab does beside the trials, it does where the load generator is, never where a server is.
    let _pinned = Pinned::to(&lab.cores.client);
    // Read here and nowhere before: from the moment that the lab has its lock, no other drome adds to them.
    let mut observations = store.observations(&run.id)?;
    let mut since = Instant::now();
    let why = loop {
        let trial = match blocks::next(run, &observations) {
            Next::Trial(trial) => trial,
            Next::Done(why) => break why,
        };
        show.begins(run, &trial, observations.len(), blocks::least_trials(run));
        let observed = observe(lab, run, &trial, since);
        let is_stopped = lab.stop.load(Ordering::Relaxed);
        match observed {
            Ok(observation) if !is_stopped || is_whole(&observation) => {
                since = Instant::now();
                store.insert(&run.id, &observation)?;
                show.observed(run, &observation);
                observations.push(observation);
                show.knows(run, &observations);
            }
            Err(why) if !is_stopped => return Err(failed(&trial, why)),
            _ => {}
        }
        if is_stopped {
            return Err(LabError::Interrupted);
        }
    };
    store.end_run(&run.id, &why)?;
    Ok(analyse::findings(run, &observations, Some(&why)))
}

/// Whether the measurement was complete before the stop was requested, and only the server had still to be stopped.
fn is_whole(observation: &Observation) -> bool {
    matches!(&observation.outcome, Outcome::Measured(measured) if !measured.tally.interrupted)
}

fn failed(trial: &Trial, why: String) -> LabError {
    LabError::Trial { contender: trial.contender.clone(), block: trial.block + 1, why }
}

/// Runs one trial. Whatever the contender does, the outcome is an observation; an error is the lab's own failure.
fn observe(lab: &Lab, run: &Run, trial: &Trial, since: Instant) -> Result<Observation, String> {
    let started_at = clock_text();
    let (watch, mut server) = (Watch::begin(&System::here(), &lab.cores), None);
    let measured = measure(lab, run, trial, &mut server);
    let elapsed_ns = since.elapsed().as_nanos() as u64;
    let others_ppm = measured.as_ref().ok().and_then(|measured| measured.usage.others_ppm);
    let conditions = Conditions { server, others_ppm, ..watch.end() };
    let outcome = match measured {
        Ok(measured) => Outcome::Measured(Box::new(measured.judged(lab, &conditions))),
        Err(Fault::Contender(why)) => Outcome::Failed(why),
        Err(Fault::Lab(why)) => return Err(why),
    };
    Ok(Observation { trial: trial.clone(), started_at, elapsed_ns, outcome, conditions, in_heat: None })
}

/// The result of a trial before its verdict.
struct Unjudged {
    plan: Plan,
    tally: Tally,
    usage: Usage,
    /// What went wrong when the server was stopped.
    stopping: Option<String>,
}

impl Unjudged {
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

/// Verifies a contender in full, with every workload that it serves, once in a run.
pub(crate) fn verify_once(lab: &Lab, prepared: &Prepared, instance: &Instance) -> Result<(), Fault> {
    let mut verified = lab.verified.lock().unwrap_or_else(PoisonError::into_inner);
    if verified.contains(&prepared.name) {
        return Ok(());
    }
    let contender = &prepared.contender;
    let wrong = verify::full(instance.address, &contender.serves, &contender.faults, &lab.works)?.wrong();
    if !wrong.is_empty() {
        return Err(Fault::Contender(instance::fails(&wrong)));
    }
    verified.insert(prepared.name.clone());
    Ok(())
}

/// Prepares, starts, verifies, warms up, measures and stops. `program` is set even for a trial that fails.
fn measure(lab: &Lab, run: &Run, trial: &Trial, program: &mut Option<Executable>) -> Result<Unjudged, Fault> {
    let unknown = |what: &str| Fault::Lab(what.to_owned());
    let prepared = lab.prepared.get(&trial.contender).ok_or_else(|| unknown("it is not prepared"))?;
    let cell = &run.study.cells[trial.cell];
    let work = lab.works.get(&cell.workload).ok_or_else(|| unknown("its workload is not known"))?;
    let path = prepared.contender.serves.get(&cell.workload);
    let path = path.ok_or_else(|| Fault::Contender("it does not serve the workload".to_owned()))?;
    let name = format!("{}-{}-{}-{}", trial.block, trial.cell, trial.contender, trial.copy);
    let log = lab.logs.join(format!("{name}.log"));
    let (cpus, assets) = (lab.cores.server.clone(), lab.assets.clone());
    let place = Place { cpus, connections: cell.load.connections(), assets, log };
    if let Some(command) = run.race.as_ref().and_then(|race| race.prepare.as_deref()) {
        prepare_command::run(command, &lab.logs.join(format!("{name}-prepare.log")), &lab.stop)?;
    }

    let asked = Works::from([(cell.workload.clone(), work.clone())]);
    let instance = Instance::start(prepared, &place, &asked, &lab.stop)?;
    *program = environment::executable(instance.server.pid());
    verify_once(lab, prepared, &instance)?;
    let seed = stats::random::derive(&[run.seed, trial.block as u64, trial.cell as u64]);
    let plan = plan::plan(cell, &run.study.design, instance.address, path, work, &lab.cores, seed);
    let loaded = under_load::load(instance, &plan, &lab.cores, &lab.stop)?;
    let usage = loaded.usage.ok_or_else(|| unknown("its processes could not be watched"))?;
    Ok(Unjudged { plan, tally: loaded.tally, usage, stopping: loaded.stopping })
}
