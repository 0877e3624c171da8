//! `drome race 'CMD' 'CMD'`: compares any servers, measured like the contenders of a study.

use super::format;
use super::gate;
use super::images::{ImageArgs, Images};
use super::output::Output;
use super::race_file;
use super::report::{Format, TellArgs, show};
use super::revisions::RevisionArgs;
use super::session::{check_budget, conclude, measure, own_path};
use super::store;
use crate::failure::{self, WrongInput};
use crate::options::{Common, MachineArgs};
use crate::signals::stop_flag;
use anyhow::Context;
use clap::{Args, FromArgMatches};
use lab::Session;
use lab::revision::RevisionError;
use lab::setup::{self, Lineup, Rules, ServerCommand};
use model::gate::{Gate, Outcome};
use model::metric::Decider;
use model::observation::{Containers, Entrant, Raced};
use model::{Arrivals, Design, Heats, Load, Run, Study};
use report::{RunReport, TextStyle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Contenders within this share of each other count as equal.
const EQUAL: f64 = 0.02;

/// The default budget, unless three rounds take more than half of it.
const BUDGET: Duration = Duration::from_mins(2);

/// The minimum number of rounds before a decision.
const LEAST_ROUNDS: usize = 3;

/// The length of one server's turn; shorter if the measured load would have too few turns.
const SLICE: Duration = Duration::from_millis(100);

/// The longest warm-up. What a command starts is unknown; a server that compiles while it runs is warm by then, or
/// marked.
const WARMUP_LIMIT: Duration = Duration::from_secs(30);

/// Raw arguments.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub struct RaceArgs {
    /// Commands that each start a server; {port} stands for the port that it must listen on [default: the revisions or
    /// images of drome.toml in this folder or above]
    #[arg(conflicts_with_all = ["revs", "images"], num_args = 2..=26, value_name = "CMD")]
    commands: Vec<String>,
    #[command(flatten)]
    revisions: RevisionArgs,
    #[command(flatten)]
    images: ImageArgs,
    /// Label of a command in reports; repeated, once for each command and in their order [default: what tells the
    /// commands apart]
    #[arg(long = "name", value_name = "LABEL")]
    names: Vec<String>,
    /// URL to request; {port} stands for the server's port
    #[arg(long, default_value = "http://127.0.0.1:{port}/")]
    url: String,
    /// Number of connections
    #[arg(short, long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Open a new connection for every request
    #[arg(long)]
    no_keepalive: bool,
    /// Measured load on each start of a server, in turns with the others
    #[arg(short, long, default_value = "500ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Shortest warm-up load before that, not counted; it continues until the server is warm
    #[arg(long, default_value = "200ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    warmup: Duration,
    /// Metric that decides: rate, server-cpu (CPU time per request), rss (memory), or p50@RATE, p90@RATE, p99@RATE,
    /// p999@RATE (latency at an offered rate in requests/s, such as p99@5k)
    #[arg(long, default_value = "rate", value_name = "METRIC", value_parser = str::parse::<Decider>)]
    metric: Decider,
    /// Command to run in the current folder before every start of a server; if it fails, the start fails
    #[arg(long, value_name = "CMD")]
    prepare: Option<String>,
    /// Continue until the ratio is known to this share, such as 1% [default: until one is certainly better, or
    /// they are within 2% of each other]
    #[arg(long, value_name = "SHARE", value_parser = crate::options::precision)]
    precision: Option<f64>,
    /// Exit with 3 if a command is surely slower than the first by more than this share, such as 2%; with 0 if none is;
    /// with 4 if that is still open at the end. The race goes on until it knows
    #[arg(long, value_name = "SHARE", value_parser = crate::options::slowdown, conflicts_with_all = ["precision", "alone"])]
    fail_if_slower: Option<f64>,
    /// Exit with the codes of `git bisect run` instead: 0 good, 1 bad, 125 undecided, 128 and more if drome failed
    #[arg(long)]
    bisect: bool,
    /// Longest time of the race; a round that would exceed it is not started [default: 2min, or twice the time of
    /// three rounds]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    budget: Option<Duration>,
    /// Maximum number of rounds; each round starts and measures every server twice
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
    /// Measure one server at a time, in trials one after the other: for servers that can't run side by side,
    /// because they share a file, a lock or a database
    #[arg(long)]
    alone: bool,
    /// Allow the servers to answer with different bodies
    #[arg(long)]
    any_body: bool,
    #[command(flatten)]
    machine: MachineArgs,
    /// Seed of everything that is random [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    tell: TellArgs,
    /// Also write the findings to this file, even if the race is interrupted; its extension sets the format: .json,
    /// .md, .csv …
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

/// Runs the race and reports which server is faster.
pub fn run(args: &RaceArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let start = args.revisions.start.as_deref();
    let are_images_whole = args.images.are_whole(start) || (args.images.are_named() && !race_file::exists());
    let has_servers = !args.commands.is_empty() || start.is_some() || are_images_whole;
    let code = if has_servers { race(args, common) } else { of_file().and_then(|args| race(&args, common)) };
    match code {
        // Any other code would be taken for a judgement of the revision.
        Err(error) if args.bisect => {
            let _ = failure::tell(&error);
            let is_unbuilt = matches!(error.downcast_ref(), Some(RevisionError::Build { .. }));
            Ok(if is_unbuilt {
                gate::bisect_code(Outcome::Open)
            } else {
                ExitCode::from(gate::STOP_BISECTING)
            })
        }
        code => code,
    }
}

/// The arguments of a race whose command line names no servers: those of drome.toml, replaced by those of the command line.
fn of_file() -> anyhow::Result<RaceArgs> {
    let given: Vec<String> = std::env::args().skip_while(|arg| arg != "race").skip(1).collect();
    let (path, options) = race_file::options(&given)?;
    let command =
        Common::augment_args(RaceArgs::augment_args(clap::Command::new("race").no_binary_name(true)));
    let wrong = |error: clap::Error| WrongInput(format!("{}: {error}", path.display()));
    let matches = command.try_get_matches_from(options.into_iter().chain(given)).map_err(wrong)?;
    let mut args = RaceArgs::from_arg_matches(&matches).map_err(wrong)?;
    args.revisions.folder = path.parent().map(Path::to_owned);
    Ok(args)
}

fn race(args: &RaceArgs, common: &Common) -> anyhow::Result<ExitCode> {
    if args.bisect && args.fail_if_slower.is_none() {
        return Err(WrongInput(
            "--bisect needs --fail-if-slower, or fail_if_slower in drome.toml".to_owned(),
        )
        .into());
    }
    let teller = args.tell.teller()?;
    let export = args.export.as_deref().map(export).transpose()?;
    let path = own_path(&args.url)?;
    let stop = stop_flag()?;
    let Servers { lineup, mut entrants, containers } = servers(args, &path, &stop)?;
    setup::name_entrants(&mut entrants, &args.names)?;
    let store = store(common)?;
    let rules = Rules { seed: args.seed, quick: false, allow_busy: args.machine.allow_busy };
    let study = study(args, setup::race_title(&entrants))?;
    let raced = Raced { prepare: args.prepare.clone(), containers, ..Raced::default() };
    let run = setup::race_run(study, entrants, raced, rules);
    let mut session = Session::open(run, lineup, stop, &store)?;
    if !args.any_body {
        session.ensure_same_work(&path)?;
    }
    // By now the kinds of servers are known, and so is how long they take to warm up.
    session.run.study.design.budget = budget(&session.run, args.budget);
    check_budget(&session.run, args.budget.is_some())?;
    session.begin()?;
    let findings = measure(&session);
    if let Some((format, output)) = export {
        let (observations, findings) = (session.observations()?, session.findings()?);
        let told = RunReport { run: &session.run, observations: &observations, findings: &findings };
        output.write(&show(&told, format, &TextStyle::default())?)?;
    }
    let id = &session.run.id;
    let findings =
        findings.with_context(|| format!("run {id}: `drome report {id}` shows what was measured"))?;
    let code = conclude(&session, &findings, &teller)?;
    let Some(margin) = args.fail_if_slower else { return Ok(code) };
    let gate = Gate::of_race(&findings, margin);
    gate::tell(&gate);
    Ok(if args.bisect { gate::bisect_code(gate.outcome()) } else { gate::code(gate.outcome()) })
}

/// The servers of a race.
struct Servers {
    lineup: Lineup,
    entrants: BTreeMap<String, Entrant>,
    /// How their containers are run, if they have any.
    containers: Option<Containers>,
}

/// Builds the revisions or finds the images, if there are any, and makes the contenders; `path` is requested of them.
fn servers(args: &RaceArgs, path: &str, stop: &AtomicBool) -> anyhow::Result<Servers> {
    if let Some(Images { raced, containers }) =
        args.images.resolve(args.revisions.start.as_deref(), stop)?
    {
        let (lineup, entrants) = setup::images(&raced, path)?;
        return Ok(Servers { lineup, entrants, containers: Some(containers) });
    }
    let revisions = args.revisions.build(stop)?;
    let here = || args.commands.iter().map(|line| ServerCommand::here(line)).collect();
    let commands = revisions.as_ref().map_or_else(here, |revisions| revisions.commands.clone());
    let (lineup, mut entrants) = setup::commands(&commands, path)?;
    if let Some(revisions) = &revisions {
        revisions.name(&mut entrants);
    }
    Ok(Servers { lineup, entrants, containers: None })
}

/// The budget of the race: as asked for, else the default or twice the minimum rounds.
fn budget(run: &Run, asked: Option<Duration>) -> Duration {
    let least = match lab::heat::schedule::budget::sum(run) {
        Some(sum) => sum.looks.first().map_or(sum.round, |look| look.1),
        None => lab::blocks::time_left::guess(&run.study.design, lab::blocks::least_trials(run)),
    };
    asked.unwrap_or(BUDGET.max(least.saturating_mul(2)))
}

/// The file of `--export`, and the format of its extension.
fn export(path: &Path) -> Result<(Format, Output), WrongInput> {
    if format::of::<Format>(path).is_some_and(|format| format.kind().is_some()) {
        let path = path.display();
        let words = format!("--export {path}: draw charts after the race with `drome report --format svg`");
        return Err(WrongInput(words));
    }
    format::export(path)
}

fn study(args: &RaceArgs, title: String) -> anyhow::Result<Study> {
    let precision = args.precision.unwrap_or(EQUAL);
    let least = Heats::LEAST_SLICE * Heats::LEAST_SLICES;
    if args.duration < least {
        let [given, least] = [args.duration, least].map(humantime::format_duration);
        return Err(WrongInput(format!("--duration {given}: must be {least} or more")).into());
    }
    if args.warmup > WARMUP_LIMIT {
        let limit = humantime::format_duration(WARMUP_LIMIT);
        return Err(WrongInput(format!("--warmup: must be {limit} or less")).into());
    }
    let (connections, per_connection) = (args.connections as usize, args.no_keepalive.then_some(1));
    let load = match &args.metric.rate_per_s {
        None => Load::Closed { connections, per_connection },
        Some(rate) => Load::Open {
            rate_per_s: rate.clone(),
            connections,
            arrivals: Arrivals::default(),
            per_connection,
        },
    };
    let rounds = usize::from(args.rounds);
    let heats = Heats {
        slice: SLICE.min(args.duration / Heats::LEAST_SLICES),
        warmup_limit: WARMUP_LIMIT,
        ..Heats::default()
    };
    let design = Design {
        blocks: [rounds.min(LEAST_ROUNDS), rounds],
        warmup: args.warmup,
        measure: args.duration,
        decide: args.precision.is_none(),
        margin: args.fail_if_slower,
        metric: args.metric.metric,
        precision,
        budget: BUDGET,
        heats: (!args.alone).then_some(heats),
    };
    Ok(setup::raced_study(title, &args.url, load, design))
}
