//! Plans the run of a fleet: its row in the store, from which all of its heats follow.

use super::FleetError;
use crate::setup::{self, Lineup, RunRules};
use control::catalog::Catalog;
use judge::schedule;
use model::{Fleet, Run, Study};
use std::time::Duration;
use store::Store;
use store::shared::LONGEST;

/// What is planned.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The run.
    pub run: Run,
    /// The number of its heats until it is first asked whether that is enough.
    pub heats: usize,
}

/// Plans a run of a study for this number of machines and stores it, with no heat begun. The contenders are those that are installed here.
/// The budget counts the time of all machines together, so it is the study's budget times their number.
pub fn plan(
    catalog: &Catalog,
    store: &Store,
    (name, mut study): (&str, Study),
    rules: RunRules,
    machines: usize,
) -> Result<Planned, FleetError> {
    if study.server_on.is_some() {
        return Err(FleetError::Elsewhere { study: name.to_owned() });
    }
    study.design.budget = budget(study.design.budget, machines);
    let lineup = Lineup::of_study(catalog, &study)?;
    let run = Run { fleet: Some(Fleet { machines }), ..lineup.run(name, study, rules) };
    setup::present(&run)?;
    store.add_run(&run)?;
    let first = run.study.design.looks().first().copied().unwrap_or(run.study.design.rounds[0]);
    let heats = schedule::budget::forecast(&run).map_or(0, |forecast| forecast.heats.saturating_mul(first));
    Ok(Planned { run, heats })
}

/// The budget of this number of machines together; at most the longest that a run may have, because a longer one could not be written into
/// a heat's result.
pub(super) fn budget(own: Duration, machines: usize) -> Duration {
    let factor = u32::try_from(machines.max(1)).unwrap_or(u32::MAX);
    own.saturating_mul(factor).min(LONGEST)
}
