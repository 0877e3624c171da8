//! `drome completions SHELL`: prints a shell's completion script for drome.

use crate::cli::CompletionsArgs;
use crate::{console, manual};
use std::process::ExitCode;

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut manual::command(), "drome", &mut script);
    console::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
