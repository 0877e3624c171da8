//! Loads live servers one at a time, in slices whose order is shuffled each cycle, and prints as JSON what came of it: each
//! cycle's rates, and each target's ratio to the first one with its 95 % interval (of paired log-ratios, normal).
//!
//! `cargo run --release -p load --example slices -- SLICE_MS CYCLES CONNECTIONS PORT...`, with `IO=epoll`,
//! `CPU=1` and `URL_PATH=/hello` in the environment if need be. The load generator polls and never sleeps.

#![allow(clippy::unwrap_used, reason = "an example may panic")]

use load::{Generator, Slice};
use model::{Ask, Asking, IoChoice, Load, Plan, SliceTally, Target, Until};
use stats::random;
use std::sync::Arc;
use std::time::Duration;

const USAGE: &str = "usage: slices SLICE_MS CYCLES CONNECTIONS PORT...";

fn plan(port: u16, connections: usize) -> Plan {
    let set = |name: &str| std::env::var(name).ok();
    let path = set("URL_PATH").unwrap_or_else(|| "/hello".to_owned());
    let target = Target::resolve(&format!("http://127.0.0.1:{port}{path}")).unwrap();
    let asking =
        Asking { method: "GET", path: &path, http10: false, keep_alive: true, headers: &[], body: b"" };
    let request = target.request(asking);
    let ask = Ask { last: request.clone(), request, ..Ask::default() };
    let load = Load::Closed { connections, per_connection: None };
    let io = match set("IO").as_deref() {
        Some("epoll") => IoChoice::Epoll,
        Some("uring") => IoChoice::Uring,
        _ => IoChoice::Best,
    };
    let cpus = set("CPU").map_or_else(Vec::new, |cpus| cpus.split(',').map(|n| n.parse().unwrap()).collect());
    let threads = cpus.len().max(1);
    let until = Until::Elapsed(Duration::from_secs(1));
    Plan { io, cpus, threads, spin: Duration::MAX, ..Plan::new(target, ask, load, until) }
}

/// A permutation that is a function of the cycle.
fn order(targets: usize, cycle: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..targets).collect();
    for i in (1..targets).rev() {
        let at = random::uniform(random::derive(&[cycle, i as u64]), 0);
        order.swap(i, (at * (i + 1) as f64) as usize % (i + 1));
    }
    order
}

fn json(said: &SliceTally) -> String {
    let tally = &said.tally;
    let known = |n: Option<f64>| n.map_or_else(|| "null".to_owned(), |n| format!("{n:.4}"));
    let held_up_us = said.held_up_ns.map(|ns| ns as f64 / 1e3);
    format!(
        r#"{{"target":{},"rate_per_s":{},"answers":{},"ms":{:.3},"client_use":{},"held_up_us":{},"errors":{}}}"#,
        said.target,
        known(tally.rate_per_s()),
        tally.completed,
        tally.duration_ns as f64 / 1e6,
        known(tally.client_core_use()),
        known(held_up_us),
        tally.errors.total() + said.uncounted.errors.total(),
    )
}

/// The ratio of paired rates and the half-width of its interval, in per cent.
fn ratio(rates: &[f64], of_first: &[f64]) -> (f64, f64) {
    let logs: Vec<f64> = rates.iter().zip(of_first).map(|(rate, first)| (rate / first).ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean.exp(), 100.0 * 1.96 * (variance / n).sqrt())
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|arg| arg.parse().expect(USAGE)).collect();
    let [slice_ms, cycles, connections, ports @ ..] = &numbers[..] else { panic!("{USAGE}") };
    let plans = ports.iter().map(|port| plan(*port as u16, *connections as usize)).collect();
    let mut generator = Generator::start(plans, Arc::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut rates = vec![Vec::new(); ports.len()];
    let (mut cycle_lines, mut nth, mut io) = (Vec::new(), 0, String::new());
    for cycle in 0..*cycles {
        let mut slices = Vec::new();
        for target in order(ports.len(), cycle) {
            let slice =
                Slice { length: Duration::from_millis(*slice_ms), ..Slice::of(target).jittered(1, nth) };
            nth += 1;
            let said = generator.slice(&slice).unwrap_or_else(|error| panic!("{error}"));
            rates[target].push(said.tally.rate_per_s().unwrap_or(0.0));
            io = said.tally.io.clone().unwrap_or_default();
            slices.push(json(said));
        }
        cycle_lines.push(format!("[{}]", slices.join(",")));
    }
    let ratios: Vec<String> = rates
        .iter()
        .map(|of_one| {
            let (ratio, percent) = ratio(of_one, &rates[0]);
            format!(r#"{{"ratio":{ratio:.4},"half_width_percent":{percent:.2}}}"#)
        })
        .collect();
    println!(
        "{{\"io\":\"{io}\",\"ratios\":[{}],\"cycles\":[\n{}\n]}}",
        ratios.join(","),
        cycle_lines.join(",\n")
    );
}
