//! `drome report`: the findings of a run that is in the store.

use super::store;
use crate::cli::Common;
use crate::console;
use clap::{Args, ValueEnum};
use lab::Stored;
use model::{Findings, Import};
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
    let text = match store(common)?.find(args.run.as_deref())? {
        Stored::Run(run, observations, ended) => {
            show(&lab::analyse::findings(&run, &observations, ended.as_deref()), args.format)
        }
        Stored::Import(import) => show_import(&import, args.format),
    };
    console::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What was read from pages, in a format.
pub fn show_import(import: &Import, format: Format) -> String {
    match format {
        Format::Terminal => report::imported::terminal(import),
        Format::Markdown => report::imported::markdown(import),
        Format::Json => report::imported::json(import),
    }
}

/// Findings in a format. A race is told in words.
pub fn show(findings: &Findings, format: Format) -> String {
    match format {
        Format::Terminal if findings.race.is_some() => report::race::report(findings),
        Format::Terminal => report::terminal::report(findings),
        Format::Markdown if findings.race.is_some() => report::race::markdown(findings),
        Format::Markdown => report::markdown::report(findings),
        Format::Json => report::findings_json(findings),
    }
}
