//! `cargo xtask fuzz`: every fuzz target for a while, by cargo-fuzz, from the seeds that the tests run as well.

use crate::root;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// How long each target runs unless told.
const DEFAULT_SECONDS: u64 = 20;

/// The corpora that earlier runs grew. To keep what a run adds: `-merge=1` with a target's program, then `tar` the folder anew.
const KEPT: &str = "fuzz/corpus.tar.gz";

/// One input that takes so long is a bug.
const TIMEOUT_SECONDS: u64 = 10;

/// Runs all targets, or those that are named; what one finds is left in `fuzz/artifacts` and belongs among the seeds.
pub fn fuzz(args: &[String]) -> Result<()> {
    let (seconds, wanted) = match args {
        [] => (DEFAULT_SECONDS, args),
        [seconds, wanted @ ..] => (
            seconds.parse().ok().filter(|s| *s > 0).context(
                "fuzz takes the seconds that each target runs, then names of targets, if not all are wanted",
            )?,
            wanted,
        ),
    };
    let mut targets = targets(&root().join("fuzz/fuzz_targets"))?;
    if let Some(unknown) = wanted.iter().find(|name| !targets.contains(name)) {
        bail!("no target `{unknown}`; there are: {}", targets.join(" "));
    }
    targets.retain(|target| wanted.is_empty() || wanted.contains(target));
    let known = Command::new("cargo").args(["fuzz", "--version"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        bail!("cargo-fuzz is not installed: `cargo install cargo-fuzz --locked`");
    }
    unpack()?;
    targets.iter().try_for_each(|target| run(target, seconds))
}

/// What earlier runs grew, reduced to inputs that each reach something of their own, is where the next one begins.
fn unpack() -> Result<()> {
    if root().join("fuzz/corpus").exists() || !root().join(KEPT).exists() {
        return Ok(());
    }
    crate::run("tar", &["-xzf", KEPT, "-C", "fuzz"])
}

fn run(target: &str, seconds: u64) -> Result<()> {
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/corpus-seeds/{target}"));
    fs::create_dir_all(root().join(&corpus))?;
    eprintln!("$ cargo fuzz run {target}, for {seconds} s");
    let status = Command::new("cargo")
        .args(["fuzz", "run", "--target-dir", "target/fuzz", target, &corpus, &seeds, "--"])
        .args([format!("-max_total_time={seconds}"), format!("-timeout={TIMEOUT_SECONDS}")])
        .args([format!("-max_len={}", longest(target)), "-print_final_stats=1".to_owned()])
        // The sanitizer's flags are unstable ones, which a stable compiler takes only so.
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(root())
        .status();
    match status.context("can't run cargo")? {
        status if status.success() => Ok(()),
        status => bail!("target {target} failed ({status}): put what it found among {seeds}, and fix it"),
    }
}

/// Inputs of a target are no longer than this, in bytes.
fn longest(target: &str) -> usize {
    match target {
        // Longer heads than this are refused by a count, which the tests look at.
        "request" | "response" | "chunked" | "resolve" => 2048,
        _ => 4096,
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
