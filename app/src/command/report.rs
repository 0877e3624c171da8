//! `drome report`: the findings of a run that is in the store.

use super::store;
use crate::cli::Common;
use crate::console;
use clap::{Args, ValueEnum};
use model::Findings;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run [default: the latest]
    run: Option<String>,
    /// How
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    format: Format,
}

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Terminal,
    Markdown,
    Json,
}

/// Reads, analyses, prints.
pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let (run, observations, ended) = store(common)?.run(args.run.as_deref())?;
    let findings = lab::analyse::findings(&run, &observations, ended.as_deref());
    console::print(&show(&findings, args.format))?;
    Ok(ExitCode::SUCCESS)
}

/// Findings in a format. A race is told in words.
pub fn show(findings: &Findings, format: Format) -> String {
    match format {
        Format::Terminal if findings.study == "race" => report::race::report(findings),
        Format::Terminal => report::terminal::report(findings),
        Format::Markdown => report::markdown::report(findings),
        Format::Json => report::findings_json(findings),
    }
}
