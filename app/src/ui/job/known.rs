//! What is known of a study that was started on the page.

use crate::ui::outcomes::TrialOutcome;
use model::{Findings, Run};
use std::time::Duration;

/// The phase of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Sources are unpacked, and versions are checked.
    Preparing,
    /// Heats are running.
    Measuring,
    /// It has ended, with the reason.
    Over(String),
    /// It failed, with the reason.
    Failed(String),
}

/// What is left of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    /// The likely time; `None` where the run goes on until it is certain.
    pub about: Option<Duration>,
    /// The longest time.
    pub most: Duration,
}

/// What is known of a study so far.
#[derive(Clone, Debug)]
pub struct KnownOfJob {
    /// The phase.
    pub phase: Phase,
    /// The run; none until it is prepared.
    pub run: Option<Run>,
    /// The current step of the current heat, in words.
    pub heat: Option<String>,
    /// Heats that are done.
    pub done: usize,
    /// The minimum number of heats.
    pub least: usize,
    /// The outcome of every start so far, in each cell.
    pub outcomes: Vec<TrialOutcome>,
    /// The remaining time; unknown before the first heat is over.
    pub left: Option<TimeLeft>,
    /// The findings so far.
    pub findings: Option<Findings>,
}

impl KnownOfJob {
    /// Whether the study has ended or failed.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_) | Phase::Failed(_))
    }
}
