//! `drome sweep URL`, `drome sweep --start 'CMD'`: measures servers at rates from idle to past saturation.

use super::format::{self, FormatArgs};
use super::pictures::Pictures;
use crate::cli::{Common, MachineArgs, Spacing};
use crate::console;
use crate::failure::{INTERRUPTED, VOID, WrongInput};
use anyhow::bail;
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use lab::machine::pinned::Pinned;
use lab::server::instance::{Work, Works};
use lab::setup::{self, RACED};
use lab::sweep::{Entry, Servers, Setting, Show};
use lab::{Lab, sweep};
use model::{
    Ask, Asking, Cell, Design, Load, Metric, Plan, Promise, Run, Study, Sweep, SweepTrial, Target, Until,
};
use report::TextStyle;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The most contenders: each has a letter.
const MOST: usize = 26;

/// A running server must accept a connection within this time.
const REACH: Duration = Duration::from_secs(2);

/// Raw arguments.
#[derive(Debug, Args)]
pub struct SweepArgs {
    #[arg(
        required_unless_present = "start",
        conflicts_with_all = ["start", "path_url", "any_body"],
        help = "URL of a running server, such as http://127.0.0.1:8080/hello"
    )]
    url: Option<String>,
    /// Command that starts a server, anew for every measurement; {port} stands for its port; repeat it to compare
    /// servers
    #[arg(long, value_name = "CMD")]
    start: Vec<String>,
    /// With --start: URL to request; {port} stands for the server's port
    #[arg(long = "url", id = "path_url", default_value = "http://127.0.0.1:{port}/", value_name = "URL")]
    path_url: String,
    /// With --start: allow the servers to answer with different bodies
    #[arg(long)]
    any_body: bool,
    /// Number of connections
    #[arg(short, long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Open a new connection for every request
    #[arg(long)]
    no_keepalive: bool,
    /// Offered rates, as shares of the measured capacity
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SHARES",
        default_value = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.95,1,1.05,1.1,1.2"
    )]
    shares: Vec<f64>,
    /// Number of measurements at each rate
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// Length of each measurement
    #[arg(short, long, default_value = "2s", value_name = "TIME", value_parser = humantime::parse_duration)]
    duration: Duration,
    /// Warm-up load before each measurement, not counted
    #[arg(long, default_value = "500ms", value_name = "TIME", value_parser = humantime::parse_duration)]
    warmup: Duration,
    /// Spacing of the requests, evenly or at random as from independent users
    #[arg(long, value_enum, default_value_t = Spacing::Poisson)]
    arrivals: Spacing,
    /// Find the highest rate that keeps this promise: a percentile from p50 to p9999 and its bound, such as 'p99 <
    /// 10ms'
    #[arg(long, value_name = "PROMISE")]
    keep: Option<String>,
    /// Longest time of the search of --keep
    #[arg(long, default_value = "2min", value_name = "TIME", value_parser = humantime::parse_duration)]
    budget: Duration,
    /// Rate at which several servers are compared, as a share of the knee of the slowest
    #[arg(long, default_value_t = 0.7, value_name = "SHARE")]
    common: f64,
    #[command(flatten)]
    machine: MachineArgs,
    /// Seed of everything that is random [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    shown: FormatArgs<Format>,
    /// Also write the findings to this file, even if the sweep is interrupted; its extension sets the format: .json,
    /// .md, .csv …
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Also draw latency and CPU over the offered rate to this file, which ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    #[default]
    Terminal,
    Markdown,
    Json,
    Csv,
}

