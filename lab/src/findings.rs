//! Reads a run's findings from the store, whichever way it was measured.

pub mod analyse;
pub mod compare;
pub mod forecast;
pub mod history;
pub mod race;
pub mod steady;

use crate::heat::Measured;
use crate::heat::observed::observed;
use crate::store::{Store, StoreError};
use model::{Findings, Observation, Run};

/// Computes the findings of a run from its observations and why it ended ([`Store::run`]); heats are read from the store.
pub fn of(
    store: &Store,
    run: &Run,
    observations: &[Observation],
    ended: Option<&str>,
) -> Result<Findings, StoreError> {
    let mut findings = match run.study.design.heats {
        None => analyse::findings(run, observations, ended),
        Some(_) => Measured::of(store, &run.id)?.findings(run, ended),
    };
    findings.origin = store.origin(&run.id)?;
    Ok(findings)
}

/// All observations of a run, one by one: the trials of [`Store::run`], or the starts of heats in the form of trials.
pub fn all(store: &Store, run: &Run, trials: Vec<Observation>) -> Result<Vec<Observation>, StoreError> {
    if run.study.design.heats.is_none() {
        return Ok(trials);
    }
    Ok(observed(&store.heats(&run.id)?, &store.starts(&run.id)?))
}
