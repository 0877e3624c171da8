//! The scenes: a server and its load, run and sampled.

use super::Watched;
use super::sample::Sample;
use crate::drome::Drome;
use crate::process::Running;
use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time before the first sample, in which everything is opened that will be.
const BEGINNING: Duration = Duration::from_secs(3);

/// A server and its load.
pub struct Scene {
    pub name: &'static str,
    pub about: &'static str,
    /// Arguments of the server, which prints its address first.
    server: &'static [&'static str],
    client: Load,
}

#[derive(Clone, Copy)]
struct Load {
    path: &'static str,
    /// Arguments after `drome load URL`.
    args: &'static [&'static str],
    is_tls: bool,
}

const SERVE: &[&str] = &["serve", "--port", "0"];

/// A server at which one answer in a hundred fails.
const FAULTS: &[&str] = &[
    "serve",
    "--port",
    "0",
    "--fault",
    "reset@0.0025",
    "--fault",
    "truncate@0.0025",
    "--fault",
    "garbage@0.0025",
    "--fault",
    "status=503@0.0025",
];

/// All of them.
pub const SCENES: &[Scene] = &[
    Scene {
        name: "serve",
        about: "the reference server: a new connection for every request",
        server: SERVE,
        client: Load { path: "/hello", args: &["-c", "32", "--no-keepalive"], is_tls: false },
    },
    Scene {
        name: "load",
        about: "closed load, connections kept open",
        server: SERVE,
        client: Load { path: "/hello", args: &["-c", "64"], is_tls: false },
    },
    Scene {
        name: "tls",
        about: "closed load, a new encrypted connection for every request",
        server: &["serve", "--port", "0", "--tls"],
        client: Load { path: "/hello", args: &["-c", "32", "--insecure", "--no-keepalive"], is_tls: true },
    },
    Scene {
        name: "open",
        about: "open load, 5,000 requests/s",
        server: SERVE,
        client: Load { path: "/hello", args: &["-c", "64", "--rate", "5000"], is_tls: false },
    },
    Scene {
        name: "faults",
        about: "closed load at a server at which one answer in a hundred fails",
        server: FAULTS,
        client: Load { path: "/hello", args: &["-c", "64"], is_tls: false },
    },
];

impl Scene {
    /// Runs both processes and samples them once a second.
    pub fn run(&self, drome: &Drome, length: Duration) -> Result<Vec<Watched>> {
        let mut server = Running::start(None, &drome.command(self.server))?;
        let url = server.first_line().context(self.name)?;
        let address = address_in(&url).with_context(|| format!("{}: no address in `{url}`", self.name))?;
        let Load { path, args, is_tls } = self.client;
        let url = format!("{}://{address}{path}", if is_tls { "https" } else { "http" });
        // Longer than it is sampled: its end must not count.
        let seconds = format!("{}s", (length + BEGINNING * 4).as_secs());
        let load = [&["load", &url, "-d", &seconds], args].concat();
        let client = Running::start(None, &drome.command(&load))?;
        watch(&[("drome serve", &server), ("drome load", &client)], length)
    }
}

/// Samples processes once a second.
fn watch(processes: &[(&'static str, &Running)], length: Duration) -> Result<Vec<Watched>> {
    sleep(BEGINNING);
    let begin = Instant::now();
    let mut all: Vec<Watched> =
        processes.iter().map(|(name, _)| Watched { name, samples: Vec::new() }).collect();
    for second in 0_u64.. {
        let at = Duration::from_secs(second);
        if at > length {
            break;
        }
        sleep(at.saturating_sub(begin.elapsed()));
        for (watched, (name, process)) in all.iter_mut().zip(processes) {
            let sample = Sample::of(process.pid());
            watched.samples.push(sample.with_context(|| format!("the {name} ended after {second} s"))?);
        }
    }
    Ok(all)
}

/// The address of a URL such as `http://127.0.0.1:1234/?token=…`, anywhere in a line.
fn address_in(line: &str) -> Result<SocketAddr> {
    let Some((_, rest)) = line.split_once("://") else { bail!("no URL") };
    Ok(rest.split(['/', ' ']).next().unwrap_or_default().parse()?)
}