/// Runs the sweep and reports its findings.
pub fn run(args: &SweepArgs, _common: &Common) -> anyhow::Result<ExitCode> {
    let keep = args.keep.as_deref().map(str::parse::<Promise>).transpose();
    let keep = keep.map_err(|error| WrongInput(format!("--keep {error}")))?;
    check(args)?;
    let to = args.shown.destination()?;
    let export = args.export.as_deref().map(format::export::<Format>).transpose()?;
    let chart = args.chart.as_deref().map(|path| Pictures::to_file("--chart", path)).transpose()?;
    let (run, lab, entries, titles) = match &args.url {
        Some(url) => running(args, url)?,
        None => started(args)?,
    };
    let setting = setting(args, run.seed, keep);
    // drome's other work runs on the cores of the load generator, never on those of a server that it starts.
    let _pinned = args.url.is_none().then(|| Pinned::to(&lab.cores.client));
    let mut servers = Servers::new(&lab, &run.study.design, entries);
    let mut watch = Watch::new();
    let swept = sweep::run(&setting, titles.len(), &mut servers, &mut watch);
    watch.bar.finish_and_clear();
    let url = args.url.as_ref().unwrap_or(&args.path_url);
    let elapsed = sweep::Measure::elapsed(&servers);
    let lab_failure = swept.lab_failure.clone();
    let found = sweep::findings(&run, &setting, url, &titles, swept, elapsed);
    if let Some((format, output)) = export {
        output.write(show(&found, format, &console::file_style()).as_bytes())?;
    }
    if let Some(chart) = chart {
        draw(&chart, &found)?;
    }
    to.write(show(&found, to.format, &to.look()).as_bytes())?;
    if let Some(why) = lab_failure {
        bail!("the sweep could not be completed: {why}");
    }
    let is_sound = |t: &SweepTrial| t.share.is_some() && t.is_sound();
    let says_something = found.contenders.iter().any(|c| c.trials.iter().any(is_sound));
    Ok(match (found.interrupted, says_something) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(VOID),
    })
}

/// The findings in a format.
fn show(found: &Sweep, format: Format, look: &TextStyle) -> String {
    match format {
        Format::Terminal => report::sweep::terminal(found, look),
        Format::Markdown => report::sweep::markdown(found),
        Format::Json => report::sweep::json(found),
        Format::Csv => report::sweep::csv(found),
    }
}

/// Draws the chart. A sweep without a figure has none, which its report says.
fn draw(to: &Pictures, found: &Sweep) -> anyhow::Result<()> {
    if let Some(chart) = report::chart::of_sweep(found) {
        return to.write("the sweep", vec![chart]);
    }
    alert!("--chart: nothing to draw: no step of the sweep has a latency");
    Ok(())
}

/// Checks that the parsers of single options can't make.
fn check(args: &SweepArgs) -> Result<(), WrongInput> {
    let is_share = |share: &f64| *share > 0.0 && *share <= 10.0;
    if !args.shares.iter().all(is_share) {
        let why =
            "--shares: each must be a share of the capacity above 0 and at most 10, such as 0.05,0.5,1.2";
        return Err(WrongInput(why.to_owned()));
    }
    if !(args.common > 0.0 && args.common < 1.0) {
        return Err(WrongInput("--common: must be a share above 0 and below 1, such as 0.7".to_owned()));
    }
    if args.duration.is_zero() {
        return Err(WrongInput("--duration: must be a time above 0".to_owned()));
    }
    if args.start.len() > MOST {
        return Err(WrongInput(format!("--start: at most {MOST} servers can be compared")));
    }
    Ok(())
}

fn setting(args: &SweepArgs, seed: u64, keep: Option<Promise>) -> Setting {
    let mut shares = args.shares.clone();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    Setting {
        shares,
        repeats: args.repeats.into(),
        connections: args.connections as usize,
        per_connection: args.no_keepalive.then_some(1),
        arrivals: args.arrivals.into(),
        seed,
        keep,
        budget: args.budget,
        common_share: args.common,
    }
}

type Ready = (Run, Lab, Vec<Entry>, Vec<String>);

