//! What one worker does of a plan: its connections, its answers, its due times.

use crate::pace::Pace;
use model::{Load, Plan, Until};

/// The share of one worker.
#[derive(Clone, Debug)]
pub struct Share {
    /// The number of the worker, from 0.
    pub index: usize,
    /// The number of workers.
    pub threads: usize,
    /// The number of its connections.
    pub connections: usize,
    /// The number of answers that it waits for, where answers end the measurement.
    pub answers: Option<u64>,
    /// The number of times that it opens a connection, where that ends the measurement.
    pub openings: Option<u64>,
    /// Its due times, in open load.
    pub pace: Option<Pace>,
}

/// Computes the share of worker `index` of `threads`.
pub fn share(plan: &Plan, index: usize, threads: usize) -> Share {
    let part = |whole: usize| whole / threads + usize::from(index < whole % threads);
    let part_of = |whole: u64| whole / threads as u64 + u64::from((index as u64) < whole % threads as u64);
    let (answers, openings) = match plan.until {
        Until::Elapsed(_) => (None, None),
        Until::Answered(n) => (Some(n), None),
        Until::Closed(n) => (None, Some(part_of(n))),
    };
    let answers = [answers, plan.most_requests].into_iter().flatten().min().map(part_of);
    let pace = match &plan.load {
        Load::Closed { .. } => None,
        Load::Open { rate_per_s, arrivals, .. } => {
            Some(Pace::new(rate_per_s.profile(plan.warmup), *arrivals, plan.seed, index, threads))
        }
    };
    Share { index, threads, connections: part(plan.load.connections()), answers, openings, pace }
}
