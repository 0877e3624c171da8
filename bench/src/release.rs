//! The release builds of what is measured. drome-bench itself is a debug build: that takes less time to build, and its speed does not
//! matter.

use anyhow::{Context, Result};
use std::path::PathBuf;

/// Builds drome and returns its path.
pub fn drome() -> Result<PathBuf> {
    build(&["--package", "drome"])?;
    Ok(folder()?.join("drome"))
}

/// Builds drome and the programs that it is compared with, and returns their folder.
pub fn drome_and_examples() -> Result<PathBuf> {
    build(&["--package", "drome"])?;
    build(&["--package", "drome-net", "--examples"])?;
    folder()
}

fn build(what: &[&str]) -> Result<()> {
    xtask::run("cargo", &[&["build", "--release", "--locked", "--quiet"], what].concat())
}

/// Cargo's folder of release builds: this program was built by the same cargo, below the same target folder.
fn folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).with_context(|| format!("{} has no target folder", own.display()))?;
    Ok(target.join("release"))
}
