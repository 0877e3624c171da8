//! The release build of drome that is measured, with a store and a cache of its own. drome-bench itself is a debug build: that takes less
//! time to build, and its speed does not matter.

use anyhow::{Context, Result};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// drome, and a folder for what it keeps and for other files of the measurement.
pub struct Drome {
    path: PathBuf,
    home: TempDir,
}

impl Drome {
    /// Builds drome.
    pub fn build() -> Result<Self> {
        build(&["--package", "drome"])?;
        Self::at(release_folder()?.join("drome"))
    }

    /// This program.
    pub fn at(path: PathBuf) -> Result<Self> {
        Ok(Self { path, home: tempfile::tempdir().context("can't make a temporary folder")? })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// drome with these arguments, which keeps its measurements apart from the user's.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(args).stdin(Stdio::null());
        command.env("DROME_HOME", self.home()).env("DROME_CACHE", self.home());
        command
    }

    /// Runs a command and reads its JSON.
    pub fn json(&self, args: &[&str]) -> Result<Value> {
        let output = self.command(args).output().context("can't run drome")?;
        serde_json::from_slice(&output.stdout).with_context(|| {
            let [text, errors] =
                [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            format!("`drome {}` ended with {} and printed: {text}{errors}", args.join(" "), output.status)
        })
    }
}

/// Builds the programs that drome is compared with, and returns their folder.
pub fn examples() -> Result<PathBuf> {
    build(&["--package", "drome-net", "--examples"])?;
    Ok(release_folder()?.join("examples"))
}

fn build(what: &[&str]) -> Result<()> {
    xtask::run("cargo", &[&["build", "--release", "--locked", "--quiet"], what].concat())
}

/// Cargo's folder of release builds: this program was built by the same cargo, below the same target folder.
fn release_folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).with_context(|| format!("{} has no target folder", own.display()))?;
    Ok(target.join("release"))
}