/// A sweep of one running server.
fn running(args: &SweepArgs, url: &str) -> anyhow::Result<Ready> {
    let target = Target::resolve(url)?;
    if let Some(address) = target.address.tcp()
        && let Err(error) = TcpStream::connect_timeout(&address, REACH)
    {
        bail!("can't connect to {address} ({error}): is the server running, and on this port?");
    }
    let mut run = setup::race_run(study(args, url), std::collections::BTreeMap::new(), None, args.seed);
    run.allow_busy = Some(args.machine.allow_busy);
    let lab = setup::lab(&run, Vec::new(), Works::new(), console::stop_flag()?, None)?;
    let keep_alive = !args.no_keepalive;
    let asking =
        Asking { method: "GET", path: &target.path, http10: false, keep_alive, headers: &[], body: b"" };
    let ask = Ask {
        request: target.request(asking),
        last: target.request(Asking { keep_alive: false, ..asking }),
        weight: 1.0,
        ..Ask::default()
    };
    let load = run.study.cells[0].load.clone();
    let plan = Plan {
        threads: lab.cores.client.len().max(1),
        cpus: lab.cores.client.clone(),
        ..Plan::new(target, ask, load, Until::Elapsed(args.duration))
    };
    Ok((run, lab, vec![Entry::Running(Box::new(plan))], vec![url.to_owned()]))
}

/// A sweep of servers that are started for every measurement.
fn started(args: &SweepArgs) -> anyhow::Result<Ready> {
    let path = super::race::path(&args.path_url)?;
    let (prepared, entrants) = setup::commands(&args.start, &path)?;
    let names: Vec<String> = prepared.iter().map(|p| p.name.clone()).collect();
    let mut run = setup::race_run(study(args, &args.path_url), entrants, None, args.seed);
    run.allow_busy = Some(args.machine.allow_busy);
    let any = Works::from([(RACED.to_owned(), Work::default())]);
    let mut lab = setup::lab(&run, prepared, any, console::stop_flag()?, None)?;
    if !args.any_body {
        let work = setup::same_work(&lab, &run, &path)?.work;
        lab.works.insert(RACED.to_owned(), work);
    }
    Ok((run, lab, names.into_iter().map(Entry::Started).collect(), args.start.clone()))
}

/// The study behind the sweep: its times and, for the capacity, its closed load.
fn study(args: &SweepArgs, url: &str) -> Study {
    let (connections, per_connection) = (args.connections as usize, args.no_keepalive.then_some(1));
    let load = Load::Closed { connections, per_connection };
    Study {
        title: "sweep".to_owned(),
        source: None,
        contenders: Vec::new(),
        cells: vec![Cell { title: url.to_owned(), workload: RACED.to_owned(), load }],
        design: Design {
            blocks: [args.repeats.into(), args.repeats.into()],
            warmup: args.warmup,
            measure: args.duration,
            decide: false,
            metric: Metric::Rate,
            precision: 1.0,
            budget: args.budget,
            heats: None,
        },
        tracks: Vec::new(),
        published: None,
        as_published: Vec::new(),
        unequal: Vec::new(),
    }
}

/// The progress of a sweep.
struct Watch {
    bar: ProgressBar,
}

impl Watch {
    fn new() -> Self {
        let template = "{bar:30} {pos}/{len} measurements, {elapsed} so far, {eta} left: {msg}";
        Self { bar: console::bar(0, template) }
    }
}

/// The contender's letter in the report.
fn letter(contender: usize) -> char {
    ('A'..='Z').nth(contender).unwrap_or('?')
}

impl Show for Watch {
    fn begins(&mut self, contender: usize, what: &str, done: usize, about: usize) {
        self.bar.set_length(about as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{}, {what}", letter(contender)));
    }

    fn observed(&mut self, contender: usize, trial: &SweepTrial) {
        let at = trial.share.map_or_else(|| "closed load".to_owned(), |s| format!("{:.0} %", s * 100.0));
        let why = match (&trial.failed, &trial.verdict) {
            (Some(why), _) => format!("failed: {why}"),
            (None, Some(verdict)) if !verdict.valid => format!("void: {}", verdict.reasons.join("; ")),
            _ => return,
        };
        self.bar.suspend(|| alert!("{}, {at}: {why}", letter(contender)));
    }
}
