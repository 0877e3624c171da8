//! The outcome of a start in a cell.

use model::StartInCell;

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
    /// The state of a start in a cell.
    pub fn of(one: &StartInCell<'_>) -> Self {
        match one.measured() {
            None => Self::Failed(one.reasons()),
            Some(m) if m.verdict.valid => Self::Valid,
            Some(_) => Self::Void(one.reasons()),
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
