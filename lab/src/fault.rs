//! Why a trial has no measurement, and whose failure that is.

/// Why a trial has no measurement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The lab's own: a full disk, no descriptors left, somebody who asked to stop. It says nothing of the contender, so it is
    /// never stored as what came of the trial.
    #[error("{0}")]
    Lab(String),
    /// The contender's: it did not start, answered wrongly, or died.
    #[error("{0}")]
    Contender(String),
}

impl Fault {
    /// Something that the lab wanted to do, and what the system said to it.
    pub fn unable(what: &str, error: &dyn std::error::Error) -> Self {
        Self::Lab(format!("{what}: {error}"))
    }

    /// Somebody asked to stop.
    pub fn interrupted() -> Self {
        Self::Lab("interrupted".to_owned())
    }
}
