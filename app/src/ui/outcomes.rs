//! The outcome of a start in a cell, small enough to keep for every one: its latency distributions stay in the store.

use model::{Observation, Trial};
pub use report::outcome::StartState;

/// A start in a cell, and how it ended.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// The start and the cell.
    pub trial: Trial,
    /// Its outcome.
    pub state: StartState,
}

impl TrialOutcome {
    /// The outcome of an observation, without its figures.
    pub fn of(observation: &Observation) -> Self {
        Self { trial: observation.trial.clone(), state: StartState::of(observation) }
    }
}
