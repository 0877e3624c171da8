//! What automation shares with the crate `bench`: the workspace's folder, commands that are shown, Debian's packages.

pub mod packages;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command without the variables by which `cargo run` describes this package. Some build scripts ask to be run again when these change
/// (ring's does), and then everything that depends on them would be compiled anew whenever commands are run by hand and by xtask in turns.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|begin| name.to_string_lossy().starts_with(begin)) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command in the workspace's folder, as [`run_command`] does.
pub fn run(program: &str, args: &[&str]) -> Result<()> {
    run_command(command(program).args(args).current_dir(root()))
}

/// Runs a command. Shows it and what it prints on standard error: standard output is for the caller's own results.
pub fn run_command(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    eprintln!("$ {shown}");
    let status = command.stdout(std::io::stderr()).status();
    match status.with_context(|| format!("can't run `{shown}`"))? {
        status if status.success() => Ok(()),
        status => bail!("`{shown}` failed ({status})"),
    }
}

/// Runs a command and returns what it prints on standard output.
pub fn printed(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output = command.output().with_context(|| format!("can't run `{shown}`"))?;
    let [text, errors] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if !output.status.success() {
        bail!("`{shown}` failed ({})\n{text}{errors}", output.status);
    }
    Ok(text)
}

fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Builds drome as the tests do, and returns it. Building it alone would enable other features of its libraries, and so compile half of them
/// again.
pub fn built_drome() -> Result<PathBuf> {
    run("cargo", &["test", "--workspace", "--locked", "--no-run", "--quiet"])?;
    Ok(target().join("debug/drome"))
}

/// The folder of what cargo builds.
pub fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// The workspace's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}
