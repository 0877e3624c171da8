//! The tools that packages are made with, in target/tools: from `PyPI` by `packaging/requirements.txt`, which pins them by their
//! hashes, and from crates.io with the versions below.

use crate::{command, packages, python, root, run_command};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// What is installed with `cargo install`: the program, its crate with the version, and options.
const CARGO_TOOLS: &[(&str, &str, &[&str])] = &[
    ("cargo-about", "cargo-about@0.9.3", &["--features", "cli"]),
    ("cargo-cyclonedx", "cargo-cyclonedx@0.5.7", &[]),
];

/// Most tools run for seconds and build for minutes, so they are built without optimisation.
const QUICK_BUILD: [(&str, &str); 3] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_STRIP", "debuginfo"),
];

/// Without optimisation, cargo-about compares the texts of licences for nine minutes.
const OPTIMIZED: &[&str] = &["cargo-about"];

/// Where the tools are.
#[derive(Debug)]
pub struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// Runs a program with a search path on which the tools come first.
    pub fn run(&self, program: &str, args: &[&str], variables: &[(&str, &str)]) -> Result<()> {
        let before = std::env::var("PATH").unwrap_or_default();
        let folder = self.folder.display();
        let path = format!("{folder}/python/bin:{folder}/bin:{before}");
        let mut command = command(program);
        command.args(args).envs(variables.iter().copied()).env("PATH", path);
        run_command(command.current_dir(root()))
    }

    /// Python with the packages from `PyPI`.
    pub fn python(&self) -> String {
        self.folder.join("python/bin/python3").to_string_lossy().into_owned()
    }
}

/// Installs what is missing.
pub fn ensure(root: &Path) -> Result<Tools> {
    let tools = cross_compiler(root)?;
    for (program, version, options) in CARGO_TOOLS {
        cargo_tool(root, program, version, options)?;
    }
    Ok(tools)
}

/// Installs only what binaries are built with.
pub fn cross_compiler(root: &Path) -> Result<Tools> {
    packages::ensure(packages::OF_DIST)?;
    let folder = root.join("target/tools");
    python::environment(folder.join("python"), &root.join("packaging/requirements.txt"))?;
    Ok(Tools { folder })
}

/// Installs one program from crates.io into target/tools, unless this version is there.
pub fn cargo_tool(root: &Path, program: &str, version: &str, options: &[&str]) -> Result<PathBuf> {
    let folder = root.join("target/tools");
    let there = std::fs::read_to_string(folder.join(".crates.toml")).unwrap_or_default();
    if !there.contains(&format!("\"{} ", version.replace('@', " "))) {
        let level = if OPTIMIZED.contains(&program) { "2" } else { "0" };
        let mut cargo = command("cargo");
        cargo.args(["install", "--locked", "--quiet", version]).args(options).arg("--root").arg(&folder);
        cargo.envs(QUICK_BUILD).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level);
        run_command(cargo.current_dir(root))?;
    }
    Ok(folder.join("bin").join(program))
}
