//! `drome compare`: reports what changed between two runs and, with `--fail-if-slower`, fails on a regression.

use super::format::{Destination, FormatArgs};
use super::store;
use crate::console;
use crate::failure::{CHECK_FAILED, VOID, WrongInput};
use crate::options::Common;
use clap::{Args, ValueEnum};
use lab::{StoreError, Stored};
use model::{Comparison, Findings};
use std::path::Path;
use std::process::ExitCode;

/// The bar while runs are analysed.
const TEMPLATE: &str = "{bar:24} {pos}/{len} runs analysed, {elapsed} so far, {eta} left";

/// Raw arguments.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Earlier run, or a file with its findings (`drome report RUN --format json`)
    old: String,
    /// Later run, or a file with its findings [default: the latest run]
    new: Option<String>,
    /// Exit with 3 if a contender is significantly slower by more than this share, such as 3%; with 4 if a contender
    /// could not be judged
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fail_if_slower: Option<f64>,
    /// Exit with 0 even if a contender could not be judged: it failed, has too few sound trials, or is missing from
    /// the later run
    #[arg(long, requires = "fail_if_slower")]
    allow_unknown: bool,
    #[command(flatten)]
    shown: FormatArgs<Format>,
    /// Compare even if machine, build of drome, response bodies or way of measuring differ
    #[arg(long)]
    anyway: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Terminal,
    Markdown,
    Json,
}

/// Compares two runs, prints what changed and, if asked to, fails on a significant regression.
pub fn run(args: &CompareArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let to = args.shown.destination()?;
    let bar = console::bar(2, TEMPLATE);
    let old = findings(Some(&args.old), common)?;
    bar.inc(1);
    let new = findings(args.new.as_deref(), common)?;
    bar.inc(1);
    let comparison = lab::findings::compare::compare(&old, &new, args.anyway)?;
    bar.finish_and_clear();
    to.write(show(&comparison, &to)?.as_bytes())?;
    let judged = args.fail_if_slower.map(|margin| judge(&comparison, margin, args.allow_unknown));
    Ok(judged.unwrap_or(ExitCode::SUCCESS))
}

/// The exit code of a comparison that may fail: 3 for a regression beyond the margin, 4 for contenders without a verdict.
fn judge(comparison: &Comparison, margin: f64, may_be_unknown: bool) -> ExitCode {
    let percent = margin * 100.0;
    let mut has_failed = false;
    for (cell, contender) in comparison.regressions(margin) {
        has_failed = true;
        alert!("drome: {} ({}) is significantly more than {percent} % slower", contender.title, cell.title);
    }
    let unjudged = comparison.unjudged();
    for sentence in &unjudged {
        alert!("drome: {sentence}");
    }
    if has_failed {
        return ExitCode::from(CHECK_FAILED);
    }
    if !unjudged.is_empty() && !may_be_unknown {
        alert!("drome: these contenders could not be judged; --allow-unknown lets them pass");
        return ExitCode::from(VOID);
    }
    note!("drome: no significant regression larger than {percent} %");
    ExitCode::SUCCESS
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
        Stored::Printed(printed) => Err(WrongInput(format!(
            "{} is one measurement (`drome {}`), so there are no trials to compare; `drome race` compares two servers",
            printed.id, printed.title
        ))
        .into()),
    }
}

fn show(comparison: &Comparison, to: &Destination<Format>) -> anyhow::Result<String> {
    Ok(match to.format {
        Format::Terminal => report::compare::terminal(comparison, &to.look()),
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
