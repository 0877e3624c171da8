//! `drome load URL`: one target, one measurement.

use crate::console;
use crate::failure::{INTERRUPTED, VOID, WrongInput};
use anyhow::Context;
use clap::{Args, ValueEnum};
use lab::sample::Sampler;
use lab::tree::Tree;
use load::{LoadError, Progress, Watch};
use model::{Arrivals, Expect, Load, Plan, Tally, Target, Until, Usage};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long is measured where neither -d nor -n says so.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// Raw arguments.
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// Where to, such as <http://127.0.0.1:8080/hello>
    url: String,
    /// Connections
    #[arg(short, long, default_value_t = 64, value_name = "N", value_parser = positive)]
    connections: u64,
    /// Measure for so long, such as 500ms, 10s or 2min [default: 10s]
    #[arg(short, long, value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with = "requests")]
    duration: Option<Duration>,
    /// Measure until so many requests are done
    #[arg(short = 'n', long, value_name = "N", value_parser = positive)]
    requests: Option<u64>,
    /// Worker threads, each pinned to a core of its own [default: half of the cores]
    #[arg(short, long, value_name = "N", value_parser = positive)]
    threads: Option<u64>,
    /// Open load: so many requests become due per second, whatever the server does
    #[arg(long, value_name = "N", value_parser = rate, allow_negative_numbers = true)]
    rate: Option<f64>,
    /// How due times are spaced
    #[arg(long, value_enum, default_value_t = Spacing::Constant, requires = "rate")]
    arrivals: Spacing,
    /// Decides random arrivals
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// A new connection for every request
    #[arg(long)]
    no_keepalive: bool,
    /// Requests sent ahead of their answers on each connection; only 1 is spoken yet
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1))]
    pipeline: u16,
    /// A header, such as 'Accept: text/html'; may be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    headers: Vec<(String, String)>,
    /// The method
    #[arg(short, long, value_name = "METHOD", value_parser = method)]
    method: Option<String>,
    /// The body of the request
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// A file with the body of the request
    #[arg(long, value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// A request without its whole answer after so long is an error
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = positive_time)]
    timeout: Duration,
    /// Poll for so long before going to sleep: steadier, at the price of CPU time
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = humantime::parse_duration)]
    spin: Duration,
    /// Load before the measurement, not counted
    #[arg(long, default_value = "0s", value_name = "TIME", value_parser = humantime::parse_duration)]
    warmup: Duration,
    /// Any other status is an error [default: any below 400 will do]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    expect_status: Option<u16>,
    /// A body of any other length is an error
    #[arg(long, value_name = "BYTES")]
    expect_length: Option<u64>,
    /// A body with any other SHA-256 is an error
    #[arg(long, value_name = "HEX", value_parser = sha256)]
    expect_sha256: Option<[u8; 32]>,
    /// The result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Spacing {
    Constant,
    Poisson,
}

/// Measures and reports.
pub fn run(args: Box<LoadArgs>) -> anyhow::Result<ExitCode> {
    let json = args.json;
    let plan = resolve(*args)?;
    let (tally, usage) = measure(&plan)?;
    let verdict = lab::verdict::judge(&plan, &tally, usage.as_ref());
    let report = if json { report::load_json::report } else { report::load_text::report };
    console::print(&report(&plan, &tally, &verdict))?;
    Ok(match (tally.interrupted, verdict.valid) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(VOID),
    })
}

