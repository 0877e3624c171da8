//! Runs a study in blocks: trial after trial, one server at a time, until it is enough. Each observation is stored at
//! once.

use crate::blocks::{self, Next};
use crate::fault::Fault;
use crate::findings::analyse;
use crate::lab::{Lab, LabError, Show};
use crate::remote::watch::AllWatch;
use crate::server::instance::{Instance, Place, Works};
use crate::server::plan;
use crate::server::under_load;
use crate::store::Store;
use crate::verdict::{Case, Policy};
use crate::{clock_text, verdict};
use model::environment::Executable;
use model::{
    Conditions, Findings, Measurement, Network, Observation, Outcome, Plan, Run, Tally, Trial, Usage,
};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Runs what is left of a run in blocks and returns its findings.
pub(crate) fn run(lab: &Lab, run: &Run, store: &Store, show: &mut dyn Show) -> Result<Findings, LabError> {
    // Read here and not earlier: only while the lab has its lock does no other drome add to what is stored.
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
    let (watch, mut server) = (AllWatch::begin(&lab.cores, lab.remote.as_ref()), None);
    let measured = measure(lab, run, trial, &mut server);
    let elapsed_ns = since.elapsed().as_nanos() as u64;
    let others_ppm = measured.as_ref().ok().and_then(|measured| measured.usage.others_ppm);
    let conditions = Conditions { server, others_ppm, ..watch.end() };
    let outcome = match measured {
        Ok(measured) => {
            Outcome::Measured(Box::new(measured.judged(lab, run.environment.network(), &conditions)))
        }
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
    /// How the figures were taken, if that is not the usual way.
    caveat: Option<&'static str>,
}

impl Unjudged {
    fn judged(self, lab: &Lab, network: Option<&Network>, conditions: &Conditions) -> Measurement {
        let case = Case {
            usage: Some(&self.usage),
            conditions: Some(conditions),
            stopping: self.stopping.as_deref(),
            network,
            ..Case::new(Policy::trial(lab.may_be_busy), &self.plan, &self.tally)
        };
        let mut verdict = verdict::judge(&case);
        verdict.reasons.extend(self.caveat.map(str::to_owned));
        Measurement { tally: self.tally, usage: Some(self.usage), verdict }
    }
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
        lab.run_prepare(command, &format!("{name}-prepare.log"))?;
    }

    let asked = Works::from([(cell.workload.clone(), work.clone())]);
    let instance = Instance::start(prepared, &place, &asked, &lab.stop)?;
    *program = instance.server.program();
    lab.verify_once(prepared, &instance)?;
    let seed = stats::random::derive(&[run.seed, trial.block as u64, trial.cell as u64]);
    let plan = plan::plan(cell, &run.study.design, &instance.origin, path, work, &lab.cores, seed);
    let caveat = instance.server.caveat();
    let loaded = under_load::load(instance, &plan, &lab.cores, &lab.stop)?;
    let usage = loaded.usage.ok_or_else(|| unknown("its processes could not be watched"))?;
    Ok(Unjudged { plan, tally: loaded.tally, usage, stopping: loaded.stopping, caveat })
}
