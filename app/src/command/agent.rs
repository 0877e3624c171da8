//! `drome agent`: does what drome on another machine asks over standard input and output; with `--check`, tries an agent.

use super::agent_link::{self, PutArgs};
use super::transport::Transport;
use crate::console;
use crate::failure::FAILED;
use agent::{Call, ClockOffset, Handler, Link};
use clap::Args;
use rustix::io::fcntl_dupfd_cloexec;
use serde_json::Value;
use std::fs::File;
use std::io::{IsTerminal, stdin, stdout};
use std::process::ExitCode;
use std::time::Duration;

/// The number of round trips that measure the clocks' offset. The shortest counts: among this many, one is nearly undisturbed.
const ROUNDS: usize = 50;

/// How long the handlers may take to stop what they started. A lost link is noticed after five seconds of silence, so everything has
/// stopped within ten.
const LONGEST_END: Duration = Duration::from_secs(4);

/// The first file descriptor after the standard streams.
const FIRST_OWN: i32 = 3;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Start an agent by this command, `ssh HOST` or any words to which `drome agent` can be appended, and print what machine it
    /// is on, its clock against the clock here, and the round trip
    #[arg(long, value_name = "COMMAND")]
    check: Option<Transport>,
    #[command(flatten)]
    put: PutArgs,
}

/// Obeys drome on another machine or, with `--check`, tests an agent there.
pub fn run(args: &AgentArgs) -> anyhow::Result<ExitCode> {
    match &args.check {
        Some(transport) => check(transport, &args.put),
        None if args.put.is_given() => {
            refuse!("--put copies drome to the machine that --check names: add --check 'ssh HOST'")
        }
        None => obey(),
    }
}

/// The handlers of all requests that an agent answers.
fn handlers() -> Vec<Box<dyn Handler>> {
    vec![
        Box::new(control::server::remote_controlled::ControlledServers::default()),
        Box::new(lab::load_from::Loads::default()),
    ]
}

fn obey() -> anyhow::Result<ExitCode> {
    if stdin().is_terminal() {
        refuse!(
            "`drome agent` is not for use in a terminal: drome on another machine starts it. To test it, run `drome agent --check 'ssh HOST'` on that machine, with this machine as HOST"
        );
    }
    // The link is this process's own: what a server reads or prints must not be part of it.
    let input = File::from(fcntl_dupfd_cloexec(stdin(), FIRST_OWN)?);
    let output = File::from(fcntl_dupfd_cloexec(stdout(), FIRST_OWN)?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    let handlers = handlers();
    let all: Vec<&dyn Handler> =
        std::iter::once(&Backstop as &dyn Handler).chain(handlers.iter().map(|handler| &**handler)).collect();
    agent::obey(&agent_link::own_hello(), &all, input, output)?;
    Ok(ExitCode::SUCCESS)
}

/// Ends this process if a handler can't stop what it started. The guards of servers, whose input ends with this process, then kill them.
struct Backstop;

impl Handler for Backstop {
    fn answer(&self, _call: &Call<'_>) -> Option<Result<Value, String>> {
        None
    }

    fn end(&self) {
        std::thread::spawn(|| {
            std::thread::sleep(LONGEST_END);
            std::process::exit(FAILED.into());
        });
    }
}

fn check(transport: &Transport, put: &PutArgs) -> anyhow::Result<ExitCode> {
    let link = put.link(transport)?;
    let clock = link.clock(ROUNDS)?;
    console::tell(&description(&link, clock))?;
    Ok(ExitCode::SUCCESS)
}

fn description(link: &Link, clock: ClockOffset) -> String {
    let there = link.hello();
    let side = if clock.offset_ns < 0 { "less" } else { "more" };
    format!(
        "{}: drome {} answers\nmachine     {}, {} {}, {}, {} cores\nclock       {} ms {side} since boot than here, known to ± {} ms\nround trip  {} ms\n",
        link.name(),
        there.drome,
        there.host,
        there.os,
        there.kernel,
        there.arch,
        there.cores,
        ms(clock.offset_ns.unsigned_abs()),
        ms(clock.bound_ns),
        ms(clock.round_trip_ns),
    )
}

fn ms(ns: u64) -> String {
    format!("{:.3}", Duration::from_nanos(ns).as_secs_f64() * 1e3)
}
