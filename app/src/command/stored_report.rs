//! Keeps the report of a single measurement in the store.

use super::store;
use crate::failure::{INTERRUPTED, VOID};
use crate::options::Common;
use lab::setup;
use std::io::{IsTerminal, stdout};
use std::process::ExitCode;
use store::Printed;

/// How a measurement ended.
#[derive(Clone, Copy, Debug)]
pub enum Ending {
    Complete,
    Interrupted,
    Void,
}

impl Ending {
    /// How it ended, by whether the user interrupted it, and whether its figures can be trusted.
    pub fn of(is_interrupted: bool, is_sound: bool) -> Self {
        match (is_interrupted, is_sound) {
            (true, _) => Self::Interrupted,
            (false, true) => Self::Complete,
            (false, false) => Self::Void,
        }
    }

    /// The exit code of the command.
    pub fn code(self) -> ExitCode {
        match self {
            Self::Complete => ExitCode::SUCCESS,
            Self::Interrupted => ExitCode::from(INTERRUPTED),
            Self::Void => ExitCode::from(VOID),
        }
    }
}

/// Keeps a report, as text for a terminal and as JSON. The measurement is not lost if that fails: its report has been printed, and a line
/// on standard error says why it is not kept.
pub fn keep(common: &Common, title: String, ending: Ending, started_at: String, reports: (String, String)) {
    let ended = match ending {
        Ending::Complete => "complete",
        Ending::Interrupted => "interrupted",
        Ending::Void => "void",
    };
    let (terminal, json) = reports;
    let printed = Printed {
        id: setup::new_id(&started_at),
        title,
        started_at,
        ended: ended.to_owned(),
        terminal,
        json,
    };
    let kept = store(common).and_then(|store| Ok(store.add_printed(&printed)?));
    match kept {
        Ok(()) if stdout().is_terminal() => note!("kept: drome report {}", printed.id),
        Ok(()) => {}
        Err(error) => alert!("the report is not kept: {error:#}"),
    }
}
