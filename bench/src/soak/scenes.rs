//! The scenes: a server and its load, run and sampled.

use super::Watched;
use super::sample::Sample;
use crate::drome::Drome;
use crate::process::Running;
use anyhow::{Context, Result};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time before the first sample, in which everything is opened that will be.
const BEGINNING: Duration = Duration::from_secs(3);

/// A server and its load.
pub struct Scene {
    pub name: &'static str,
    pub about: &'static str,
    /// Arguments after `drome serve --port 0`.
    server: &'static str,
    /// Arguments after `drome load URL`.
    load: &'static str,
}

/// All of them.
pub const SCENES: &[Scene] = &[
    Scene {
        name: "serve",
        about: "the reference server: a new connection for every request",
        server: "",
        load: "-c 32 --no-keepalive",
    },
    Scene { name: "load", about: "closed load, connections kept open", server: "", load: "-c 64" },
    Scene {
        name: "tls",
        about: "closed load, a new encrypted connection for every request",
        server: "--tls",
        load: "-c 32 --insecure --no-keepalive",
    },
    Scene { name: "open", about: "open load, 5,000 requests/s", server: "", load: "-c 64 --rate 5000" },
    Scene {
        name: "faults",
        about: "closed load at a server at which one answer in a hundred fails",
        server: "--fault reset@0.0025 --fault truncate@0.0025 --fault garbage@0.0025 --fault status=503@0.0025",
        load: "-c 64",
    },
];

impl Scene {
    /// Runs both processes and samples them once a second.
    pub fn run(&self, drome: &Drome, length: Duration) -> Result<Vec<Watched>> {
        let mut serve = drome.command(&["serve", "--port", "0"]);
        let mut server = Running::start(None, serve.args(self.server.split_whitespace()))?;
        let url = format!("{}hello", server.first_line().context(self.name)?);
        // Longer than it is sampled: its end must not count.
        let seconds = format!("{}s", (length + BEGINNING * 4).as_secs());
        let mut load = drome.command(&["load", &url, "-d", &seconds]);
        let client = Running::start(None, load.args(self.load.split_whitespace()))?;
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
