//! `drome race 'COMMAND' 'COMMAND'` and `drome race URL URL`: compares any servers, measured like the contenders of a study.

mod cells;
mod profiling;
mod servers;

use self::profiling::Profiling;
use self::servers::RaceServers;
use super::format;
use super::gate;
use super::output::Output;
use super::profile_dir::ProfileDir;
use super::race_file::{self, FileRace};
use super::race_settings::{RaceSettings, ServerSource};
use super::race_urls::RunningArgs;
use super::repeat;
use super::report::ReportOutputArgs;
use super::servers_on::{self, ServersOnArgs};
use super::session::{check_budget, conclude, measure};
use super::store;
use super::verdict_file::VerdictFile;
use crate::console;
use crate::failure::{self, WrongInput, first_given};
use crate::options::{Common, MachineArgs, precision};
use crate::signals::stop_flag;
use crate::stored::formats::{Format, show};
use anyhow::Context;
use clap::Args;
use control::revision::RevisionError;
use lab::Session;
use lab::setup::{self, RunRules, SetupError};
use model::gate::{Gate, Outcome};
use model::gate_verdict::VerdictRevision;
use model::metric::Decider;
use model::url::redacted;
use model::{Arrivals, Design, Findings, GateVerdict, Load, Run, Study};
use report::{RunReport, TextStyle};
use stats::heats::SAME;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The default number of connections.
const CONNECTIONS: u32 = 64;

/// The default budget, unless the least rounds take more than half of it.
const BUDGET: Duration = Duration::from_mins(2);

/// The minimum number of rounds before a decision: each command has been started four times by then. Simulated with recorded
/// races (`docs/simulation.md`).
const LEAST_ROUNDS: usize = 2;

/// The minimum where each command is alive alone and started once in a round: four starts of each, as in a study.
const LEAST_ROUNDS_ALONE: usize = 4;

/// The minimum for servers that already run, which are measured once in a round and not started anew; not simulated.
const LEAST_ROUNDS_RUNNING: usize = 6;

/// The longest warm-up. What a command starts is unknown; a server that compiles while it runs is warm by then, or the
/// report marks it as not settled.
const WARMUP_LIMIT: Duration = Duration::from_secs(30);

