//! The specs of the heats that a stored run still needs.

use super::{FleetError, Spec};
use judge::findings::analyse;
use judge::schedule::next::NextStep;
use judge::schedule::next_of_fleet::heats_owed;
use store::{Store, StoreError};

/// What a run still needs.
#[derive(Clone, Debug)]
pub enum Owed {
    /// These heats, those under way included.
    Specs(Vec<Spec>),
    /// Nothing: it is over, for this reason.
    Over(String),
}

/// Says which heats of a run are owed. Where none is, the run has ended, which is stored.
pub fn owed(store: &Store, id: &str) -> Result<Owed, FleetError> {
    let (run, ended) = store.run(id)?;
    if let Some(origin) = store.origin(id)? {
        return Err(StoreError::Pulled { run: run.id, machine: origin.machine }.into());
    }
    if run.fleet.is_none() {
        return Err(FleetError::NoFleet { run: run.id });
    }
    if let Some(why) = ended {
        return Ok(Owed::Over(why));
    }
    let measured = store.measured(id)?;
    let mut compare = |rounds| analyse::heats::neighbours(&run, &measured, rounds);
    match heats_owed(&run, &measured, &mut compare) {
        NextStep::Measure(heats) => {
            Ok(Owed::Specs(heats.into_iter().map(|heat| Spec::new(&run, heat)).collect()))
        }
        NextStep::End(why) => {
            store.end_run(id, &why)?;
            Ok(Owed::Over(why))
        }
    }
}
