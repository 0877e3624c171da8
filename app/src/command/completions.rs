//! `drome completions SHELL`: prints a shell's completion script for drome.

use crate::{console, manual};
use clap::Args;
use clap_complete::Shell;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to print the script for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut manual::command(), "drome", &mut script);
    console::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
