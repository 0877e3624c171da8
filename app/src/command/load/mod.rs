//! `drome load URL`: measures one target once.

mod connections;
mod from;
mod open;
mod outputs;
pub(super) mod parse;
mod profiling;
mod requests;

use super::stored_report::{self, Ending};
use super::url;
use crate::console;
use crate::failure::WrongInput;
use crate::live;
use crate::metrics::Metrics;
use crate::options::{Common, MachineArgs, positive, positive_time};
use crate::signals::stop_flag;
use clap::Args;
use connections::ConnectionArgs;
use control::machine::cores::Cores;
use control::processes::usage::{Sampler, WatchedHere};
use from::FromArgs;
use judge::verdict::{self, Case, Policy};
use load::{Both, LoadError, Progress, Watch};
use model::{Ask, Machines, Plan, Tally, Target, Until, Usage};
use open::OpenArgs;
use outputs::{OutputArgs, Outputs};
use profiling::{FileProfiler, ServerArgs};
use requests::RequestArgs;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The length of a measurement without -d and -n.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// Raw arguments.
#[derive(Debug, Args)]
pub struct LoadArgs {
    #[arg(help = "URL to load, such as http://127.0.0.1:8080/hello")]
    url: String,
    /// Measure for this long, such as 500ms, 10s or 2min [default: 10s]
    #[arg(short, long, value_name = "TIME", value_parser = positive_time, conflicts_with = "requests")]
    duration: Option<Duration>,
    /// Measure until this many requests are done
    #[arg(short = 'n', long, value_name = "N", value_parser = positive)]
    requests: Option<u64>,
    /// Number of worker threads, each pinned to its own core [default: one for each core of the load generator]
    #[arg(short, long, value_name = "N", value_parser = positive)]
    threads: Option<u64>,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Time after which a request without a complete answer is an error
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = positive_time)]
    timeout: Duration,
    /// End early when the server has answered nothing for this long and every request failed; 0s: never
    #[arg(long, default_value = "5s", value_name = "TIME", value_parser = humantime::parse_duration)]
    abort_after: Duration,
    /// Poll for this long before sleeping: steadier timing at the cost of CPU time
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = humantime::parse_duration)]
    spin: Duration,
    /// Warm-up load before the measurement, not counted
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = humantime::parse_duration)]
    warmup: Duration,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    open: OpenArgs,
    #[command(flatten)]
    asking: RequestArgs,
    #[command(flatten)]
    connections: ConnectionArgs,
    #[command(flatten)]
    from: FromArgs,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    outputs: OutputArgs,
}

/// Measures and reports.
pub fn run(args: &LoadArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let plan = resolve(args)?;
    let (server, wanted) = (args.server.server(&plan)?, args.server.wanted()?);
    let outputs = args.outputs.check()?;
    let from = args.from.reach(&plan)?;
    let profiler = wanted.map(|wanted| wanted.begin(server, &plan)).transpose()?.flatten();
    let started_at = control::clock_text();
    let driver = from.as_ref().map(|machines| Driver { machines, args });
    let Measured { tally, usage, machines } = measure(&plan, &outputs, server, profiler.as_ref(), driver)?;
    let policy = Policy::single(args.machine.allow_busy);
    let judged = verdict::judge(&Case { usage: usage.as_ref(), ..Case::new(policy, &plan, &tally) });
    let verdict = match &machines {
        Some(machines) => lab::load_from::judged(judged, machines, args.machine.allow_busy),
        None => judged,
    };
    let reports = outputs.write(&plan, &tally, &verdict, machines.as_ref())?;
    // Success would be wrong if the server did not keep up with the rate that was asked for.
    let ending = Ending::of(tally.interrupted, verdict.valid && !verdict.fell_behind());
    stored_report::keep(common, format!("load {}", plan.target.url), ending, started_at, reports);
    if let Some(profiler) = profiler {
        profiler.finish(&tally, usage.as_ref().map(|usage| usage.cpu_ns))?;
    }
    Ok(ending.code())
}

impl LoadArgs {
    /// Refuses options that would do nothing.
    fn fit(&self, target: &Target, connections: usize) -> Result<(), WrongInput> {
        if let Some(threads) = self.threads.filter(|threads| *threads > connections as u64) {
            refuse!(
                "--threads {threads} is above the number of connections, {connections}: a thread would have nothing to do"
            );
        }
        self.asking.fit(target, self.connections.protocol())?;
        self.connections.fit(target)
    }
}

