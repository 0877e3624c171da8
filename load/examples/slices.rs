//! Do slices of different lengths say the same of live servers? Loads them one at a time, in an order that is shuffled in each
//! cycle, and prints each one's ratio to the first in slices of each length, and how far it is from that in slices of the first
//! length, both with their 95 % intervals (of log-ratios, paired by repetition, Student's t). The last column has the time that an answer of
//! the first takes, and by how much one of this server takes longer: at saturation, the difference of their service times.
//!
//! `cargo run --release -p drome-load --example slices -- MSxCYCLES,... REPETITIONS CONNECTIONS PORT...`, as in `100x50,10000x1` for
//! 50 slices of 100 ms against a window of 10 s, with `IO=epoll`, `CPU=1` and `URL_PATH=/hello` in the environment if need be.
//! The load generator polls and never sleeps.

#![allow(clippy::unwrap_used, reason = "an example may panic")]

#[path = "common/plan.rs"]
mod plan;

use load::{Generator, SlicePlan};
use plan::{mean, plan};
use stats::random;
use std::sync::Arc;
use std::time::Duration;

const USAGE: &str = "usage: slices MSxCYCLES,... REPETITIONS CONNECTIONS PORT...";

/// A permutation that is a function of the cycle.
fn order(targets: usize, cycle: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..targets).collect();
    for i in (1..targets).rev() {
        let at = random::uniform(random::derive(&[cycle, i as u64]), 0);
        order.swap(i, (at * (i + 1) as f64) as usize % (i + 1));
    }
    order
}

/// Slices of one length.
struct Length {
    slice: Duration,
    cycles: u64,
    /// The rates of each repetition and target.
    rates: Vec<Vec<f64>>,
}

impl Length {
    fn read(text: &str) -> Self {
        let (ms, cycles) = text.split_once('x').expect(USAGE);
        let slice = Duration::from_millis(ms.parse().expect(USAGE));
        Self { slice, cycles: cycles.parse().expect(USAGE), rates: Vec::new() }
    }

    /// The rate of each target in one repetition: all its answers over all its time. It is also printed at once, so that it is kept if a
    /// later repetition fails.
    fn repeat(&mut self, generator: &mut Generator, targets: usize, nth: &mut u64) {
        let mut sums = vec![(0, 0); targets];
        for _ in 0..self.cycles {
            for target in order(targets, *nth) {
                let usual = SlicePlan::of(target).jittered(1, *nth);
                let slice = SlicePlan { length: self.slice, longest: usual.longest.max(self.slice), ..usual };
                *nth += 1;
                let outcome = generator.slice(&slice).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(outcome.tally.errors.total(), 0, "{:?}", outcome.tally.error_causes);
                sums[target].0 += outcome.tally.completed;
                sums[target].1 += outcome.tally.duration_ns;
            }
        }
        let rates: Vec<f64> = sums.iter().map(|(answers, ns)| *answers as f64 * 1e9 / *ns as f64).collect();
        eprintln!("{:?} {rates:.1?}", self.slice);
        self.rates.push(rates);
    }

    /// The logs of the ratio to the first target, by repetition.
    fn logs(&self, target: usize) -> Vec<f64> {
        self.rates.iter().map(|rates| (rates[target] / rates[0]).ln()).collect()
    }

    /// The mean time of an answer of the first target in µs, and how much longer one of this target takes, with half of its interval.
    fn time_us(&self, target: usize) -> (f64, (f64, f64)) {
        let first: Vec<f64> = self.rates.iter().map(|rates| 1e6 / rates[0]).collect();
        let more: Vec<f64> = self.rates.iter().map(|rates| 1e6 / rates[target] - 1e6 / rates[0]).collect();
        (mean(&first).0, mean(&more))
    }
}

/// The geometric mean and its interval.
fn interval(logs: &[f64]) -> String {
    let (mean, half) = mean(logs);
    format!("{:.4} ({:.4} to {:.4})", mean.exp(), (mean - half).exp(), (mean + half).exp())
}

fn main() {
    let args: Vec<String> =
        std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let [lengths, numbers @ ..] = &args[..] else { panic!("{USAGE}") };
    let mut lengths: Vec<Length> = lengths.split(',').map(Length::read).collect();
    let numbers: Vec<u64> = numbers.iter().map(|arg| arg.parse().expect(USAGE)).collect();
    let [repetitions, connections, ports @ ..] = &numbers[..] else { panic!("{USAGE}") };
    let plans = ports.iter().map(|port| plan(*port as u16, *connections as usize, Duration::MAX)).collect();
    let mut generator = Generator::start(plans, Arc::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut nth = 0;
    for _ in 0..*repetitions {
        for at in order(lengths.len(), nth) {
            lengths[at].repeat(&mut generator, ports.len(), &mut nth);
        }
    }
    println!(
        "| port | slice | ratio to the first | over the ratio in slices of {:?} | time an answer |",
        lengths[0].slice
    );
    println!("| --- | --- | --- | --- | --- |");
    for (target, port) in ports.iter().enumerate().skip(1) {
        let usual = lengths[0].logs(target);
        for length in &lengths {
            let logs = length.logs(target);
            let over: Vec<f64> = logs.iter().zip(&usual).map(|(log, usual)| log - usual).collect();
            let (first, (more, half)) = length.time_us(target);
            let time = format!("{first:.2} µs + {more:.2} µs ± {half:.2}");
            println!("| {port} | {:?} | {} | {} | {time} |", length.slice, interval(&logs), interval(&over));
        }
    }
}
