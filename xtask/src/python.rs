//! `cargo xtask python`: checks the Python package and tests it with the current drome, on Ray clusters of several nodes on this machine.
//! What is needed comes from `python/requirements.txt`, which pins everything by its hash.

use crate::{built_drome, packages, root, run, run_command};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is needed to make a virtual environment: a file that shows that the package is installed, and the package.
const NEEDED: &[(&str, &str)] =
    &[("python3", "python3"), ("/usr/share/doc/python3-venv/copyright", "python3-venv")];

/// The variable with the path of drome, which the package and its tests use.
const PROGRAM: &str = "DROME";

/// What runs the tests.
const TEST: &[&str] = &["-m", "pytest", "-q", "-p", "no:cacheprovider"];

/// The variables of the tests that kill machines and workers, for `--scale`: two hundred counted heats; twenty real ones, six of them killed.
const MORE_KILLS: &[(&str, &str)] =
    &[("DROME_TEST_COUNTED_ROUNDS", "100"), ("DROME_TEST_KILLS", "6"), ("DROME_TEST_ROUNDS", "20")];

/// Checks types and style and runs the tests, or prints figures instead.
pub fn python(scale: bool) -> Result<()> {
    let (root, tools) = (root(), installed(&root())?);
    let drome = built()?;
    let python = Python { folder: root.join("python"), tools, drome };
    if scale {
        python.run(&["-m", "tests.scale"], &[])?;
        return python
            .run(&[TEST, &["-s", "-k", "worker_is_killed or machines_are_killed"]].concat(), MORE_KILLS);
    }
    let cache = |name: &str| root.join("target").join(name).to_string_lossy().into_owned();
    python.run(&["-m", "ruff", "check", "--cache-dir", &cache("ruff"), "."], &[])?;
    python.run(&["-m", "ruff", "format", "--check", "--cache-dir", &cache("ruff"), "."], &[])?;
    python.run(&["-m", "mypy", "--cache-dir", &cache("mypy")], &[])?;
    python.run(TEST, &[])
}

/// The package's folder, with the Python and the drome that it is tested with.
struct Python {
    folder: PathBuf,
    tools: PathBuf,
    drome: PathBuf,
}

impl Python {
    fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> Result<()> {
        let mut python = Command::new(self.tools.join("bin/python3"));
        python.env(PROGRAM, &self.drome).env("PYTHONPATH", &self.folder).env("PYTHONDONTWRITEBYTECODE", "1");
        run_command(python.args(args).current_dir(&self.folder).envs(variables.iter().copied()))
    }
}

/// The drome to test: `$DROME`, else a debug build.
fn built() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os(PROGRAM) {
        return Ok(given.into());
    }
    built_drome()
}

/// A virtual environment with everything that is pinned.
pub fn installed(root: &Path) -> Result<PathBuf> {
    packages::ensure(NEEDED)?;
    environment(root.join("target/python"), &root.join("python/requirements.txt"))
}

/// Makes a virtual environment in a folder, with what the file pins by hashes, unless it is there; returns the folder.
pub fn environment(folder: PathBuf, requirements: &Path) -> Result<PathBuf> {
    let shown = requirements.to_string_lossy();
    let wanted = std::fs::read_to_string(requirements).with_context(|| format!("can't read {shown}"))?;
    let noted = folder.join("requirements.txt");
    if std::fs::read_to_string(&noted).ok().as_ref() != Some(&wanted) {
        run("python3", &["-m", "venv", "--clear", &folder.to_string_lossy()])?;
        let pip =
            ["-m", "pip", "install", "--quiet", "--require-hashes", "--only-binary=:all:", "-r", &shown];
        run(&folder.join("bin/python3").to_string_lossy(), &pip)?;
        std::fs::write(&noted, wanted).context("can't note what is installed")?;
    }
    Ok(folder)
}
