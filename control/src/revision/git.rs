//! A git repository, read with the `git` command. Its hooks never run, and its own working tree is never changed.

use super::RevisionError;
use crate::lock::Lock;
use crate::processes::tree;
use crate::shell::{self, Ended, Printed};
use rustix::process::{Pid, Signal, kill_process};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The name that stands for the working tree, with its uncommitted changes.
pub const WORKING_TREE: &str = ".";

/// The maximum number of branches that an error names.
const NAMED: usize = 8;

/// A git that takes longer is taken for hung: it may have to get large submodules over a network.
const PATIENCE: Duration = Duration::from_hours(2);

/// Lists the files that git tracks, those of submodules included.
const TRACKED: &[&str] = &["ls-files", "-z", "--cached", "--recurse-submodules"];

/// The length of an abbreviated commit.
const ABBREVIATED: usize = 10;

/// A git repository with a working tree.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    /// The user's folder, relative to the root.
    prefix: PathBuf,
}

/// A revision of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// The name as given.
    pub name: String,
    /// The commit; of the working tree the one that is checked out.
    pub commit: String,
    /// The name that git has for all files of the commit together.
    pub tree: String,
    /// SHA-256 of all files of the working tree; `None` for a commit.
    pub files: Option<String>,
    /// Whether its files differ from those of the commit; `false` for a commit.
    pub is_changed: bool,
}

impl Revision {
    /// Its version in reports: the abbreviated commit, and for a working tree its files.
    pub fn version(&self) -> String {
        let commit = self.commit.get(..ABBREVIATED).unwrap_or(&self.commit);
        match self.files.as_deref().and_then(|files| files.get(..ABBREVIATED)) {
            Some(files) => format!("{commit}, files {files}"),
            None => commit.to_owned(),
        }
    }

    /// Whether both have the same files, as a commit and an empty one after it have. A working tree without changes has those of its
    /// commit.
    pub fn is_same(&self, other: &Self) -> bool {
        let is_plain = |revision: &Self| !revision.is_changed;
        self.tree == other.tree && (self.files == other.files || (is_plain(self) && is_plain(other)))
    }
}

impl Repository {
    /// The repository that this folder is in.
    pub fn of(folder: &Path) -> Result<Self, RevisionError> {
        let nowhere = |error| match error {
            RevisionError::Git { .. } => RevisionError::NoRepository(folder.to_owned()),
            other => other,
        };
        let root = git(folder, &["rev-parse", "--show-toplevel"]).map_err(nowhere)?;
        let prefix = git(folder, &["rev-parse", "--show-prefix"])?;
        Ok(Self { root: path(line(&root)), prefix: path(line(&prefix)) })
    }

    /// The repository's top folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user's folder, relative to the root.
    pub fn prefix(&self) -> &Path {
        &self.prefix
    }

