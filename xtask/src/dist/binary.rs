//! The static binary of one kind of machine.

use super::Target;
use super::tools::Tools;
use crate::run;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// What the Makefile of `LuaJIT` needs to know: it also links a program, for which Zig has the unwinder in a library of its own, and strips it,
/// which the system's `strip` can't for another kind of machine. The program is not used.
const LUAJIT: [(&str, &str); 2] = [("TARGET_LIBS", "-lunwind"), ("TARGET_STRIP", "true")];

/// Builds the binary with Zig as the C compiler and linker, so that no cross-compiler of the system is needed.
pub fn build(root: &Path, tools: &Tools, target: Target) -> Result<PathBuf> {
    run("rustup", &["target", "add", target.triple])?;
    let build =
        ["zigbuild", "--locked", "--profile", "dist", "--package", "drome", "--target", target.triple];
    tools.run("cargo", &build, &LUAJIT)?;
    Ok(root.join("target").join(target.triple).join("dist/drome"))
}
