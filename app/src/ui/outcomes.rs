//! The outcome of a trial, small enough to keep for every trial: its latency distributions stay in the store.

use model::{Observation, Outcome, Trial};

/// A trial and how it ended.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// The trial.
    pub trial: Trial,
    /// Its outcome.
    pub state: State,
}

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The trial counts.
    Valid,
    /// The trial does not count, with the reason.
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
