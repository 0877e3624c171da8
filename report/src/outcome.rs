//! The outcome of a start in a cell.

use model::Observation;

/// Whether a start counts in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartState {
    /// It counts.
    Valid,
    /// It was measured but does not count, with the reason.
    Void(String),
    /// There is no measurement, with the reason.
    Failed(String),
}

impl StartState {
    /// The state of an observation.
    pub fn of(observation: &Observation) -> Self {
        match &observation.outcome {
            Err(why) => Self::Failed(why.clone()),
            Ok(m) if m.verdict.valid => Self::Valid,
            Ok(m) => Self::Void(m.verdict.reasons.join("; ")),
        }
    }

    /// The state, and the reason if it does not count.
    pub fn words(&self) -> String {
        match self {
            Self::Valid => "valid".to_owned(),
            Self::Void(why) => format!("void: {why}"),
            Self::Failed(why) => format!("failed: {why}"),
        }
    }
}
