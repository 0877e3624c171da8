//! Does a request cost the load generator more with several targets? Loads a server by a generator with one target and by one with several,
//! slice by slice in turns, and prints the CPU time per request of each, and their ratio with its 95 % interval (of log-ratios, paired by
//! cycle, Student's t).
//!
//! `cargo run --release -p drome-load --example targets -- TARGETS CYCLES CONNECTIONS PORT`; all targets are the same server, so nothing but
//! their number differs. The load generator sleeps when it has nothing to do.

#![allow(clippy::unwrap_used, reason = "an example may panic")]

#[path = "common/plan.rs"]
mod plan;

use load::{Generator, SlicePlan};
use plan::{mean, plan};
use std::sync::Arc;
use std::time::Duration;

const USAGE: &str = "usage: targets TARGETS CYCLES CONNECTIONS PORT";

/// CPU time of the generator's threads, in nanoseconds.
fn cpu_ns(generator: &Generator) -> u64 {
    let of = |tid: i32| {
        let text = std::fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).unwrap();
        text.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    generator.threads().into_iter().map(of).sum()
}

/// CPU time per request in a slice on each target.
fn per_request(generator: &mut Generator, targets: usize, nth: u64) -> f64 {
    let (mut answers, before) = (0, cpu_ns(generator));
    for target in 0..targets {
        let slice = SlicePlan::of(target).jittered(1, nth);
        let outcome = generator.slice(&slice).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(outcome.tally.errors.total(), 0, "{:?}", outcome.tally.error_causes);
        answers += outcome.tally.completed + outcome.uncounted.completed;
    }
    (cpu_ns(generator) - before) as f64 / answers as f64
}

fn main() {
    let numbers: Vec<usize> =
        std::env::args_os().skip(1).map(|arg| arg.to_str().expect(USAGE).parse().expect(USAGE)).collect();
    let [targets, cycles, connections, port] = numbers[..] else { panic!("{USAGE}") };
    let start = |count: usize| {
        let plans = (0..count).map(|_| plan(port as u16, connections, Duration::ZERO)).collect();
        Generator::start(plans, Arc::default()).unwrap_or_else(|error| panic!("{error}"))
    };
    let (mut one, mut several) = (start(1), start(targets));
    let (mut logs, mut sums) = (Vec::new(), [0.0; 2]);
    for nth in 0..cycles as u64 {
        // As many slices by either, in an order that alternates.
        let mut own = || (0..targets).map(|_| per_request(&mut one, 1, nth)).sum::<f64>() / targets as f64;
        let (alone, among) = if nth.is_multiple_of(2) {
            let alone = own();
            (alone, per_request(&mut several, targets, nth))
        } else {
            let among = per_request(&mut several, targets, nth);
            (own(), among)
        };
        logs.push((among / alone).ln());
        sums = [sums[0] + alone, sums[1] + among];
    }
    let (mean, half) = mean(&logs);
    let [alone, among] = sums.map(|sum| sum / logs.len() as f64);
    println!("one target: {alone:.0} ns of CPU time per request; {targets} targets: {among:.0} ns");
    println!("ratio {:.4} (95 % {:.4} to {:.4})", mean.exp(), (mean - half).exp(), (mean + half).exp());
}
