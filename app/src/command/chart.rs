//! `drome chart`: the bar chart of the first founding page, from any page with reports.

use super::import;
use crate::console;
use clap::Args;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ChartArgs {
    /// Pages or texts in Markdown, HTML or as they came out of a terminal; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

/// Reads and draws.
pub fn run(args: &ChartArgs) -> anyhow::Result<ExitCode> {
    let read = import::read(&args.files)?;
    let Some(chart) = report::imported::chart(&read) else {
        return Err(import::nothing(&args.files, "so there is nothing to draw").into());
    };
    console::print(&chart)?;
    Ok(ExitCode::SUCCESS)
}
