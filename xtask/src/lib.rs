//! What automation shares with the crate `bench`: the workspace's folder, commands that are shown, Debian's packages.

pub mod packages;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a command in the workspace's folder. Shows the command and what it prints on standard error: standard output is
/// for the caller's own results.
pub fn run(program: &str, args: &[&str]) -> Result<()> {
    let shown = format!("{program} {}", args.join(" "));
    eprintln!("$ {shown}");
    let status = Command::new(program).args(args).current_dir(root()).stdout(std::io::stderr()).status();
    match status.with_context(|| format!("can't run `{shown}`"))? {
        status if status.success() => Ok(()),
        status => bail!("`{shown}` failed ({status})"),
    }
}

/// The workspace's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}