    /// Finds a revision by any name that git knows, or the working tree.
    pub fn revision(&self, name: &str) -> Result<Revision, RevisionError> {
        let is_working_tree = name == WORKING_TREE;
        let asked = if is_working_tree { "HEAD" } else { name };
        let commit = format!("{asked}^{{commit}}");
        let found = git(&self.root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
        let commit = match found {
            Ok(commit) => text(line(&commit)),
            Err(RevisionError::Git { .. }) => {
                return Err(RevisionError::Unknown { name: name.to_owned(), known: self.known() });
            }
            Err(other) => return Err(other),
        };
        let tree = git(&self.root, &["rev-parse", "--verify", "--quiet", &format!("{commit}^{{tree}}")])?;
        let tree = text(line(&tree));
        let files = if is_working_tree { Some(self.digest()?) } else { None };
        let is_changed = is_working_tree && self.is_changed()?;
        Ok(Revision { name: name.to_owned(), commit, tree, files, is_changed })
    }

    /// Checks a revision out into a folder that does not exist yet, submodules included. What writes to the folder keeps the lock for as
    /// long as it lives: git goes on when drome is killed.
    pub fn check_out(
        &self,
        revision: &Revision,
        into: &Path,
        lock: &Lock,
        stop: &AtomicBool,
    ) -> Result<(), RevisionError> {
        let target = into.as_os_str();
        let add = ["worktree", "add", "--detach", "--force", "--quiet"].map(OsStr::new);
        git_holding(lock, &self.root, &[&add[..], &[target, OsStr::new(&revision.commit)]].concat(), stop)?;
        if into.join(".gitmodules").exists() {
            git_holding(lock, into, &["submodule", "update", "--init", "--recursive", "--quiet"], stop)?;
        }
        if revision.files.is_some() {
            self.overlay(into)?;
        }
        Ok(())
    }

    /// Makes a checkout a plain folder, which git no longer knows.
    pub fn forget(&self, checkout: &Path) -> Result<(), RevisionError> {
        let link = checkout.join(".git");
        if link.exists() {
            fs::remove_file(&link).map_err(RevisionError::files("can't remove", &link))?;
        }
        git(&self.root, &["worktree", "prune"]).map(drop)
    }

    /// Makes a checkout of the working tree's commit the same as the working tree.
    fn overlay(&self, checkout: &Path) -> Result<(), RevisionError> {
        let files = self.files()?;
        // The user's own index would not do: it lacks a file whose removal is staged.
        for file in names(&git(checkout, TRACKED)?) {
            if !files.contains(&file) && !self.is_in_absent_submodule(&file, checkout) {
                let at = checkout.join(&file);
                remove_file(&at).map_err(RevisionError::files("can't remove", &at))?;
            }
        }
        for file in files {
            let (from, to) = (self.root.join(&file), checkout.join(&file));
            copy(&from, &to).map_err(RevisionError::files("can't copy", &from))?;
        }
        Ok(())
    }

    /// The files of the working tree that are there: those that git tracks, and new ones that it does not ignore.
    fn files(&self) -> Result<BTreeSet<PathBuf>, RevisionError> {
        let mut files = names(&git(&self.root, TRACKED)?);
        files.extend(names(&git(&self.root, &["ls-files", "-z", "--others", "--exclude-standard"])?));
        files.retain(|file| self.is_there(file));
        Ok(files)
    }

    /// Whether the working tree has this file. What lies behind a symbolic link to a folder is not its own, though git still tracks a file
    /// of this name until the link is staged.
    fn is_there(&self, file: &Path) -> bool {
        let about = |path: &Path| fs::symlink_metadata(self.root.join(path));
        let is_link = |folder: &Path| about(folder).is_ok_and(|at| at.is_symlink());
        about(file).is_ok_and(|at| !at.is_dir()) && !folders_of(file).any(is_link)
    }

    /// Whether a file of the checkout is in a submodule whose folder is empty in the user's working tree, because the user never
    /// initialized it. Its files then don't count as removed.
    fn is_in_absent_submodule(&self, file: &Path, checkout: &Path) -> bool {
        let is_submodule = |folder: &Path| fs::symlink_metadata(folder.join(".git")).is_ok();
        let is_absent = |folder: &Path| {
            let own = self.root.join(folder);
            is_submodule(&checkout.join(folder)) && own.is_dir() && !is_submodule(&own)
        };
        folders_of(file).any(is_absent)
    }

    /// Whether the working tree differs from its commit: by a changed file, a removed one, or a new one that git does not ignore.
    fn is_changed(&self) -> Result<bool, RevisionError> {
        // Without the option, git would store what it learns in the repository's index.
        let status = ["--no-optional-locks", "status", "--porcelain"];
        let all = ["--untracked-files=normal", "--ignore-submodules=none"];
        Ok(!git(&self.root, &[&status[..], &all].concat())?.is_empty())
    }

    /// SHA-256 of all files with their names, contents, and whether they can be executed.
    fn digest(&self) -> Result<String, RevisionError> {
        let mut digest = Sha256::new();
        for file in self.files()? {
            let at = self.root.join(&file);
            let unreadable = || RevisionError::files("can't read", &at);
            let about = fs::symlink_metadata(&at).map_err(unreadable())?;
            let content = if about.is_symlink() {
                fs::read_link(&at).map_err(unreadable())?.as_os_str().as_bytes().to_vec()
            } else {
                fs::read(&at).map_err(unreadable())?
            };
            let can_run = about.permissions().mode() & 0o100;
            let name = file.as_os_str().as_bytes();
            digest.update(format!("{} {can_run} {} ", name.len(), content.len()));
            digest.update(name);
            digest.update(content);
        }
        Ok(model::hex(digest.finalize()))
    }

    /// The latest branches, to name in an error message.
    fn known(&self) -> String {
        let count = format!("--count={NAMED}");
        let list =
            ["for-each-ref", "--sort=-committerdate", &count, "--format=%(refname:short)", "refs/heads"];
        let branches = git(&self.root, &list).map(|out| text(&out)).unwrap_or_default();
        let branches: Vec<&str> = branches.lines().collect();
        if branches.is_empty() {
            return "the repository has no commit yet".to_owned();
        }
        format!("branches are {}; a commit, a tag or HEAD~1 will do too", branches.join(", "))
    }
}

/// Runs git in a folder and returns what it printed.
fn git<S: AsRef<OsStr>>(folder: &Path, args: &[S]) -> Result<Vec<u8>, RevisionError> {
    git_reading(Stdio::null(), folder, args, &AtomicBool::new(false))
}

/// As `git`; the process, and what it starts, has the lock as its standard input, which it does not read.
fn git_holding<S: AsRef<OsStr>>(
    lock: &Lock,
    folder: &Path,
    args: &[S],
    stop: &AtomicBool,
) -> Result<Vec<u8>, RevisionError> {
    let held = lock.shared().map_err(RevisionError::files("can't keep the lock of", folder))?;
    git_reading(held.into(), folder, args, stop)
}

fn git_reading<S: AsRef<OsStr>>(
    input: Stdio,
    folder: &Path,
    args: &[S],
    stop: &AtomicBool,
) -> Result<Vec<u8>, RevisionError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["-c", "core.hooksPath=/dev/null"]).args(args).stdin(input);
    // A hook or a bisection may have set them; they would name another repository than the folder's.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    let printed = Printed::by(&mut command).map_err(RevisionError::files("can't run git in", folder))?;
    // It stays in drome's process group, because it may ask for a password at the terminal.
    let mut child = command.spawn().map_err(RevisionError::NoGit)?;
    let ended = shell::await_end(&mut child, PATIENCE, stop).map_err(RevisionError::NoGit)?;
    if !matches!(ended, Ended::Exited(_)) {
        kill_all(&mut child);
    }
    let [out, err] =
        printed.read().map_err(RevisionError::files("can't read what git printed in", folder))?;
    let words = match ended {
        Ended::Exited(status) if status.success() => return Ok(out),
        Ended::Exited(_) => text(&err).trim().to_owned(),
        Ended::TimedOut => format!("it did not end within {PATIENCE:?}"),
        Ended::Stopped => return Err(RevisionError::Interrupted),
    };
    let command: Vec<String> = args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    Err(RevisionError::Git { command: command.join(" "), words })
}

/// Kills git, and the programs that it started.
fn kill_all(git: &mut Child) {
    let below = tree::living(git.id() as i32);
    let _ = git.kill();
    for pid in below.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
    let _ = git.try_wait();
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    // A folder of the commit may be a file now; then nothing of it is left.
    match fs::symlink_metadata(to) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(to)?,
        Ok(_) => fs::remove_file(to)?,
        Err(_) => {}
    }
    if fs::symlink_metadata(from)?.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to).map(drop)
}

/// Removes a file that may be gone already. A folder of its name is a submodule that was not checked out.
fn remove_file(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => Err(error),
        _ => Ok(()),
    }
}

/// The folders that a file is in, from the repository's root.
fn folders_of(file: &Path) -> impl Iterator<Item = &Path> {
    file.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty())
}

/// File names that are separated by zero bytes.
fn names(out: &[u8]) -> BTreeSet<PathBuf> {
    out.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(path).collect()
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn line(out: &[u8]) -> &[u8] {
    out.strip_suffix(b"\n").unwrap_or(out)
}

fn text(out: &[u8]) -> String {
    String::from_utf8_lossy(out).into_owned()
}

#[cfg(test)]
mod tests;
