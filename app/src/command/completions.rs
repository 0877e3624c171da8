//! `drome completions SHELL`: what a shell needs to complete drome's command lines.

use crate::{console, manual};
use clap::Args;
use clap_complete::Shell;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints it.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut manual::command(), "drome", &mut script);
    console::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
