//! `drome sweep URL`, `drome sweep --start 'COMMAND'`: measures servers at rates from idle to past saturation.

mod progress;

use super::format::{self, FormatArgs};
use super::pictures::Pictures;
use super::servers_on::{self, ServersOnArgs};
use super::stored_report::{self, Ending};
use super::url::{self, OwnUrl};
use crate::console;
use crate::failure::WrongInput;
use crate::options::{Common, MachineArgs, Spacing, connections, positive_time, protocol, share, transport};
use crate::signals::stop_flag;
use anyhow::bail;
use clap::{Args, ValueEnum};
use control::machine::pinned::Pinned;
use control::server::plan;
use lab::setup::{self, Lineup, RunRules, ServerCommand};
use lab::sweep::{Setting, SweepEntry, SweepServers};
use lab::{Lab, sweep};
use model::run::Raced;
use model::{Ask, Asking, Design, Load, Metric, Plan, Promise, Run, Study, Sweep, SweepTrial, Until};
use progress::SweepProgress;
use report::TextStyle;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The largest number of contenders: each has a letter from A to Z.
const MOST: usize = 26;

/// The usual share of `--common`.
const COMMON: f64 = 0.7;

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
    #[arg(long, value_name = "COMMAND")]
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
    /// Speak HTTP/2: agreed on in the TLS handshake of https URLs, and at once with http URLs
    #[arg(long)]
    http2: bool,
    /// With --http2: number of streams that a connection has open at the same time [default: 1]
    #[arg(long, value_name = "N", value_parser = connections)]
    streams: Option<NonZeroU32>,
    /// Offered rates, as shares of the measured capacity, such as 5%,50%,120%
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SHARE",
        value_parser = share,
        default_value = "5%,10%,20%,30%,40%,50%,60%,70%,80%,90%,95%,100%,105%,110%,120%"
    )]
    shares: Vec<f64>,
    /// Number of measurements at each rate
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// Length of each measurement
    #[arg(short, long, default_value = "2s", value_name = "TIME", value_parser = positive_time)]
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
    #[arg(long, default_value = "2min", value_name = "TIME", requires = "keep", value_parser = humantime::parse_duration)]
    budget: Duration,
    /// Rate at which several servers are compared, as a share of the highest rate that the slowest server keeps up with
    /// (its knee) [default: 70%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    common: Option<f64>,
    #[command(flatten)]
    servers_on: ServersOnArgs,
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
pub fn run(args: &SweepArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let keep = args.keep.as_deref().map(str::parse::<Promise>).transpose();
    let keep = keep.map_err(|error| WrongInput(format!("--keep {error}")))?;
    check(args)?;
    let to = args.shown.destination()?;
    let export = args.export.as_deref().map(|path| format::export::<Format>("--export", path)).transpose()?;
    let chart = args.chart.as_deref().map(|path| Pictures::to_file("--chart", path)).transpose()?;
    let (run, lab, entries, titles) = match &args.url {
        Some(url) => running(args, url)?,
        None => started(args)?,
    };
    let setting = setting(args, run.seed, keep);
    // drome's other work runs on the cores of the load generator, never on those of a server that it starts.
    let _pinned = args.url.is_none().then(|| Pinned::to(&lab.cores.client));
    let mut servers = SweepServers::new(&lab, &run.study, entries).over(run.environment.network().cloned());
    let swept = sweep::run(&setting, titles.len(), &mut servers, &mut SweepProgress::new());
    let url = run.study.cells.first().map_or("", |cell| cell.title.as_str());
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
    let ending = Ending::of(found.interrupted, says_something);
    let reports = (report::sweep::document(&found).terminal(&TextStyle::default()), report::json(&found));
    stored_report::keep(
        common,
        format!("sweep {}", titles.join(", ")),
        ending,
        run.started_at.clone(),
        reports,
    );
    Ok(ending.code())
}

/// The findings in a format.
fn show(found: &Sweep, format: Format, look: &TextStyle) -> String {
    match format {
        Format::Terminal => report::sweep::document(found).terminal(look),
        Format::Markdown => report::sweep::document(found).markdown(),
        Format::Json => report::json(found),
        Format::Csv => report::sweep::records(found).csv(),
    }
}

