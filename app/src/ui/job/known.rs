//! What is known of a study that was started on the page.

use crate::ui::outcomes::TrialOutcome;
use lab::blocks::time_left::TimeLeft;
use model::{Findings, Run, Trial};

/// The phase of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Sources are unpacked, and versions are checked.
    Preparing,
    /// Trials are running.
    Measuring,
    /// It has ended, with the reason.
    Over(String),
    /// It failed, with the reason.
    Failed(String),
}

/// What is known of a study so far.
#[derive(Clone, Debug)]
pub struct Known {
    /// The phase.
    pub phase: Phase,
    /// The run; none until it is prepared.
    pub run: Option<Run>,
    /// The current trial.
    pub trial: Option<Trial>,
    /// The current step of the current heat, in words; none in a run in blocks.
    pub heat: Option<String>,
    /// Trials, or heats, that are done.
    pub done: usize,
    /// The minimum number of trials, or heats.
    pub least: usize,
    /// The outcome of every trial so far.
    pub outcomes: Vec<TrialOutcome>,
    /// The remaining time; unknown before the first trial.
    pub left: Option<TimeLeft>,
    /// The findings so far.
    pub findings: Option<Findings>,
}

impl Known {
    /// Whether the study has ended or failed.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_) | Phase::Failed(_))
    }
}
