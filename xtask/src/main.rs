//! All automation: `cargo xtask ci` is what CI runs, and the same thing that you run.

mod packages;
mod tidy;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "cargo xtask COMMAND
  ci      everything that CI checks: format, lints, tidiness, tests
  test    installs what the tests need from Debian's packages, then runs every test
  tidy    lengths of files, directions of dependencies, left-overs
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    let result = match command.as_str() {
        "ci" => ci(),
        "test" => test(),
        "tidy" => tidy::check(&root()),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn ci() -> Result<()> {
    run("cargo", &["fmt", "--all", "--check"])?;
    tidy::check(&root())?;
    run("cargo", &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    test()
}

fn test() -> Result<()> {
    packages::ensure()?;
    run("cargo", &["test", "--workspace", "--locked"])
}

/// Runs a command in the workspace's folder and shows what it prints.
fn run(program: &str, args: &[&str]) -> Result<()> {
    let shown = format!("{program} {}", args.join(" "));
    eprintln!("$ {shown}");
    let status = Command::new(program).args(args).current_dir(root()).status();
    match status.with_context(|| format!("can't run `{shown}`"))? {
        status if status.success() => Ok(()),
        status => bail!("`{shown}` failed ({status})"),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}
