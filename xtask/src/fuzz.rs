//! `cargo xtask fuzz`: runs every fuzz target for a while with cargo-fuzz, from the seeds that the tests also run.

use crate::files::entries;
use crate::{command, root, run_command};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The corpora of earlier runs. To keep what a run adds, run a target's program with `-merge=1` and pack the folder
/// again with `tar`.
const KEPT: &str = "fuzz/corpus.tar.gz";

/// An input that takes this long is a bug.
const TIMEOUT_SECONDS: u64 = 10;

/// Targets that are not checked for leaks, because their threads may still be ending when an input is done: what such a thread holds looks
/// like a leak. Memory that grows is noticed by libFuzzer's limit all the same.
const LEAVES_THREADS: &[&str] = &["frames"];

/// Runs all targets, or the named ones. Inputs that fail are left in `fuzz/artifacts` and should be added to the
/// seeds.
pub fn fuzz(seconds: u64, wanted: &[String]) -> Result<()> {
    let mut targets = targets(&root().join("fuzz/fuzz_targets"))?;
    if let Some(unknown) = wanted.iter().find(|name| !targets.contains(name)) {
        bail!("no target `{unknown}`; available: {}", targets.join(" "));
    }
    targets.retain(|target| wanted.is_empty() || wanted.contains(target));
    let known = Command::new("cargo").args(["fuzz", "--version"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        bail!("cargo-fuzz is not installed: `cargo install cargo-fuzz --locked`");
    }
    unpack()?;
    targets.iter().try_for_each(|target| run(target, seconds))
}

/// Unpacks the corpora of earlier runs, from which the next run starts. Each input there reaches code that no other
/// input reaches.
fn unpack() -> Result<()> {
    if root().join("fuzz/corpus").exists() || !root().join(KEPT).exists() {
        return Ok(());
    }
    crate::run("tar", &["-xzf", KEPT, "-C", "fuzz"])
}

fn run(target: &str, seconds: u64) -> Result<()> {
    let (corpus, seeds) = (format!("fuzz/corpus/{target}"), format!("fuzz/corpus-seeds/{target}"));
    fs::create_dir_all(root().join(&corpus))?;
    let mut fuzz = command("cargo");
    fuzz.args(["fuzz", "run", "--target-dir", "target/fuzz", target, &corpus, &seeds, "--"])
        .args([format!("-max_total_time={seconds}"), format!("-timeout={TIMEOUT_SECONDS}")])
        .args([format!("-max_len={}", longest(target)), "-print_final_stats=1".to_owned()])
        .args(LEAVES_THREADS.contains(&target).then_some("-detect_leaks=0"))
        // The sanitizer's flags are unstable. A stable compiler accepts them only with this variable.
        .env("RUSTC_BOOTSTRAP", "1")
        .current_dir(root());
    run_command(&mut fuzz).with_context(|| format!("add the failing input to {seeds}; fix the bug"))
}

/// The longest input of a target, in bytes.
fn longest(target: &str) -> usize {
    match target {
        // Longer heads are refused because of their length, which the tests check.
        "request" | "response" | "chunked" | "resolve" => 2048,
        // A whole run has some lines of a kilobyte, and so do what a machine is and what it counted.
        "shared" | "messages" => 16_384,
        _ => 4096,
    }
}

/// The targets: one for each file of the folder.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let stem = |file: PathBuf| file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(entries(folder)?.into_iter().filter_map(stem).collect())
}
