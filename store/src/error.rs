//! Why the store can't be used, and what helps.

use super::tables::VERSION;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long another program may lock the file. What drome does there takes milliseconds.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Why the store can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file can't be opened, read or written.
    #[error("the store {path}: {source}; {remedy}")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: rusqlite::Error,
        /// The next step.
        remedy: &'static str,
    },
    /// Another program has locked the file.
    #[error(
        "the store {path} has been locked by another program for more than {} s: find it with `fuser {path}` and \
         let it finish, or choose another file with --store FILE",
        LOCK_PATIENCE.as_secs()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The heat or the start is stored already.
    #[error(
        "run {run} already has {what}: another drome is working on it; let it finish, or start a new run without --resume"
    )]
    Twice {
        /// The run.
        run: String,
        /// The heat or the start.
        what: String,
    },
    /// The folder of the file can't be made.
    #[error("can't make the folder of the store {path}: {source}; choose another file with --store FILE")]
    Folder {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// A newer drome wrote the file.
    #[error(
        "the store {path} has version {found}, and this drome supports up to {VERSION}: use a newer drome, or --store FILE"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// A drome from before the first release wrote the file.
    #[error(
        "the store {path} has version {found}, which drome no longer reads: measure again, and keep the results in another file with --store FILE"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The run was measured in another way than drome knows.
    #[error("run {0} was measured in blocks of trials, which drome no longer reads: measure it again")]
    Blocks(String),
    /// The file is not a store.
    #[error("{path} is not a drome store and is left unchanged: choose another file with --store FILE")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A row is malformed.
    #[error(
        "the store {path} is damaged ({what}) and is left unchanged: choose another file with --store FILE"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A newer drome wrote a row.
    #[error(
        "the store {path} has the word `{word}`, which this drome does not know: use the drome that stored it, or a newer one"
    )]
    UnknownWord {
        /// The file.
        path: PathBuf,
        /// The word.
        word: String,
    },
    /// The run was measured on another machine.
    #[error(
        "run {run} was pulled from {machine} and can't be resumed here: resume it there, or start a new run without --resume"
    )]
    Pulled {
        /// The run.
        run: String,
        /// The machine's name.
        machine: String,
    },
    /// There is no such run.
    #[error("there is no run `{0}`: `drome list runs` lists all runs")]
    NoRun(String),
    /// There is no run at all.
    #[error("there are no runs yet: `drome run raspberry-pi` makes one")]
    Empty,
}

/// Converts an error of `SQLite`. A file that is no database, or a broken one, is never written to.
pub fn sqlite(path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let remedy = match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => return StoreError::Foreign { path },
        Some(ErrorCode::DatabaseCorrupt) => return StoreError::Damaged { path, what: source.to_string() },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => return StoreError::Locked { path },
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            "free some space, or choose another file with --store FILE"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            "make sure that you may write to the file and its folder, or choose another file with --store FILE"
        }
        _ => "choose another file with --store FILE",
    };
    StoreError::Sqlite { path, source, remedy }
}