/// What the arguments come to.
fn resolve(args: LoadArgs) -> anyhow::Result<Plan> {
    if let Some(n) = args.requests.filter(|n| *n < args.connections) {
        let c = args.connections;
        return Err(WrongInput(format!(
            "-c {c} is above -n {n}: {} connections would have nothing to do",
            c - n
        ))
        .into());
    }
    let body = match (args.body, &args.body_file) {
        (Some(text), _) => text.into_bytes(),
        (None, Some(file)) => std::fs::read(file)
            .with_context(|| format!("can't read --body-file {}", file.display()))
            .map_err(|e| WrongInput(format!("{e:#}")))?,
        (None, None) => Vec::new(),
    };
    let method = args.method.unwrap_or_else(|| if body.is_empty() { "GET" } else { "POST" }.to_owned());
    let target = Target::resolve(&args.url)?;
    let (connections, per_connection) = (args.connections as usize, args.no_keepalive.then_some(1));
    let load = match args.rate {
        None => Load::Closed { connections, per_connection },
        Some(rate_per_s) => {
            let arrivals = match args.arrivals {
                Spacing::Constant => Arrivals::Constant,
                Spacing::Poisson => Arrivals::Poisson,
            };
            Load::Open { rate_per_s, connections, arrivals, per_connection }
        }
    };
    let cores = net::cpu::allowed();
    let threads = args.threads.map_or_else(|| (cores.len() / 2).max(1), |n| n as usize).min(connections);
    // The last cores, since servers and everybody else begin with the first.
    let cpus = cores[cores.len().saturating_sub(threads)..].to_vec();
    Ok(Plan {
        request: target.request(&method, &args.headers, &body, args.no_keepalive),
        head_only: method == "HEAD",
        target,
        load,
        until: args
            .requests
            .map_or(Until::Elapsed(args.duration.unwrap_or(DEFAULT_DURATION)), Until::Answered),
        warmup: args.warmup,
        timeout: args.timeout,
        spin: args.spin,
        threads,
        cpus,
        expect: Expect {
            status: args.expect_status,
            length: args.expect_length,
            sha256: args.expect_sha256,
            body: None,
        },
        seed: args.seed,
    })
}

/// Runs the plan with a progress bar beside it. A server on this machine is watched meanwhile.
fn measure(plan: &Plan) -> anyhow::Result<(Tally, Option<Usage>)> {
    let progress = Progress { stop: console::stop_flag()?, ..Progress::default() };
    let (length, template) = match plan.until {
        Until::Elapsed(d) => ((d + plan.warmup).as_millis() as u64, "{bar:40} {elapsed} of {msg}"),
        Until::Answered(n) => (n, "{bar:40} {pos}/{len} requests, {elapsed}{msg}"),
    };
    let bar = console::bar(length, template);
    let server = lab::local::listener(plan.target.address);
    let sampler = server.map(|pid| Sampler::start(Tree::From(pid), lab::local::cores(pid)));
    let edges = sampler.as_ref().map(Sampler::watch);
    let watch: &dyn Watch = edges.as_ref().map_or(&(), |edges| edges);
    let started = Instant::now();
    let result = std::thread::scope(|scope| {
        let engine = scope.spawn(|| load::run(plan, &progress, watch));
        while !engine.is_finished() {
            std::thread::sleep(Duration::from_millis(50));
            let completed = progress.completed.load(Ordering::Relaxed);
            match plan.until {
                Until::Elapsed(d) => {
                    bar.set_position(started.elapsed().as_millis() as u64);
                    let whole = humantime::format_duration(d + plan.warmup);
                    bar.set_message(format!("{whole}, {} answers", report::units::count(completed)));
                }
                Until::Answered(_) => bar.set_position(completed),
            }
        }
        engine.join().unwrap_or(Err(LoadError::Worker))
    });
    bar.finish_and_clear();
    drop(edges);
    Ok((result?, sampler.and_then(Sampler::finish)))
}

fn positive(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(n) if (1..=10_000_000_000).contains(&n) => Ok(n),
        _ => Err("allowed is a whole number of at least 1".to_owned()),
    }
}

fn positive_time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(d) if !d.is_zero() => Ok(d),
        Ok(_) => Err("allowed is a time above 0".to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 1e9 => Ok(rate),
        _ => Err("allowed is a rate above 0 and at most 1e9 per second".to_owned()),
    }
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it like 'Name: value'")?;
    let is_token = !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&b));
    if !is_token || value.bytes().any(|b| b < b' ' && b != b'\t') {
        return Err("a name has no spaces, and neither name nor value has line breaks".to_owned());
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

fn method(text: &str) -> Result<String, String> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-') {
        Ok(text.to_owned())
    } else {
        Err("a method is a word such as GET or POST".to_owned())
    }
}

fn sha256(text: &str) -> Result<[u8; 32], String> {
    let bad = || "a SHA-256 is 64 hexadecimal digits".to_owned();
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>().ok_or_else(bad)?;
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect();
    if digits.len() == 64 { bytes.try_into().map_err(|_| bad()) } else { Err(bad()) }
}
