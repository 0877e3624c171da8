//! The exit codes, which `docs/exit-codes.md` explains, and how errors become a message and one of them.

use control::CatalogError;
use control::containers::ContainerError;
use control::prepare::assets::CacheError;
use control::revision::RevisionError;
use judge::findings::compare::CompareError;
use lab::LabError;
use lab::setup::SetupError;
use model::Findings;
use model::target::TargetError;
use std::process::ExitCode;
use store::StoreError;

/// drome could not do its work.
pub const FAILED: u8 = 1;
/// The command line, or a file that it names, is wrong.
pub const WRONG: u8 = 2;
/// A check failed: a regression, too low a score, a wrong answer.
pub const CHECK_FAILED: u8 = 3;
/// The measurement was void.
pub const VOID: u8 = 4;
/// Interrupted by SIGINT or SIGTERM.
pub const INTERRUPTED: u8 = 130;

/// The command line, or a file that it names, is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongInput(pub String);

/// Ends the function with the error that the command line, or a file that it names, is wrong; takes the arguments of `format!`.
macro_rules! refuse {
    ($($words:tt)*) => { return Err($crate::failure::WrongInput(format!($($words)*)).into()) };
}

/// The first of these options that is given.
pub fn first_given<'o>(options: &[(&'o str, bool)]) -> Option<&'o str> {
    options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
}

/// The exit code of a run or a race that has ended: void if a contender that took part has no sound start in some
/// cell. Prints the names of these contenders.
pub fn code_of(findings: &Findings) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (cell, contender) in findings.without_a_figure() {
        let why = contender.notes.first().map_or("it was not measured", String::as_str);
        alert!("drome: {} ({}) has no sound start: {why}", contender.title, cell.title);
        code = ExitCode::from(VOID);
    }
    code
}

/// Prints what went wrong and returns the exit code.
pub fn tell(error: &anyhow::Error) -> ExitCode {
    let mut message = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Most errors already name their cause.
        if !message.contains(&cause) {
            message.push_str(&format!(": {cause}"));
        }
    }
    alert!("drome: {message}");
    ExitCode::from(code(error))
}

fn code(error: &anyhow::Error) -> u8 {
    let is_usage = error.is::<WrongInput>()
        || error.is::<CatalogError>()
        || error.is::<TargetError>()
        || error.is::<CompareError>()
        || matches!(
            error.downcast_ref(),
            Some(
                SetupError::Catalog(_)
                    | SetupError::Cache(CacheError::Body { .. })
                    | SetupError::Race(_)
                    | SetupError::Compared(_)
            )
        )
        || matches!(error.downcast_ref(), Some(CacheError::Body { .. }))
        || matches!(
            error.downcast_ref(),
            Some(RevisionError::NoRepository(_) | RevisionError::Unknown { .. })
        )
        || matches!(error.downcast_ref(), Some(ContainerError::NoImage { .. }))
        || matches!(
            error.downcast_ref(),
            Some(StoreError::NoRun(_) | StoreError::Empty | StoreError::Pulled { .. })
        );
    let is_interrupted = matches!(error.downcast_ref(), Some(LabError::Interrupted))
        || matches!(error.downcast_ref(), Some(SetupError::Interrupted))
        || matches!(error.downcast_ref(), Some(RevisionError::Interrupted))
        || matches!(error.downcast_ref(), Some(ContainerError::Interrupted));
    match (is_interrupted, is_usage) {
        (true, _) => INTERRUPTED,
        (_, true) => WRONG,
        _ => FAILED,
    }
}
