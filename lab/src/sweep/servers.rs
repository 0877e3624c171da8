//! Real servers for a sweep: a running one, or some that are started afresh for every measurement.

use super::Measure;
use crate::lab::Lab;
use crate::setup::RACED;
use control::fault::Fault;
use control::processes::local;
use control::processes::usage::{Sampler, WatchedHere};
use control::server::plan;
use control::server::under_load;
use control::verify::work::Work;
use judge::verdict::{self, Case, Policy};
use load::Progress;
use model::study::Transport;
use model::{Cell, Load, Measurement, Network, Plan, Study, Tally, Usage};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What is put under load.
#[derive(Debug)]
pub enum SweepEntry {
    /// A running server: the plan without its load, its seed and its times.
    Running(Box<Plan>),
    /// A contender that is started for every measurement: its name in the lab.
    Started(String),
}

/// Servers, and the lab that measures them.
#[derive(Debug)]
pub struct SweepServers<'a> {
    /// The lab.
    lab: &'a Lab,
    /// Whose design has the times of warm-up and measurement.
    study: &'a Study,
    /// The entries, in the order of the contenders.
    entries: Vec<SweepEntry>,
    /// What the network to the servers carries, where they are on another machine.
    network: Option<Network>,
    began: Instant,
    measured: usize,
}

impl<'a> SweepServers<'a> {
    /// Starts the clock of the sweep.
    pub fn new(lab: &'a Lab, study: &'a Study, entries: Vec<SweepEntry>) -> Self {
        let network = None;
        Self { lab, study, entries, network, began: Instant::now(), measured: 0 }
    }

    /// Sets what the network to the servers carries, where they are on another machine.
    #[must_use]
    pub fn over(self, network: Option<Network>) -> Self {
        Self { network, ..self }
    }

    fn running(&self, base: &Plan, load: &Load, seed: u64) -> Result<Measurement, Fault> {
        let plan = Plan {
            load: load.clone(),
            until: model::Until::Elapsed(self.study.design.measure),
            warmup: self.study.design.warmup,
            seed,
            ..base.clone()
        };
        // The server may have been started anew since the last step.
        let server = plan.target.address.tcp().and_then(local::listener);
        let sampler = server.map(|pid| Sampler::start(WatchedHere::free(pid, &plan.cpus)));
        let progress = Progress { stop: Arc::clone(&self.lab.stop), ..Progress::default() };
        let (tally, usage) = Sampler::around(sampler, &(), |watch| load::run(&plan, &progress, watch));
        Ok(self.judged(&plan, under_load::counted(tally)?, usage, None))
    }

    /// What connections speak.
    fn transport(&self) -> Transport {
        self.study.cells.first().map(Cell::transport).unwrap_or_default()
    }

    fn started(&self, name: &str, load: &Load, seed: u64) -> Result<Measurement, Fault> {
        let lab = self.lab;
        let unknown = |what: &str| Fault::Lab(what.to_owned());
        let prepared = lab.prepared.get(name).ok_or_else(|| unknown("it is not prepared"))?;
        let path = prepared.contender.serves.get(RACED).ok_or_else(|| unknown("it has no URL"))?;
        let any = Work::default();
        let work = lab.works.get(RACED).unwrap_or(&any);
        let log = format!("{}-{name}", self.measured);
        let cell = Cell::plain(String::new(), RACED.to_owned(), load.clone()).over(self.transport());
        let instance = lab.start(prepared, &[&cell], &log)?;
        let at = instance.origin_in(&cell).ok_or_else(|| unknown("it does not listen as it is asked"))?;
        let plan = plan::plan(&cell, &self.study.design, &at, path, work, &lab.cores, seed);
        let loaded = under_load::load(instance, &plan, &lab.cores, &lab.stop)?;
        Ok(self.judged(&plan, loaded.tally, loaded.usage, loaded.stopping.as_deref()))
    }

    fn judged(&self, plan: &Plan, tally: Tally, usage: Option<Usage>, stopping: Option<&str>) -> Measurement {
        let policy = Policy::compared(self.lab.may_be_busy);
        let network = self.network.as_ref();
        let case = Case { usage: usage.as_ref(), stopping, network, ..Case::new(policy, plan, &tally) };
        let verdict = verdict::judge(&case);
        Measurement { tally, usage, verdict }
    }
}

impl Measure for SweepServers<'_> {
    fn measure(&mut self, contender: usize, load: &Load, seed: u64) -> Result<Measurement, Fault> {
        self.measured += 1;
        match &self.entries[contender] {
            SweepEntry::Running(base) => self.running(base, load, seed),
            SweepEntry::Started(name) => self.started(name, load, seed),
        }
    }

    fn is_stopped(&self) -> bool {
        self.lab.stop.load(Ordering::Relaxed)
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}
