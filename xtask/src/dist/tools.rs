//! The tools that packages are made with, in target/tools: from `PyPI` by `packaging/requirements.txt`, which pins them by their
//! hashes, and from crates.io with the versions below.

use crate::packages;
use crate::run;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// What is installed with `cargo install`: the program, its crate with the version, and options.
const CARGO_TOOLS: &[(&str, &str, &[&str])] = &[
    ("cargo-about", "cargo-about@0.9.3", &["--features", "cli"]),
    ("cargo-cyclonedx", "cargo-cyclonedx@0.5.7", &[]),
];

/// Most tools run for seconds and build for minutes, so they are built without optimisation.
const QUICK_BUILD: &[&str] = &[
    "CARGO_PROFILE_RELEASE_LTO=off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16",
    "CARGO_PROFILE_RELEASE_STRIP=debuginfo",
];

/// Without optimisation, cargo-about compares the texts of licences for nine minutes.
const OPTIMIZED: &[&str] = &["cargo-about"];

/// Where the tools are.
#[derive(Debug)]
pub struct Tools {
    folder: PathBuf,
}

impl Tools {
    /// A search path on which the tools come first.
    pub fn path(&self) -> String {
        let before = std::env::var("PATH").unwrap_or_default();
        let folder = self.folder.display();
        format!("{folder}/python/bin:{folder}/bin:{before}")
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
    let tools = Tools { folder: folder.clone() };
    let requirements = root.join("packaging/requirements.txt");
    let wanted = std::fs::read_to_string(&requirements).context("can't read packaging/requirements.txt")?;
    let installed = folder.join("python/requirements.txt");
    if std::fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
        run("python3", &["-m", "venv", "--clear", &folder.join("python").to_string_lossy()])?;
        let file = requirements.to_string_lossy();
        let pip = ["-m", "pip", "install", "--quiet", "--require-hashes", "--only-binary=:all:", "-r", &file];
        run(&tools.python(), &pip)?;
        std::fs::write(&installed, wanted).context("can't note which tools are installed")?;
    }
    Ok(tools)
}

/// Installs one program from crates.io into target/tools, unless this version is there.
pub fn cargo_tool(root: &Path, program: &str, version: &str, options: &[&str]) -> Result<PathBuf> {
    let folder = root.join("target/tools");
    let there = std::fs::read_to_string(folder.join(".crates.toml")).unwrap_or_default();
    if !there.contains(&format!("\"{} ", version.replace('@', " "))) {
        let to = folder.to_string_lossy();
        let install = ["cargo", "install", "--locked", "--quiet", "--root", &to, version];
        let level = if OPTIMIZED.contains(&program) { 2 } else { 0 };
        let level = format!("CARGO_PROFILE_RELEASE_OPT_LEVEL={level}");
        run("env", &[&[level.as_str()], QUICK_BUILD, &install, options].concat())?;
    }
    Ok(folder.join("bin").join(program))
}
