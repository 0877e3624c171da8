//! The findings of a run as the store has it, in whichever way it was measured.

use crate::analyse;
use crate::heat::run::Measured;
use crate::store::{Store, StoreError};
use model::{Findings, Observation, Run};

/// Of a run with its observations and why it ended ([`Store::run`]); heats are read from the store.
pub fn of(
    store: &Store,
    run: &Run,
    observations: &[Observation],
    ended: Option<&str>,
) -> Result<Findings, StoreError> {
    if run.study.design.heats.is_none() {
        return Ok(analyse::findings(run, observations, ended));
    }
    Ok(Measured::of(store, &run.id)?.findings(run, ended))
}