/// The plan that the arguments describe.
fn resolve(args: &LoadArgs) -> anyhow::Result<Plan> {
    let wanted = &args.connections;
    let (connections, per_connection) = (wanted.number(args.requests)?, wanted.per_connection());
    let mut target = match &wanted.unix {
        Some(path) => url::on_socket(&args.url, path)?,
        None => url::resolve(&args.url)?,
    };
    args.fit(&target, connections)?;
    if let Some(method) = &wanted.grpc {
        target.url = target.url.trim_end_matches('/').to_owned() + method;
        target.path.clone_from(method);
    }
    let load = args.open.load(connections, per_connection);
    let duration = args.duration.or_else(|| args.open.length()).unwrap_or(DEFAULT_DURATION);
    let until = args.requests.map_or(Until::Elapsed(duration), Until::Answered);
    let cores = Cores::deal();
    let threads = args.threads.map_or(cores.client.len().max(1), |n| n as usize).min(connections);
    let asks = args.asking.asks(&target, wanted.protocol(), per_connection != Some(1))?;
    // Other machines look for a server from where they are.
    if !args.from.is_given() {
        load::reach(&mut target)?;
    }
    Ok(Plan {
        asks,
        order: args.asking.order(),
        connecting: wanted.connecting(),
        protocol: wanted.protocol(),
        pipeline: wanted.pipeline(),
        bursts: wanted.bursts,
        think: wanted.think(),
        warmup: args.warmup,
        timeout: args.timeout,
        abort_after: Some(args.abort_after).filter(|after| !after.is_zero()),
        spin: args.spin,
        threads,
        cpus: cores.for_load(threads),
        verify: args.asking.verify(),
        io: wanted.io(),
        tls: wanted.tls(),
        seed: args.seed,
        per_second: args.outputs.per_second(),
        ..Plan::new(target, Ask::default(), load, until)
    })
}

/// The machines that drive the load in place of this one, and the arguments that say how.
#[derive(Clone, Copy)]
struct Driver<'a> {
    machines: &'a from::LoadMachines,
    args: &'a LoadArgs,
}

/// What was measured.
struct Measured {
    tally: Tally,
    usage: Option<Usage>,
    machines: Option<Machines>,
}

/// Runs the plan, here or on other machines.
fn drive(
    plan: &Plan,
    progress: &Progress,
    watch: &dyn Watch,
    driver: Option<Driver<'_>>,
) -> anyhow::Result<(Tally, Option<Machines>)> {
    let Some(Driver { machines, args }) = driver else {
        let tally = load::run(plan, progress, watch).map_err(|error| match error {
            LoadError::Tls(error) => anyhow::Error::from(WrongInput(error.to_string())),
            LoadError::Source(error) => WrongInput(error.to_string()).into(),
            other => other.into(),
        })?;
        return Ok((tally, None));
    };
    let threads = args.threads.map(|n| n as usize);
    let measured = machines.drive(plan, threads, args.machine.allow_busy, &progress.stop, watch)?;
    Ok((measured.tally, Some(measured.machines)))
}

/// Runs the plan with a progress bar. Also measures the CPU and memory of `server`, a process on this machine.
fn measure(
    plan: &Plan,
    outputs: &Outputs,
    server: Option<i32>,
    profiler: Option<&FileProfiler>,
    driver: Option<Driver<'_>>,
) -> anyhow::Result<Measured> {
    let progress = Progress { stop: stop_flag()?, view: outputs.view(), ..Progress::default() };
    let (length, template) = match plan.until {
        Until::Elapsed(d) => ((d + plan.warmup).as_millis() as u64, "{bar:40} {elapsed} of {msg}"),
        // How many are answered on other machines is known at the end.
        Until::Answered(n) | Until::Closed(n) if driver.is_some() => (n, "{len} requests, {elapsed} so far"),
        Until::Answered(n) | Until::Closed(n) => {
            (n, "{bar:40} {pos}/{len} requests, {elapsed} so far, {eta} left")
        }
    };
    let metrics = outputs.metrics.map(|at| Metrics::serve(at, plan)).transpose()?;
    let is_drawn = progress.view.is_some() && metrics.is_none();
    let bar = if is_drawn { indicatif::ProgressBar::hidden() } else { console::bar(length, template) };
    let own_cpus: &[usize] = if driver.is_some() { &[] } else { &plan.cpus };
    let sampler = server.map(|pid| Sampler::start(WatchedHere::free(pid, own_cpus)));
    let used_so_far = || sampler.as_ref().and_then(Sampler::so_far);
    let edges = sampler.as_ref().map(Sampler::watch);
    let nobody: &dyn Watch = &();
    let of_usage = edges.as_ref().map_or(nobody, |edges| edges as &dyn Watch);
    let both = Both(of_usage, profiler.map_or(nobody, |profiler| &profiler.profiler as &dyn Watch));
    let watch = Both(outputs, &both);
    let started = Instant::now();
    let result = std::thread::scope(|scope| {
        let engine = scope.spawn(|| drive(plan, &progress, &watch, driver));
        if let Some(view) = progress.view.as_ref().filter(|_| is_drawn) {
            live::show(plan, view, &progress.stop, used_so_far, || engine.is_finished());
        }
        while !engine.is_finished() {
            std::thread::sleep(Duration::from_millis(50));
            if let (Some(metrics), Some(view)) = (&metrics, &progress.view) {
                metrics.take(&view.take(), used_so_far());
            }
            let completed = progress.completed.load(Ordering::Relaxed);
            match plan.until {
                Until::Elapsed(d) => {
                    bar.set_position(started.elapsed().as_millis() as u64);
                    let whole = humantime::format_duration(d + plan.warmup);
                    let so_far = match driver {
                        Some(driver) => report::units::several(driver.machines.count(), "machine"),
                        None => format!("{} requests", report::units::count(completed)),
                    };
                    bar.set_message(format!("{whole}, {so_far}"));
                }
                Until::Answered(_) | Until::Closed(_) => bar.set_position(completed),
            }
        }
        engine.join().unwrap_or_else(|_| Err(LoadError::Worker.into()))
    });
    drop(edges);
    let (tally, machines) = result?;
    Ok(Measured { tally, usage: sampler.and_then(Sampler::finish), machines })
}
