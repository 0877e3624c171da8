//! What became of a trial, small enough to be kept of every one: its distributions of latency stay in the store.

use model::{Observation, Outcome, Trial};

/// What became of a trial.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Which.
    pub trial: Trial,
    /// What came of it.
    pub state: State,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It counts.
    Valid,
    /// It does not count, and why.
    Void(String),
    /// There is no measurement, and why.
    Failed(String),
}

impl Mark {
    /// Of an observation.
    pub fn of(observation: &Observation) -> Self {
        let state = match &observation.outcome {
            Outcome::Failed(why) => State::Failed(why.clone()),
            Outcome::Measured(m) if m.verdict.valid => State::Valid,
            Outcome::Measured(m) => State::Void(m.verdict.reasons.join("; ")),
        };
        Self { trial: observation.trial.clone(), state }
    }
}
