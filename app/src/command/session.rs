//! What `run`, `race` and `run --dry-run --pilot` have in common: checks before anything starts, progress on standard error, and
//! the report at the end.

use super::report::ReportWriter;
use crate::failure::{self, WrongInput};
use crate::run_progress::RunProgress;
use judge::schedule::budget;
use lab::setup::{self, SetupError};
use lab::{LabError, Session};
use model::{Findings, Run};
use report::RunReport;
use std::process::ExitCode;

/// Prints which contenders are missing, and returns how many take part besides the reference; fails if there is none.
pub fn present(run: &Run) -> Result<usize, SetupError> {
    for (name, entrant) in &run.contenders {
        if let Some(why) = &entrant.missing {
            note!("{name} does not take part: {why}");
        }
    }
    setup::present(run)
}

/// Fails if the budget has no room for one heat. `is_asked`: the budget is from the command line, not from the
/// study.
pub fn check_budget(run: &Run, is_asked: bool) -> Result<(), WrongInput> {
    match budget::too_small(run) {
        Some(why) if is_asked => refuse!("--budget: {why}"),
        Some(why) => Err(WrongInput(why)),
        None => Ok(()),
    }
}

/// Measures what is left of a run, with its progress on standard error.
pub fn measure(session: &Session<'_>) -> Result<Findings, LabError> {
    session.measure(&mut RunProgress::new())
}

/// Reports the findings of a run that has ended, and returns the exit code.
pub fn conclude(
    session: &Session<'_>,
    findings: &Findings,
    writer: &ReportWriter,
) -> anyhow::Result<ExitCode> {
    writer.write(&RunReport { run: &session.run, measured: &session.measured()?, findings })?;
    Ok(failure::code_of(findings))
}
