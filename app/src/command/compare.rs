//! `drome compare`: reports what changed between two runs and, with `--fail-if-slower`, fails on a regression.

use super::format::{Destination, FormatArgs};
use super::gate;
use super::verdict_file::VerdictFile;
use super::{is_file_name, store};
use crate::console;
use crate::failure::WrongInput;
use crate::options::{Common, Slowdown};
use crate::stored::comparable;
use clap::{Args, ValueEnum};
use model::gate::{Gate, Outcome};
use model::{Comparison, Findings, GateVerdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::StoreError;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Earlier run, or a file with its findings (`drome report RUN --format json`)
    old: String,
    /// Later run, or a file with its findings [default: the latest run]
    new: Option<String>,
    /// Exit with 3 if the whole interval of a slowdown lies beyond this share, such as 3%; with 0 if none is slower by more; with 4 if the
    /// runs don't tell
    #[arg(long, value_name = "SHARE")]
    fail_if_slower: Option<Slowdown>,
    /// Exit with 0 even if a contender could not be judged: the share lies within its interval, it failed, has too few
    /// sound starts, or is missing from the later run
    #[arg(long, requires = "fail_if_slower")]
    allow_unknown: bool,
    /// Also write the judgement to this file, .json or .md
    #[arg(long, value_name = "FILE", requires = "fail_if_slower")]
    verdict: Option<PathBuf>,
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
    /// Test results: a contender that is slower by more than --fail-if-slower is a failed test
    Junit,
}

/// Compares two runs, prints what changed and, if asked to, fails on a significant regression.
pub fn run(args: &CompareArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let verdict = args.verdict.as_deref().map(VerdictFile::to).transpose()?;
    let to = args.shown.destination()?;
    let bar = console::counted(2, "runs analysed", "");
    let old = findings(Some(&args.old), common)?;
    bar.inc(1);
    let new = findings(args.new.as_deref(), common)?;
    bar.inc(1);
    let comparison = judge::findings::compare::compare(&old, &new, args.anyway)?;
    drop(bar);
    let gate = args.fail_if_slower.map(|margin| Gate::of_comparison(&comparison, margin.0));
    to.write(show(&comparison, gate.as_ref(), &to).as_bytes())?;
    let Some(gate) = gate else { return Ok(ExitCode::SUCCESS) };
    let code = judge(&gate, args.allow_unknown);
    if let Some(verdict) = verdict {
        verdict.write(&GateVerdict::of_comparison(&gate, &comparison, &new))?;
    }
    Ok(code)
}

/// Prints the judgement of a comparison that may fail, and returns its exit code.
fn judge(gate: &Gate, may_be_unknown: bool) -> ExitCode {
    gate::tell(gate);
    match gate.outcome() {
        Outcome::Open if may_be_unknown => ExitCode::SUCCESS,
        Outcome::Open => {
            alert!("drome: not everything could be judged; --allow-unknown lets it pass");
            gate::code(Outcome::Open)
        }
        outcome => gate::code(outcome),
    }
}

/// Reads findings from a file of this name if there is one, else from the store.
fn findings(name: Option<&str>, common: &Common) -> anyhow::Result<Findings> {
    if let Some(path) = name.map(Path::new).filter(|path| path.is_file()) {
        let wrong = |why: String| {
            let how = "create one with `drome report RUN --format json`";
            WrongInput(format!("{} can't be read as a JSON report of drome ({why}): {how}", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
        let findings: Findings = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        if findings.schema != model::findings::SCHEMA {
            return Err(wrong(format!("unknown schema {}", findings.schema)).into());
        }
        return Ok(findings);
    }
    if let Some(name) = name.filter(|name| is_file_name(name)) {
        let either = "name a JSON report of drome, or a run as `drome list runs` lists it";
        refuse!("there is no file {name}: {either}");
    }
    let store = store(common)?;
    let latest = || Ok::<_, StoreError>(store.runs()?.into_iter().next().map(|run| run.id));
    let name = name.map_or_else(latest, |name| Ok(Some(name.to_owned())))?;
    let (run, ended) = comparable(store.find(name.as_deref())?).map_err(WrongInput)?;
    Ok(lab::findings::of(&store, &run, ended.as_deref())?)
}

fn show(comparison: &Comparison, gate: Option<&Gate>, to: &Destination<Format>) -> String {
    match to.format {
        Format::Terminal => report::compare::document(comparison).terminal(&to.look()),
        Format::Markdown => report::compare::document(comparison).markdown(),
        Format::Json => report::json(comparison),
        Format::Junit => report::ci::junit_of_comparison(comparison, gate),
    }
}
