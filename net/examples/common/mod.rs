//! The command line and the output of the baseline clients.

use std::process::ExitCode;
use std::time::Duration;

/// The result of a baseline client.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The options of the command line.
#[allow(dead_code, reason = "not every client can pipeline")]
pub struct Options {
    /// The port of a server on this machine.
    pub port: u16,
    /// The path of every request.
    pub path: String,
    /// The number of connections at the same time.
    pub connections: usize,
    /// The duration.
    pub time: Duration,
    /// The number of pipelined requests on each connection.
    pub pipeline: usize,
}

/// Reads the command line, runs, and prints JSON with `requests` and `rate_per_s`.
pub fn main(name: &str, run: fn(&Options) -> Result<(usize, f64)>) -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: {name} PORT PATH CONNECTIONS SECONDS [PIPELINE]");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok((requests, rate_per_s)) => {
            println!("{{\"requests\":{requests},\"rate_per_s\":{rate_per_s:.0}}}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Option<Options> {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let number = |i: usize| args.get(i).and_then(|text| text.parse::<usize>().ok()).filter(|n| *n > 0);
    Some(Options {
        port: args.first()?.parse().ok()?,
        path: args.get(1)?.clone(),
        connections: number(2)?,
        time: Duration::try_from_secs_f64(args.get(3)?.parse().ok()?).ok()?,
        pipeline: if args.len() > 4 { number(4)? } else { 1 },
    })
}
