//! Runs whose heats are measured on several machines, by whatever scheduler. One machine keeps the run: it plans it ([`plan`]), says which
//! heats are owed ([`owed()`]) and takes in results ([`commit`]), each heat once. Any machine measures a heat
//! ([`measure()`]) from a [`Spec`], in a store of its own, and writes one result: a file in the form of `drome push`, with that heat only.
//! No network is involved.

mod commit;
mod measure;
mod owed;
mod plan;
mod spec;
#[cfg(test)]
mod tests;

pub use commit::{CommitOutcome, Committed, commit};
pub use measure::{measure, write};
pub use owed::{Owed, owed};
pub use plan::{Planned, plan};
pub use spec::Spec;

use crate::lab::LabError;
use crate::setup::SetupError;
use store::StoreError;
use store::shared::SharedError;

/// Why a heat of a fleet can't be planned, measured or taken in.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// The store can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The contenders can't be prepared here.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The heat could not be measured to its end.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// The result can't be written.
    #[error("the result {0}")]
    Write(SharedError),
    /// The store for the heat can't be made.
    #[error(
        "can't make a folder for the heat's own store: {0}; free some space, or set TMPDIR to another folder"
    )]
    Folder(std::io::Error),
    /// The study puts its servers on another machine.
    #[error(
        "the study {study} puts its servers on another machine (`server-on`), but a heat of a fleet runs on one machine: remove `server-on` from the study, or use `drome run {study}`"
    )]
    Elsewhere {
        /// Its name.
        study: String,
    },
    /// The run is not one of a fleet.
    #[error("run {run} is not a run of a fleet: `drome heat plan STUDY` begins one")]
    NoFleet {
        /// The run.
        run: String,
    },
    /// The file is no spec.
    #[error("is not the spec of a heat: {0}; `drome heat owed RUN` prints specs, one per line")]
    Spec(String),
    /// The spec has a shell command, which nobody has allowed.
    #[error(
        "has a shell command that this machine would run before every start (`prepare`): `{command}`; if you trust whoever wrote the spec, \
         allow it with --allow-prepare"
    )]
    Prepare {
        /// The command.
        command: String,
    },
    /// What would be measured here is something else.
    #[error("this machine can't measure the heat: {}; make it equal to the machine that planned the run, or plan anew", .0.join("; "))]
    Unequal(Vec<String>),
    /// The result is not one of a heat that is owed.
    #[error("is refused, and nothing of it is stored: {0}")]
    Refused(String),
}
