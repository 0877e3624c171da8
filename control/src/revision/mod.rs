//! Revisions of a git repository, built so that their servers can be raced. All are built in one and the same folder, because
//! the path of a build can change the speed of what it makes. A finished build is then moved to a folder of its own. All these
//! folders' paths have the same length, which can change a program's speed too.

mod build;
mod git;
mod guarded;
mod toolchain;

pub use build::{Builder, Built};
pub use git::{Repository, Revision, WORKING_TREE};

use std::path::PathBuf;

/// Why a revision can't be raced.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    /// git can't be run.
    #[error("can't run git: {0}; revisions need it: apt install git")]
    NoGit(std::io::Error),
    /// The folder is in no repository.
    #[error("{} is not in a git repository: change to a folder of the repository whose revisions you want to race", .0.display())]
    NoRepository(PathBuf),
    /// The repository has no such revision.
    #[error("--rev {name}: there is no such revision; {known}")]
    Unknown {
        /// The name as given.
        name: String,
        /// The repository's branches, in words.
        known: String,
    },
    /// git refused something.
    #[error("`git {command}` failed: {words}")]
    Git {
        /// The command.
        command: String,
        /// What git printed.
        words: String,
    },
    /// The build failed.
    #[error("{name} does not build ({how}){last}")]
    Build {
        /// The name of the revision.
        name: String,
        /// How the build command ended.
        how: String,
        /// The last lines of its log.
        last: String,
    },
    /// A folder or a file can't be read or written.
    #[error("{what}: {source}")]
    Files {
        /// What could not be done, with the path.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// A user asked to stop.
    #[error("interrupted while revisions were being built; those that are built are kept")]
    Interrupted,
}

impl RevisionError {
    fn files(what: &str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let what = format!("{what} {}", path.display());
        move |source| Self::Files { what, source }
    }
}
