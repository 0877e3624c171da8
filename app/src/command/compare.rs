//! `drome compare` and `drome gate`: report what changed between two runs, and fail on a regression.

use super::store;
use crate::cli::Common;
use crate::console;
use crate::failure::{REGRESSION, VOID, WrongInput};
use clap::{Args, ValueEnum};
use lab::{StoreError, Stored};
use model::{Comparison, Findings};
use std::path::Path;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Earlier run, or a file with its findings (`drome report RUN --format json`)
    old: String,
    /// Later run, or a file with its findings
    new: String,
    #[command(flatten)]
    how: How,
}

/// Raw arguments.
#[derive(Debug, Args)]
pub struct GateArgs {
    /// Run to judge, or a file with its findings [default: the latest run]
    new: Option<String>,
    /// Baseline: an earlier run, or a file with its findings
    #[arg(long, value_name = "RUN|FILE")]
    against: String,
    /// Fail if a slowdown is significantly larger than this share, such as 3% or 0.03
    #[arg(long, default_value = "3%", value_name = "SHARE", value_parser = share)]
    margin: f64,
    /// Pass even if a contender could not be judged: it failed, has too few sound trials, or is missing from the run
    #[arg(long)]
    allow_unknown: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    format: Format,
    /// Compare even if machine, build of drome, response bodies or way of measuring differ
    #[arg(long)]
    anyway: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Terminal,
    Markdown,
    Json,
}

/// Compares two runs and prints what changed.
pub fn compare(args: &CompareArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let (old, new) = (findings(Some(&args.old), common)?, findings(Some(&args.new), common)?);
    let comparison = lab::findings::compare::compare(&old, &new, args.how.anyway)?;
    console::print(&show(&comparison, args.how.format)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Compares two runs, prints what changed, and fails on a significant regression. Also fails if a contender could not be
/// judged, unless that is allowed.
pub fn gate(args: &GateArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let (old, new) = (findings(Some(&args.against), common)?, findings(args.new.as_deref(), common)?);
    let comparison = lab::findings::compare::compare(&old, &new, args.how.anyway)?;
    console::print(&show(&comparison, args.how.format)?)?;
    let margin = args.margin * 100.0;
    let mut failed = false;
    for (cell, contender) in comparison.regressions(args.margin) {
        failed = true;
        note!("drome: {} ({}) is significantly more than {margin} % slower", contender.title, cell.title);
    }
    let unjudged = comparison.unjudged();
    for sentence in &unjudged {
        note!("drome: {sentence}");
    }
    if failed {
        return Ok(ExitCode::from(REGRESSION));
    }
    if !unjudged.is_empty() && !args.allow_unknown {
        note!("drome: the gate can't judge these contenders; --allow-unknown lets them pass");
        return Ok(ExitCode::from(VOID));
    }
    note!("drome: no significant regression larger than {margin} %");
    Ok(ExitCode::SUCCESS)
}

/// Reads findings from a file of this name if there is one, else from the store.
fn findings(name: Option<&str>, common: &Common) -> anyhow::Result<Findings> {
    if let Some(path) = name.map(Path::new).filter(|path| path.is_file()) {
        let wrong = |why: String| {
            let how = "create one with `drome report RUN --format json`";
            WrongInput(format!("{} is not a file of findings ({why}): {how}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
        let findings: Findings = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        if findings.schema != model::findings::SCHEMA {
            return Err(wrong(format!("unknown schema {}", findings.schema)).into());
        }
        return Ok(findings);
    }
    let store = store(common)?;
    let latest = || {
        Ok::<_, StoreError>(store.runs()?.into_iter().find(|run| run.kind.is_measured()).map(|run| run.id))
    };
    let name = name.map_or_else(latest, |name| Ok(Some(name.to_owned())))?;
    match store.find(name.as_deref())? {
        Stored::Run(run, observations, ended) => {
            Ok(lab::findings::of(&store, &run, &observations, ended.as_deref())?)
        }
        Stored::Import(import) => Err(WrongInput(format!(
            "run {} was imported and has no trials to compare: choose a run that drome measured (`drome list runs`)",
            import.id
        ))
        .into()),
        Stored::Replays(replays) => Err(WrongInput(format!(
            "run {} was made with --as-published: each command line is run once, so there are no trials to compare; choose \
             another run (`drome list runs`)",
            replays.id
        ))
        .into()),
    }
}

fn show(comparison: &Comparison, format: Format) -> anyhow::Result<String> {
    Ok(match format {
        Format::Terminal => report::compare::terminal(comparison, &console::text_style()),
        Format::Markdown => report::compare::markdown(comparison),
        Format::Json => serde_json::to_string_pretty(comparison)? + "\n",
    })
}

/// `3%` or `0.03`.
fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(n) if (0.0..1.0).contains(&(n * unit)) => Ok(n * unit),
        _ => Err("must be a share from 0 to below 1, such as 3% or 0.03".to_owned()),
    }
}