/// Raw arguments.
#[derive(Clone, Debug, Args)]
#[command(args_override_self = true)]
pub struct RaceArgs {
    #[command(flatten)]
    settings: RaceSettings,
    /// Read the options from this file instead of drome.toml; its commands are for the current folder, wherever the file is
    #[arg(long, value_name = "FILE", conflicts_with = "named")]
    file: Option<PathBuf>,
    /// Race only this cell of the file, by its title or number; may be repeated
    #[arg(long, value_name = "CELL", conflicts_with = "named")]
    cell: Vec<String>,
    #[command(flatten)]
    running: RunningArgs,
    /// Label of a command, an image or a URL in reports; repeated, once for each and in their order [default: what tells
    /// them apart]
    #[arg(long = "name", value_name = "LABEL")]
    names: Vec<String>,
    /// Measured load on each start of a server, in turns with the others
    #[arg(short, long, default_value = "500ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Shortest warm-up load before that, not counted; it continues until the server is warm
    #[arg(long, default_value = "200ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    warmup: Duration,
    /// Command to run in the current folder before every start of a server; if it fails, the start fails
    #[arg(long, value_name = "COMMAND")]
    prepare: Option<String>,
    /// End also when the ratio is known to this share, such as 3% [default: only when one is certainly better, or
    /// they are within 2% of each other]
    #[arg(long, value_name = "SHARE", value_parser = precision, conflicts_with = "fail_if_slower")]
    precision: Option<f64>,
    /// With --fail-if-slower: also write the judgement to this file, .json or .md
    #[arg(long, value_name = "FILE")]
    verdict: Option<PathBuf>,
    /// After the race, sample one more start of each server under its load, print what the others spend more CPU time on than the first,
    /// and write flame graphs and their differences to this folder; --verdict has the five largest parts too
    #[arg(long, value_name = "DIR")]
    profile: Option<PathBuf>,
    /// Exit with the codes of `git bisect run` instead: 0 good, 1 bad, 125 undecided, 128 or more if drome or the first command failed
    #[arg(long)]
    bisect: bool,
    /// Maximum number of rounds; in each round every server is started and measured twice, and a server that drome did not start (a URL)
    /// is measured once
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
    /// Measure each command in a heat of its own, alive with nothing but drome's hub: for servers that can't run side by
    /// side, because they share a file, a lock or a database. Takes more rounds
    #[arg(long, conflicts_with = "fail_if_slower")]
    alone: bool,
    /// Allow the servers to answer with different bodies
    #[arg(long)]
    any_body: bool,
    #[command(flatten)]
    servers_on: ServersOnArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Seed of everything that is random [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    report_output: ReportOutputArgs,
    /// Also write the findings to this file, even if the race is interrupted; its extension sets the format: .json,
    /// .md, .csv …
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

impl RaceArgs {
    /// The largest slowdown that passes, if the race is judged.
    fn margin(&self) -> Option<f64> {
        self.settings.fail_if_slower.map(|share| share.0)
    }
}

/// One race: the arguments, with what a file says of it, and what else is known of it.
struct OneRace {
    args: RaceArgs,
    /// The words that made the arguments, without the seed.
    words: Vec<String>,
    /// The folder in which revisions are looked for; `None`: the current one.
    folder: Option<PathBuf>,
    /// The title of the cell, where the file has cells.
    title: Option<String>,
    /// The number of cells that are raced and judged together, if there are several.
    cells: Option<usize>,
}

impl OneRace {
    /// The race of a command line that names its servers.
    fn typed(args: &RaceArgs) -> Self {
        Self { args: args.clone(), words: repeat::own(), folder: None, title: None, cells: None }
    }
}

/// A race that is over.
struct Measured {
    /// The exit code, unless the race is judged.
    exit: ExitCode,
    findings: Findings,
    /// The revisions that were raced, in the order of the race.
    revisions: Vec<VerdictRevision>,
    /// The judgement, if one was asked for.
    gate: Option<Gate>,
}

/// Runs the race and reports which server is faster; of a file with several cells, one race after the other.
pub fn run(args: &RaceArgs, common: &Common) -> anyhow::Result<ExitCode> {
    match race_all(args, common) {
        // Any other code would be taken for a judgement of the revision.
        Err(error) if args.bisect => {
            let _ = failure::tell(&error);
            Ok(ExitCode::from(gate::STOP_BISECTING))
        }
        code => code,
    }
}

fn race_all(args: &RaceArgs, common: &Common) -> anyhow::Result<ExitCode> {
    // Before a file of cells is read, which may fail.
    let verdict = args.verdict.as_deref().map(VerdictFile::to).transpose()?;
    if args.file.is_none() && args.cell.is_empty() && names_servers(args) {
        return race(&OneRace::typed(args), common, verdict.as_ref());
    }
    match of_file(args)?.as_slice() {
        [only] => race(only, common, verdict.as_ref()),
        several => cells::race(several, common, verdict.as_ref()),
    }
}

/// Runs one race. With `--fail-if-slower`, if a server other than the first keeps the race from beginning, the exit code says that nothing
/// could be judged: that is a finding about the change, not a failure of drome.
fn race(one: &OneRace, common: &Common, verdict: Option<&VerdictFile>) -> anyhow::Result<ExitCode> {
    let args = &one.args;
    match measured(one, common, verdict) {
        Err(error) if args.margin().is_some() && is_of_a_later_one(&error, &args.settings.rev) => {
            let _ = failure::tell(&error);
            Ok(exit_of(args, Outcome::Open))
        }
        measured => measured.map(|race| race.gate.map_or(race.exit, |gate| exit_of(args, gate.outcome()))),
    }
}

/// Whether the reason of an error is a server other than the first, with which they are compared. `revs`: the revisions, in a race of
/// revisions.
fn is_of_a_later_one(error: &anyhow::Error, revs: &[String]) -> bool {
    let is_unbuilt = matches!(
        error.downcast_ref(),
        Some(RevisionError::Build { name, .. }) if revs.first().is_some_and(|first| first != name)
    );
    is_unbuilt || matches!(error.downcast_ref(), Some(SetupError::Compared(_)))
}

/// The exit code of a judgement.
fn exit_of(args: &RaceArgs, outcome: Outcome) -> ExitCode {
    if args.bisect { gate::bisect_code(outcome) } else { gate::code(outcome) }
}

/// Whether the command line has all that is needed to start servers. Images alone are enough where there is no drome.toml that could
/// have the rest.
fn names_servers(args: &RaceArgs) -> bool {
    let are_images = args.settings.source() == ServerSource::Images;
    args.settings.is_whole() || (are_images && !race_file::exists())
}

/// The races of a command line that names no servers, one for each selected cell: what the command line leaves out is as in a file.
fn of_file(args: &RaceArgs) -> anyhow::Result<Vec<OneRace>> {
    let (path, races) = race_file::read(args.file.as_deref(), &args.settings)?;
    // drome.toml is part of the repository; a file that was named may be anywhere.
    let folder = path.parent().filter(|_| args.file.is_none()).map(Path::to_owned);
    let of_race = |FileRace { title, settings }| OneRace {
        words: repeat::own_with(settings.words(&args.settings)),
        args: RaceArgs { settings: args.settings.clone().or(settings), ..args.clone() },
        folder: folder.clone(),
        title,
        cells: None,
    };
    Ok(cells::selected(races.into_iter().map(of_race).collect(), &args.cell)?)
}

/// Fails if an option needs a margin and there is none, or if there is one, perhaps from the file, and an option excludes it.
fn check_margin(args: &RaceArgs) -> Result<(), WrongInput> {
    let needs = [("--bisect", args.bisect), ("--verdict", args.verdict.is_some())];
    if let Some(option) = first_given(&needs).filter(|_| args.margin().is_none()) {
        refuse!("{option} needs --fail-if-slower, or fail_if_slower in the file");
    }
    let excluded = [("--precision", args.precision.is_some()), ("--alone", args.alone)];
    if let Some(option) = first_given(&excluded).filter(|_| args.margin().is_some()) {
        refuse!("{option} can't be used with fail_if_slower, which the file has: leave one of them out");
    }
    Ok(())
}

/// Refuses what needs the servers on this machine.
fn refuse_elsewhere(args: &RaceArgs) -> Result<(), WrongInput> {
    let what = match args.settings.source() {
        ServerSource::Urls => "a race of URLs",
        ServerSource::Images => "--image",
        ServerSource::Revisions => "--rev",
        ServerSource::Commands if args.profile.is_some() => "--profile",
        ServerSource::Commands => return Ok(()),
    };
    if args.servers_on.is_given() {
        refuse!("{what} needs the servers on this machine: use it without --server-on");
    }
    Ok(())
}

/// Measures and reports one race. `verdict`: the file that gets the judgement, if it is this race's own.
fn measured(one: &OneRace, common: &Common, verdict: Option<&VerdictFile>) -> anyhow::Result<Measured> {
    let args = &one.args;
    check_margin(args)?;
    if let [only] = &args.settings.named[..] {
        refuse!("a race needs two or more commands or URLs, and `{}` is the only one", redacted(only));
    }
    let writer = args.report_output.writer()?;
    let export = args.export.as_deref().map(export).transpose()?;
    let profile_dir = args.profile.as_deref().map(ProfileDir::to).transpose()?;
    let stop = stop_flag()?;
    refuse_elsewhere(args)?;
    let remote = args.servers_on.connect(None)?;
    let RaceServers { mut lineup, mut entrants, path, url, transport, mut raced, revisions } =
        servers::of(one, &stop)?;
    raced.cells = one.cells;
    setup::name_entrants(&mut entrants, &args.names)?;
    let revisions = revisions.map(|revisions| revisions.raced(&entrants)).unwrap_or_default();
    let profiling = Profiling::of(profile_dir, !raced.running || !args.running.pids.is_empty());
    let store = store(common)?;
    let rules = RunRules { seed: args.seed, quick: false, allow_busy: args.machine.allow_busy };
    let study = study(args, setup::race_title(&entrants), &url, raced.running)?.over(transport);
    let mut run = setup::race_run(study, entrants, raced, rules);
    run.command.clone_from(&one.words);
    servers_on::take(remote.as_ref(), &mut lineup)?;
    servers_on::describe(remote.as_ref(), &mut run)?;
    let mut session = Session::open(run, lineup, stop, &store)?;
    console::while_told(|step| session.ensure_same_work(&path, args.any_body, step))?;
    // By now the kinds of servers are known, and so is how long they take to warm up.
    let asked = args.settings.budget.as_deref().copied();
    session.run.study.design.budget = budget(&session.run, asked);
    check_budget(&session.run, asked.is_some())?;
    session.begin()?;
    let findings = measure(&session);
    if let Some((format, output)) = export {
        let (measured, findings) = (session.measured()?, session.findings()?);
        let told = RunReport { run: &session.run, measured: &measured, findings: &findings };
        output.write(show(&told, format, &TextStyle::default())?.as_bytes())?;
    }
    let id = &session.run.id;
    let findings =
        findings.with_context(|| format!("run {id}: `drome report {id}` shows what was measured"))?;
    let exit = conclude(&session, &findings, &writer)?;
    let gate = args.margin().map(|margin| Gate::of_race(&findings, margin));
    gate.iter().for_each(gate::tell);
    let judged = verdict.zip(gate.as_ref());
    let judged = judged.map(|(file, gate)| (file, GateVerdict::of_race(gate, &findings, revisions.clone())));
    // Last, when everything about the race is printed and stored.
    profiling.explain(&session, judged.as_ref(), gate.is_some())?;
    Ok(Measured { exit, findings, revisions, gate })
}

/// The budget of the race: as asked for, else the default or twice the minimum rounds.
fn budget(run: &Run, asked: Option<Duration>) -> Duration {
    let forecast = judge::schedule::budget::forecast(run);
    let least = forecast.map_or(Duration::ZERO, |forecast| forecast.first_look().time);
    asked.unwrap_or(BUDGET.max(least.saturating_mul(2)))
}

/// The file of `--export`, and the format of its extension.
fn export(path: &Path) -> Result<(Format, Output), WrongInput> {
    if format::of::<Format>(path).is_some_and(|format| format.kind().is_some()) {
        let path = path.display();
        refuse!("--export {path}: draw charts after the race with `drome report --format svg`");
    }
    format::export("--export", path)
}

fn study(args: &RaceArgs, title: String, url: &str, are_running: bool) -> anyhow::Result<Study> {
    let precision = args.precision.unwrap_or(SAME);
    let least = Design::LEAST_SLICE * Design::LEAST_SLICES;
    if args.duration < least {
        let [given, least] = [args.duration, least].map(humantime::format_duration);
        refuse!("--duration {given}: must be {least} or more");
    }
    if args.warmup > WARMUP_LIMIT {
        let limit = humantime::format_duration(WARMUP_LIMIT);
        refuse!("--warmup: must be {limit} or less");
    }
    let connections = args.settings.connections.map_or(CONNECTIONS, NonZeroU32::get) as usize;
    let per_connection = (args.settings.no_keepalive == Some(true)).then_some(1);
    let Decider { metric, rate_per_s } = args.settings.metric.clone().unwrap_or_default();
    let load = match rate_per_s {
        None => Load::Closed { connections, per_connection },
        Some(rate_per_s) => {
            Load::Open { rate_per_s, connections, arrivals: Arrivals::default(), per_connection }
        }
    };
    let rounds = usize::from(args.rounds);
    let least_rounds = match (are_running, args.alone) {
        (true, _) => LEAST_ROUNDS_RUNNING,
        (false, true) => LEAST_ROUNDS_ALONE,
        (false, false) => LEAST_ROUNDS,
    };
    let design = Design {
        rounds: [rounds.min(least_rounds), rounds],
        heat: if args.alone { 1 } else { Design::HEAT },
        // Shorter if the measured load would have too few turns.
        slice: Design::SLICE.min(args.duration / Design::LEAST_SLICES),
        warmup: args.warmup,
        warmup_limit: WARMUP_LIMIT,
        measure: args.duration,
        decide: args.precision.is_none(),
        margin: args.margin(),
        metric,
        precision,
        budget: BUDGET,
    };
    Ok(setup::raced_study(title, url, load, design))
}