/// Draws the chart. A sweep without a latency has no chart; then a message says so.
fn draw(to: &Pictures, found: &Sweep) -> anyhow::Result<()> {
    if let Some(chart) = report::chart::of_sweep(found) {
        return to.write("the sweep", vec![chart], None);
    }
    alert!("--chart: nothing to draw: no step of the sweep has a latency");
    Ok(())
}

/// Makes the checks that the parsers of single options can't make.
fn check(args: &SweepArgs) -> Result<(), WrongInput> {
    let is_share = |share: &f64| *share > 0.0 && *share <= 10.0;
    if !args.shares.iter().all(is_share) {
        refuse!("--shares: each must be above 0 and at most 1000% of the capacity, such as 5%,50%,120%");
    }
    if !args.common.is_none_or(|share| share > 0.0 && share < 1.0) {
        refuse!("--common: must be a share above 0 and below 1, such as 70%");
    }
    if args.start.len() < 2 && args.common.is_some() {
        refuse!("--common: only several servers are compared: repeat --start");
    }
    if args.start.len() > MOST {
        refuse!("--start: at most {MOST} servers can be compared");
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
        common_share: args.common.unwrap_or(COMMON),
    }
}

type Ready = (Run, Lab, Vec<SweepEntry>, Vec<String>);

/// A sweep of one running server.
fn running(args: &SweepArgs, url: &str) -> anyhow::Result<Ready> {
    let target = url::reached(url)?;
    if args.servers_on.is_given() {
        refuse!("--server-on needs --start: a server that already runs is where its URL says");
    }
    let transport = transport(protocol(args.http2), args.streams, target.tls)?;
    let study = study(args, &target.url).over(transport);
    let run = setup::race_run(study, BTreeMap::new(), Raced::default(), rules(args));
    let lab = setup::lab(&run, Lineup::default(), stop_flag()?, None)?;
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
        ..plan::over(transport, Plan::new(target, ask, load, Until::Elapsed(args.duration)))
    };
    let name = plan.target.shown();
    Ok((run, lab, vec![SweepEntry::Running(Box::new(plan))], vec![name]))
}

/// A sweep of servers that are started for every measurement.
fn started(args: &SweepArgs) -> anyhow::Result<Ready> {
    let OwnUrl { shown, path, asked_at, tls } = OwnUrl::read(&args.path_url, args.servers_on.is_given())?;
    let commands: Vec<ServerCommand> =
        args.start.iter().map(|line| ServerCommand::at(line, args.servers_on.is_given())).collect();
    let (mut lineup, entrants) = setup::commands(&commands, &path)?;
    lineup.ask_at(asked_at.as_ref());
    let transport = transport(protocol(args.http2), args.streams, tls)?;
    lineup.speak(transport);
    let remote = args.servers_on.connect(None)?;
    servers_on::take(remote.as_ref(), &mut lineup)?;
    let entries = lineup.prepared.iter().map(|p| SweepEntry::Started(p.name.clone())).collect();
    let mut run =
        setup::race_run(study(args, &shown).over(transport), entrants, Raced::default(), rules(args));
    servers_on::describe(remote.as_ref(), &mut run)?;
    let mut lab = setup::lab(&run, lineup, stop_flag()?, None)?;
    console::while_told(|step| setup::same_work(&mut lab, &mut run, &path, args.any_body, step))?;
    Ok((run, lab, entries, args.start.clone()))
}

fn rules(args: &SweepArgs) -> RunRules {
    RunRules { seed: args.seed, quick: false, allow_busy: args.machine.allow_busy }
}

/// The study behind the sweep: its times and, for the capacity, its closed load.
fn study(args: &SweepArgs, url: &str) -> Study {
    let (connections, per_connection) = (args.connections as usize, args.no_keepalive.then_some(1));
    let load = Load::Closed { connections, per_connection };
    let design = Design {
        rounds: [args.repeats.into(), args.repeats.into()],
        heat: 1,
        slice: args.duration,
        warmup: args.warmup,
        warmup_limit: args.warmup,
        measure: args.duration,
        decide: false,
        margin: None,
        metric: Metric::Rate,
        precision: 1.0,
        budget: args.budget,
    };
    setup::raced_study("sweep".to_owned(), url, load, design)
}
