//! The main loop: one run from its lock to its findings. Every command that measures and stores goes this way.

use crate::extra_start::{self, ExtraServer, ExtraStart, Variables};
use crate::findings;
use crate::heat::{self, Measured};
use crate::lab::{Lab, LabError, Show};
use crate::setup::{self, Lineup, SetupError};
use control::fault::Fault;
use control::machine::pinned::Pinned;
use model::{Findings, Heat, Observation, Run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use store::{ProfileRow, Store, StoreError};

/// A run that no other drome works on, with the lab that measures it and the store that keeps it.
#[derive(Debug)]
pub struct Session<'s> {
    /// The run. It can be changed until it is stored.
    pub run: Run,
    lab: Lab,
    store: &'s Store,
}

impl<'s> Session<'s> {
    /// Locks the run and sets up its lab. Nothing is stored yet.
    pub fn open(
        run: Run,
        lineup: Lineup,
        stop: Arc<AtomicBool>,
        store: &'s Store,
    ) -> Result<Self, SetupError> {
        let lab = setup::lab(&run, lineup, stop, Some(store))?;
        Ok(Self { run, lab, store })
    }

    /// Starts every contender of a race once: all must give the same answer (unless `any_body`), which is expected from then on.
    /// `step` is told whose turn it is.
    pub fn ensure_same_work(
        &mut self,
        path: &str,
        any_body: bool,
        step: &dyn Fn(&str),
    ) -> Result<(), SetupError> {
        setup::same_work(&mut self.lab, &mut self.run, path, any_body, step)
    }

    /// Stores the run as one that begins.
    pub fn begin(&self) -> Result<(), StoreError> {
        self.store.add_run(&self.run)
    }

    /// Stores that the run continues.
    pub fn resume(&self) -> Result<(), StoreError> {
        self.store.reopen_run(&self.run)
    }

    /// Measures what is left of the run, and returns its findings. Everything that was measured is stored at once.
    pub fn measure(&self, show: &mut dyn Show) -> Result<Findings, LabError> {
        // The lab's other work runs on the load generator's cores, never on those of servers.
        let _pinned = Pinned::to(&self.lab.cores.client);
        heat::run::run(&self.lab, &self.run, self.store, show)
    }

    /// Measures this one heat of the run, whichever others are owed.
    pub fn measure_heat(&self, heat: &Heat, show: &mut dyn Show) -> Result<Measured, LabError> {
        let _pinned = Pinned::to(&self.lab.cores.client);
        heat::run::one(&self.lab, &self.run, self.store, heat, show)
    }

    /// The findings so far, by what is stored.
    pub fn findings(&self) -> Result<Findings, StoreError> {
        let (run, ended) = self.store.run(&self.run.id)?;
        findings::of(self.store, &run, ended.as_deref())
    }

    /// Everything that was observed in the run so far.
    pub fn observations(&self) -> Result<Vec<Observation>, StoreError> {
        findings::all(self.store, &self.run.id)
    }

    /// What can be started once more when the run is over: every contender that took part, for every cell whose workload it serves.
    pub fn extra_starts(&self) -> Result<Vec<ExtraStart>, StoreError> {
        Ok(extra_start::all(&self.lab, &self.run, &self.store.starts(&self.run.id)?))
    }

    /// Starts a contender of a run that is over once more, to be looked at under load. Nothing of it is stored, so its environment may have
    /// more variables.
    pub fn begin_extra_start(
        &self,
        extra: &ExtraStart,
        more: &Variables<'_>,
    ) -> Result<ExtraServer<'_>, Fault> {
        ExtraServer::begin(&self.lab, &self.run, extra, more)
    }

    /// Stores the profiles of contenders, for the run's page. They count in nothing.
    pub fn keep_profiles(&self, profiles: &[ProfileRow]) -> Result<(), StoreError> {
        self.store.keep_profiles(&self.run.id, profiles)
    }

    /// Whether a user asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.lab.stop.load(Ordering::Relaxed)
    }
}
