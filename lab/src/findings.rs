//! Reads a run's findings from the store.

use crate::heat::Measured;
use crate::heat::observed::observed;
use crate::store::{Store, StoreError};
use model::{Findings, Observation, Run};

/// Computes the findings of a run; `ended`: why it ended ([`Store::run`]).
pub fn of(store: &Store, run: &Run, ended: Option<&str>) -> Result<Findings, StoreError> {
    let mut findings = Measured::of(store, &run.id)?.findings(run, ended);
    findings.origin = store.origin(&run.id)?;
    Ok(findings)
}

/// All starts of a run, in the form of trials.
pub fn all(store: &Store, run: &str) -> Result<Vec<Observation>, StoreError> {
    Ok(observed(&store.heats(run)?, &store.starts(run)?))
}
