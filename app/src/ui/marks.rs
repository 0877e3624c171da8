//! What became of a trial, small enough to be kept of every one: its distributions of latency stay in the store.

use model::{Observation, Outcome, Trial};

/// What became of a trial.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Which.
    pub trial: Trial,
    /// What came of it.
    pub state: State,
    /// The share of its cores that the server used.
    pub core_use: Option<f64>,
    /// The most memory that it held.
    pub rss_max_bytes: Option<u64>,
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
        let (state, usage) = match &observation.outcome {
            Outcome::Failed(why) => (State::Failed(why.clone()), None),
            Outcome::Measured(m) if m.verdict.valid => (State::Valid, Some(&m.usage)),
            Outcome::Measured(m) => (State::Void(m.verdict.reasons.join("; ")), Some(&m.usage)),
        };
        Self {
            trial: observation.trial.clone(),
            state,
            core_use: usage.and_then(model::Usage::core_use),
            rss_max_bytes: usage.map(|usage| usage.rss_max_bytes),
        }
    }
}

/// A contender's latest trial in a cell that was measured.
pub fn latest<'m>(marks: &'m [Mark], cell: usize, contender: &str) -> Option<&'m Mark> {
    let is_its = |mark: &&Mark| mark.trial.cell == cell && mark.trial.contender == contender;
    marks.iter().rev().filter(|mark| !matches!(mark.state, State::Failed(_))).find(is_its)
}
