//! The static binary of one kind of machine.

use super::Target;
use super::tools::Tools;
use crate::run;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Builds the binary with Zig as the C compiler and linker, so that no cross-compiler of the system is needed.
pub fn build(root: &Path, tools: &Tools, target: Target) -> Result<PathBuf> {
    run("rustup", &["target", "add", target.triple])?;
    let path = format!("PATH={}", tools.path());
    let build =
        ["zigbuild", "--locked", "--profile", "dist", "--package", "drome", "--target", target.triple];
    run("env", &[&[path.as_str(), "cargo"], &build[..]].concat())?;
    Ok(root.join("target").join(target.triple).join("dist/drome"))
}
