//! The outcome of a start in a cell, small enough to keep for every one: its latency distributions stay in the store.

use model::{Observation, Outcome, Trial};

/// A start in a cell, and how it ended.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// The start and the cell.
    pub trial: Trial,
    /// Its outcome.
    pub state: State,
}

/// The outcome of a start in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It counts.
    Valid,
    /// It does not count, with the reason.
    Void(String),
    /// There is no measurement, with the reason.
    Failed(String),
}

impl TrialOutcome {
    /// The outcome of an observation, without its figures.
    pub fn of(observation: &Observation) -> Self {
        let state = match &observation.outcome {
            Outcome::Failed(why) => State::Failed(why.clone()),
            Outcome::Measured(m) if m.verdict.valid => State::Valid,
            Outcome::Measured(m) => State::Void(m.verdict.reasons.join("; ")),
        };
        Self { trial: observation.trial.clone(), state }
    }
}
