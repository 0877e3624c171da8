//! `drome race 'CMD' 'CMD'`: any servers, the same machinery.

use super::output::Output;
use super::report::{Format, TellArgs, show};
use super::store;
use crate::cli::{Common, MachineArgs};
use crate::console;
use crate::failure::{self, WrongInput};
use crate::watch::Watch;
use anyhow::Context;
use clap::Args;
use lab::instance::{Work, Works};
use lab::setup::{self, RACED};
use model::metric::Decider;
use model::{Arrivals, Cell, Design, Heats, Load, Run, Study, Target};
use report::{Look, Told};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Contenders whose ratio is known to this share, and not sure to differ, are as good as equal.
const EQUAL: f64 = 0.02;

/// A race takes no longer unless its rounds are long or it is told.
const BUDGET: Duration = Duration::from_mins(2);

/// Nothing is decided before.
const LEAST_ROUNDS: usize = 3;

/// One server's turn, unless it is loaded for so short that it would have too few.
const SLICE: Duration = Duration::from_millis(100);

/// What a command starts is not known. One that compiles while it runs is warm by then, or marked.
const WARMUP_LIMIT: Duration = Duration::from_secs(30);

/// Raw arguments.
#[derive(Debug, Args)]
pub struct RaceArgs {
    /// Commands that start a server; {port} stands for the port that it must listen on
    #[arg(required = true, num_args = 2..=26, value_name = "CMD")]
    commands: Vec<String>,
    /// What is asked for, with {port} for the port
    #[arg(long, default_value = "http://127.0.0.1:{port}/")]
    url: String,
    /// Connections
    #[arg(short, long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// A new connection for every request
    #[arg(long)]
    no_keepalive: bool,
    /// So much of the load on each server counts, in turns with the others
    #[arg(short, long, default_value = "500ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Load before that at least, not counted; it goes on until the server is warm
    #[arg(long, default_value = "200ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    warmup: Duration,
    /// What decides: rate, server-cpu (CPU time for an answer), rss (memory), or p50@RATE, p90@RATE, p99@RATE, p999@RATE
    /// (latency while so many requests a second are offered, such as p99@5k)
    #[arg(long, default_value = "rate", value_name = "METRIC", value_parser = str::parse::<Decider>)]
    metric: Decider,
    /// A command to run before every start of a server, in this folder; the start fails if it fails
    #[arg(long, value_name = "CMD")]
    prepare: Option<String>,
    /// Go on until the ratio is known to this share [default: until it is sure which is faster, or that they are within 0.02]
    #[arg(long, value_name = "SHARE")]
    precision: Option<f64>,
    /// The race takes no longer: a round that would pass it is not begun [default: 2min, or twice what three rounds take]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    budget: Option<Duration>,
    /// The race has no more than so many rounds; in each every server is started and measured twice
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: u16,
    /// One server at a time, in trials one after the other: for servers that can't live side by side, because they share a
    /// file, a lock or a database
    #[arg(long)]
    alone: bool,
    /// Let the servers answer with different bodies
    #[arg(long)]
    any_body: bool,
    #[command(flatten)]
    machine: MachineArgs,
    /// Decides every shuffle and every resampling [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    tell: TellArgs,
    /// Write the findings to a file as well, even of a race that is cut off; its ending says how: .json, .md, .csv …
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

/// Races and says which is faster.
pub fn run(args: &RaceArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let teller = args.tell.teller()?;
    let export = args.export.as_deref().map(export).transpose()?;
    let path = path(&args.url)?;
    let (prepared, entrants) = setup::commands(&args.commands, &path)?;
    let store = store(common)?;
    let mut run = setup::race_run(study(args)?, entrants, args.prepare.clone(), args.seed);
    run.allow_busy = Some(args.machine.allow_busy);
    let any = Works::from([(RACED.to_owned(), Work::default())]);
    let mut lab = setup::lab(&run, prepared, any, console::stop_flag()?, Some(&store))?;
    if !args.any_body {
        let asked = setup::same_work(&lab, &run, &path)?;
        setup::hold_equal(&mut run, &asked);
        lab.works.insert(RACED.to_owned(), asked.work);
    }
    // What the servers are is known by now, and so is how long they take to get warm.
    run.study.design.budget = budget(&run, args.budget);
    if let Some(why) = too_small(&run) {
        return Err(why.into());
    }
    store.add_run(&run)?;
    let mut watch = Watch::new();
    let findings = lab::run::run(&lab, &run, &store, &mut watch);
    watch.finish();
    let (_, trials, ended) = store.run(&run.id)?;
    let observations = lab::findings::all(&store, &run, trials)?;
    if let Some((format, output)) = export {
        let findings = &lab::findings::of(&store, &run, &observations, ended.as_deref())?;
        let told = Told { run: &run, observations: &observations, findings };
        output.write(&show(&told, format, &Look::default())?)?;
    }
    let findings = findings
        .with_context(|| format!("run {}: `drome report {}` shows what is known so far", run.id, run.id))?;
    teller.tell(&run, &observations, &findings)?;
    Ok(failure::code_of(&findings))
}

/// How long it may take: as was asked for, or as long as a race may, or twice its least rounds.
fn budget(run: &Run, asked: Option<Duration>) -> Duration {
    let least = match lab::heat::budget::sum(run) {
        Some(sum) => sum.looks.first().map_or(sum.round, |look| look.1),
        None => lab::left::guess(&run.study.design, lab::schedule::least_trials(run)),
    };
    asked.unwrap_or(BUDGET.max(least.saturating_mul(2)))
}

/// Why it is not worth while to begin.
fn too_small(run: &Run) -> Option<WrongInput> {
    let (budget, least) = (run.study.design.budget, lab::schedule::least_budget(run));
    match run.study.design.heats {
        Some(_) => lab::heat::budget::too_small(run).map(|why| WrongInput(format!("--budget: {why}"))),
        None => (budget < least).then(|| super::run::too_small(budget, least)),
    }
}

/// The file of `--export`, and the format that its ending says.
fn export(path: &Path) -> Result<(Format, Output), WrongInput> {
    let Some(format) = Format::of(path) else {
        let (shown, endings) = (path.display(), Format::endings());
        return Err(WrongInput(format!("--export {shown}: allowed is a file that ends in {endings}")));
    };
    if format.kind().is_some() {
        let path = path.display();
        let words =
            format!("--export {path}: charts are drawn when all is over, by `drome report --format svg`");
        return Err(WrongInput(words));
    }
    Ok((format, Output::to("--export", path)?))
}

/// The path of the URL; its host must be this machine, where the servers are started.
pub fn path(url: &str) -> anyhow::Result<String> {
    let target = Target::resolve(&url.replace("{port}", "1"))?;
    if !target.address.tcp().is_some_and(|at| at.ip().is_loopback()) {
        return Err(
            WrongInput(format!("{url} is not on this machine: a race starts its servers itself")).into()
        );
    }
    Ok(target.path)
}

fn study(args: &RaceArgs) -> anyhow::Result<Study> {
    let precision = args.precision.unwrap_or(EQUAL);
    if !(precision > 0.0 && precision < 1.0) {
        return Err(WrongInput(
            "--precision: allowed is a share above 0 and below 1, such as 0.02".to_owned(),
        )
        .into());
    }
    let least = Heats::LEAST_SLICE * Heats::LEAST_SLICES;
    if args.duration < least {
        let [given, least] = [args.duration, least].map(humantime::format_duration);
        return Err(WrongInput(format!("--duration {given}: allowed is {least} or more")).into());
    }
    if args.warmup > WARMUP_LIMIT {
        let limit = humantime::format_duration(WARMUP_LIMIT);
        return Err(WrongInput(format!("--warmup: allowed is {limit} at the most")).into());
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
    Ok(Study {
        tracks: model::study::default_track(),
        title: args.commands.join(" against "),
        source: None,
        contenders: Vec::new(),
        cells: vec![Cell { title: args.url.clone(), workload: RACED.to_owned(), load }],
        design: Design {
            blocks: [rounds.min(LEAST_ROUNDS), rounds],
            warmup: args.warmup,
            measure: args.duration,
            decide: args.precision.is_none(),
            metric: args.metric.metric,
            precision,
            budget: BUDGET,
            heats: (!args.alone).then_some(heats),
        },
        published: None,
        as_published: Vec::new(),
        unequal: Vec::new(),
    })
}
