//! Builds revisions. What is built once is kept in the cache folder, by commit, build command, tools and environment.

use super::guarded::{self, BuildEnd};
use super::{Repository, Revision, RevisionError, toolchain};
use crate::lock::Lock;
use crate::supervise::last_lines;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

/// Builds of a repository that are kept besides those of the race.
const KEPT: usize = 8;

/// The length of a key; all are of the same length.
const KEY: usize = 16;

/// A build that takes longer is taken for hung.
const PATIENCE: Duration = Duration::from_hours(2);

/// Builds the revisions of a repository.
#[derive(Debug)]
pub struct Builder<'r> {
    repository: &'r Repository,
    command: &'r str,
    tools: String,
    home: PathBuf,
}

/// A revision that can be started.
#[derive(Debug)]
pub struct Built {
    /// The revision.
    pub revision: Revision,
    /// The folder to start it in: that of the user, in the revision.
    pub folder: PathBuf,
}

impl<'r> Builder<'r> {
    /// Builds with this command, run by a shell in the user's folder of each revision; empty: there is nothing to build.
    pub fn new(repository: &'r Repository, command: &'r str, cache: &Path) -> Self {
        let name = short(Sha256::new().chain_update(repository.root().as_os_str().as_encoded_bytes()));
        let home = cache.join("revisions").join(name);
        Self { repository, command, tools: toolchain::describe(command), home }
    }

    /// Whether it is built already.
    pub fn has(&self, revision: &Revision) -> bool {
        self.folder(revision).is_dir()
    }

    /// Builds a revision unless that was done before. Nothing is kept of a build that fails.
    pub fn build(&self, revision: &Revision, stop: &AtomicBool) -> Result<Built, RevisionError> {
        let builds = self.home.join("builds");
        fs::create_dir_all(&builds).map_err(RevisionError::files("can't create", &builds))?;
        let lock = self.home.join("lock");
        // After an earlier drome was killed, whatever it started that may still write there holds the lock.
        let lock = Lock::take(&lock).map_err(RevisionError::files("can't lock", &lock))?;
        let folder = self.folder(revision);
        if !folder.is_dir() {
            self.make(revision, &folder, &lock, stop)?;
        }
        // The time of the last use, by which old builds are removed.
        let now = File::open(&folder).and_then(|at| at.set_modified(SystemTime::now()));
        now.map_err(RevisionError::files("can't mark as used", &folder))?;
        Ok(Built { revision: revision.clone(), folder: folder.join(self.repository.prefix()) })
    }

    /// Removes builds that were not used for longest, but none of these.
    pub fn prune(&self, used: &[Built]) {
        let Ok(entries) = fs::read_dir(self.home.join("builds")) else { return };
        let is_used = |path: &PathBuf| used.iter().any(|built| built.folder.starts_with(path));
        let mut others: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| !is_used(path))
            .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
            .collect();
        others.sort();
        for (_, old) in others.iter().rev().skip(KEPT) {
            let _ = fs::remove_dir_all(old);
        }
    }

    fn folder(&self, revision: &Revision) -> PathBuf {
        let files = revision.files.as_deref().unwrap_or_default();
        let prefix = self.repository.prefix().display();
        let parts = format!("{}\n{files}\n{prefix}\n{}\n{}", revision.commit, self.command, self.tools);
        self.home.join("builds").join(short(Sha256::new().chain_update(parts)))
    }

    /// Checks out and builds in the one folder in which all revisions are built, then moves the result.
    fn make(
        &self,
        revision: &Revision,
        folder: &Path,
        lock: &Lock,
        stop: &AtomicBool,
    ) -> Result<(), RevisionError> {
        let tree = self.home.join("tree");
        clear(&tree)?;
        let checked_out = self.repository.check_out(revision, &tree, lock, stop);
        let made = checked_out.and_then(|()| self.run(revision, &tree, lock, stop));
        let forgotten = self.repository.forget(&tree);
        if let Err(error) = made.and(forgotten) {
            clear(&tree)?;
            return Err(error);
        }
        fs::rename(&tree, folder).map_err(RevisionError::files("can't move the build to", folder))
    }

    fn run(
        &self,
        revision: &Revision,
        tree: &Path,
        lock: &Lock,
        stop: &AtomicBool,
    ) -> Result<(), RevisionError> {
        if self.command.is_empty() {
            return Ok(());
        }
        let log = self.home.join("build.log");
        File::create(&log).map_err(RevisionError::files("can't write", &log))?;
        let folder = tree.join(self.repository.prefix());
        let ended = guarded::run(self.command, &folder, &log, lock, PATIENCE, stop);
        match ended.map_err(RevisionError::files("can't build in", &folder))? {
            BuildEnd::Well => Ok(()),
            BuildEnd::Badly(how) => {
                Err(RevisionError::Build { name: revision.name.clone(), how, last: last_lines(&log) })
            }
            BuildEnd::Stopped => Err(RevisionError::Interrupted),
        }
    }
}

fn clear(folder: &Path) -> Result<(), RevisionError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(RevisionError::files("can't remove", folder)(error))
        }
        _ => Ok(()),
    }
}

fn short(digest: Sha256) -> String {
    let mut name = model::hex(digest.finalize());
    name.truncate(KEY);
    name
}
