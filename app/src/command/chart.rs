//! `drome chart`: draws the bar chart of the first founding page, from any page with reports.

use super::import;
use crate::console;
use clap::Args;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ChartArgs {
    /// Files with reports: Markdown, HTML or plain text; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Do not indent the chart; the indentation makes it a block of code in Markdown
    #[arg(long)]
    bare: bool,
}

/// Reads the files and draws the chart.
pub fn run(args: &ChartArgs) -> anyhow::Result<ExitCode> {
    let read = import::read(&args.files)?;
    let Some(chart) = report::imported::chart(&read) else {
        return Err(import::nothing(&args.files, "nothing to draw").into());
    };
    console::print(&console::text_style().words(&if args.bare { chart } else { indented(&chart) }))?;
    Ok(ExitCode::SUCCESS)
}

/// The chart with every line indented by at least four spaces.
fn indented(chart: &str) -> String {
    let lines = || chart.lines().filter(|line| !line.is_empty());
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let missing = 4_usize.saturating_sub(lines().map(blanks).min().unwrap_or(0));
    chart.lines().map(|line| format!("{:missing$}{line}", "").trim_end().to_owned() + "\n").collect()
}
