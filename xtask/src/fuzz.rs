//! `cargo xtask fuzz`: every fuzz target for a while, by cargo-fuzz, from the seeds that the tests run as well.

use crate::root;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// How long each target runs unless told.
const DEFAULT_SECONDS: u64 = 20;

/// One input that takes so long is a bug.
const TIMEOUT_SECONDS: u64 = 10;

/// Runs all targets; what one finds is left in `fuzz/artifacts` and belongs among the seeds.
pub fn fuzz(args: &[String]) -> Result<()> {
    let seconds = match args {
        [] => DEFAULT_SECONDS,
        [seconds] => seconds.parse().ok().filter(|s| *s > 0).context("fuzz takes a number of seconds")?,
        _ => bail!("fuzz takes one number, the seconds that each target runs"),
    };
    let known = Command::new("cargo").args(["fuzz", "--version"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        bail!("cargo-fuzz is not installed: `cargo install cargo-fuzz --locked`");
    }
    targets(&root().join("fuzz/fuzz_targets"))?.iter().try_for_each(|target| run(target, seconds))
}

fn run(target: &str, seconds: u64) -> Result<()> {
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/corpus-seeds/{target}"));
    fs::create_dir_all(root().join(&corpus))?;
    eprintln!("$ cargo fuzz run {target}, for {seconds} s");
    let status = Command::new("cargo")
        .args(["fuzz", "run", "--target-dir", "target/fuzz", target, &corpus, &seeds, "--"])
        .args([format!("-max_total_time={seconds}"), format!("-timeout={TIMEOUT_SECONDS}")])
        // Longer heads than this are refused by a count, which the tests look at.
        .args(["-max_len=2048", "-print_final_stats=1"])
        // The sanitizer's flags are unstable ones, which a stable compiler takes only so.
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(root())
        .status();
    match status.context("can't run cargo")? {
        status if status.success() => Ok(()),
        status => bail!("target {target} failed ({status}): put what it found among {seeds}, and fix it"),
    }
}

/// Every file there is a target.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let files = fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))?;
    let mut names = Vec::new();
    for file in files {
        names.extend(file?.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}
