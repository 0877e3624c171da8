//! A repository of a small server with ten commits, of which one is slower, one leaks, and eight change nothing that runs.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use xtask::printed;

/// The server of the first commit.
const SERVER: &str = include_str!("server.c");

/// What a commit does to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Comments, or code that never runs.
    Nothing,
    /// Its loop is longer, so that a request takes about 5 % longer. The loop is more than nine tenths of a request.
    Slower,
    /// It keeps 1 KiB for every request.
    Leak,
}

/// What each commit after the first does, in their order.
pub const CHANGES: [Change; 10] = [
    Change::Nothing,
    Change::Nothing,
    Change::Nothing,
    Change::Slower,
    Change::Nothing,
    Change::Nothing,
    Change::Leak,
    Change::Nothing,
    Change::Nothing,
    Change::Nothing,
];

/// Makes the repository in this empty folder; commit n is tagged `n`, and the first one `0`.
pub fn make(folder: &Path) -> Result<()> {
    git(folder, &["init", "--quiet", "--initial-branch", "main"])?;
    let mut text = SERVER.to_owned();
    commit(folder, &text, 0)?;
    for (n, change) in (1..).zip(CHANGES) {
        text = match change {
            Change::Slower => text.replace("#define WORK 60000", "#define WORK 63300"),
            Change::Leak => text.replace("#define LEAK_BYTES 0", "#define LEAK_BYTES 1024"),
            Change::Nothing if n % 2 == 0 => format!("{text}\n/* A comment of commit {n}. */\n"),
            Change::Nothing => {
                format!("{text}\n__attribute__((used)) static int never_{n}(int x) {{ return x * {n}; }}\n")
            }
        };
        commit(folder, &text, n)?;
    }
    Ok(())
}

fn commit(folder: &Path, text: &str, n: usize) -> Result<()> {
    std::fs::write(folder.join("server.c"), text).context("can't write the server")?;
    git(folder, &["add", "server.c"])?;
    let words = format!("Commit {n}");
    git(
        folder,
        &["-c", "user.name=drome", "-c", "user.email=drome@localhost", "commit", "--quiet", "-m", &words],
    )?;
    git(folder, &["tag", &n.to_string()]).map(drop)
}

/// Runs git in the folder, and returns what it prints.
pub fn git(folder: &Path, words: &[&str]) -> Result<String> {
    printed(Command::new("git").args(words).current_dir(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_commit_is_slower_one_leaks_and_eight_change_nothing() {
        let count = |change| CHANGES.iter().filter(|other| **other == change).count();
        assert_eq!((count(Change::Nothing), count(Change::Slower), count(Change::Leak)), (8, 1, 1));
        assert!(SERVER.contains("#define WORK 60000") && SERVER.contains("#define LEAK_BYTES 0"));
    }
}
