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
use model::{Arrivals, Cell, Design, Load, Study, Target};
use report::{Look, Told};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Contenders whose ratio is known to this share, and not sure to differ, are as good as equal.
const EQUAL: f64 = 0.02;

/// A race takes no longer unless its trials are long or it is told.
const BUDGET: Duration = Duration::from_mins(2);

/// Nothing is decided before.
const LEAST_BLOCKS: usize = 3;

/// Every contender enters a block so often.
const COPIES: usize = 2;

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
    /// Each trial measures for so long
    #[arg(short, long, default_value = "500ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Load before each measurement, not counted
    #[arg(long, default_value = "200ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    warmup: Duration,
    /// What decides: rate, server-cpu (CPU time for an answer), rss (memory), or p50@RATE, p90@RATE, p99@RATE, p999@RATE
    /// (latency while so many requests a second are offered, such as p99@5k)
    #[arg(long, default_value = "rate", value_name = "METRIC", value_parser = str::parse::<Decider>)]
    metric: Decider,
    /// A command to run before every trial, in this folder; the trial fails if it fails
    #[arg(long, value_name = "CMD")]
    prepare: Option<String>,
    /// Go on until the ratio is known to this share [default: until it is sure which is faster, or that they are within 0.02]
    #[arg(long, value_name = "SHARE")]
    precision: Option<f64>,
    /// The race takes no longer: a trial that would pass it is not begun [default: 2min, or twice what three blocks take]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    budget: Option<Duration>,
    /// The race has no more than so many blocks; in each every server is measured twice
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    blocks: u16,
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
        let work = setup::same_work(&lab, &run, &path)?;
        setup::hold_equal(&mut run, &work);
        lab.works.insert(RACED.to_owned(), work);
    }
    let (budget, least) = (run.study.design.budget, lab::schedule::least_budget(&run));
    if budget < least {
        return Err(super::run::too_small(budget, least).into());
    }
    store.add_run(&run)?;
    let mut watch = Watch::new();
    let findings = lab::run::run(&lab, &run, &store, &mut watch);
    watch.finish();
    let (_, observations, ended) = store.run(&run.id)?;
    if let Some((format, output)) = export {
        let findings = &lab::analyse::findings(&run, &observations, ended.as_deref());
        let told = Told { run: &run, observations: &observations, findings };
        output.write(&show(&told, format, &Look::default())?)?;
    }
    let findings = findings
        .with_context(|| format!("run {}: `drome report {}` shows what is known so far", run.id, run.id))?;
    teller.tell(&run, &observations, &findings)?;
    Ok(failure::code_of(&findings))
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
    if args.duration.is_zero() {
        return Err(WrongInput("--duration: allowed is a time above 0".to_owned()).into());
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
    let mut study = Study {
        tracks: model::study::default_track(),
        title: args.commands.join(" against "),
        source: None,
        contenders: Vec::new(),
        cells: vec![Cell { title: args.url.clone(), workload: RACED.to_owned(), load }],
        design: Design {
            blocks: [usize::from(args.blocks).min(LEAST_BLOCKS), args.blocks.into()],
            warmup: args.warmup,
            measure: args.duration,
            decide: args.precision.is_none(),
            metric: args.metric.metric,
            precision,
            budget: BUDGET,
            heats: None,
        },
        published: None,
        as_published: Vec::new(),
        unequal: Vec::new(),
    };
    let trials = study.design.blocks[0] * args.commands.len() * COPIES;
    let enough = 2 * lab::left::guess(&study.design, trials);
    study.design.budget = args.budget.unwrap_or(BUDGET.max(enough));
    Ok(study)
}
