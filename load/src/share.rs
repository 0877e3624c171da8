//! What one worker does of a plan: its connections, its answers, its due times.

use crate::pace::Pace;
use model::{Load, OneOf, Plan, Until};

/// The share of one worker.
#[derive(Clone, Debug)]
pub struct Share {
    /// The number of the worker, from 0, among those of all machines.
    pub index: usize,
    /// The number of workers of all machines together, as if each machine had as many as this one.
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
    // Numbers go round the machines first and then round their workers, so that a machine need not know how many workers another one has.
    let OneOf { index: machine, machines } = plan.one_of;
    let (worker, workers) = (index * machines + machine, threads * machines);
    let pace = match &plan.load {
        Load::Closed { .. } => None,
        Load::Open { rate_per_s, arrivals, .. } => {
            Some(Pace::new(rate_per_s.profile(plan.warmup), *arrivals, plan.seed, worker, workers))
        }
    };
    let connections = part(plan.load.connections());
    Share { index: worker, threads: workers, connections, answers, openings, pace }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Arrivals, Ask, Target};

    const SECOND_NS: u64 = 1_000_000_000;

    /// The due times of the first two seconds, of all workers of machines with these numbers of workers.
    fn due(rate: &str, workers: &[usize]) -> Vec<u64> {
        let load = Load::Open {
            rate_per_s: rate.parse().unwrap(),
            connections: 100,
            arrivals: Arrivals::Constant,
            per_connection: None,
        };
        let plan = Plan::new(
            Target::resolve("http://127.0.0.1:1/").unwrap(),
            Ask::default(),
            load,
            Until::Answered(1),
        );
        let mut all = Vec::new();
        for (machine, threads) in workers.iter().enumerate() {
            let plan = Plan { one_of: OneOf { index: machine, machines: workers.len() }, ..plan.clone() };
            for worker in 0..*threads {
                let mut pace = share(&plan, worker, *threads).pace.unwrap();
                while pace.due_ns() < 2 * SECOND_NS {
                    all.push(pace.due_ns());
                    pace.advance();
                }
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn machines_with_different_numbers_of_workers_offer_together_what_one_would() {
        for rate in ["1000", "3333.3", "100..4k/1s", "500,3k,50/1s"] {
            let one = due(rate, &[1]);
            for workers in [&[1, 1][..], &[2, 1, 5], &[8, 8, 8, 8, 8, 8, 8, 1], &[3, 2]] {
                assert_eq!(due(rate, workers), one, "{rate} {workers:?}");
            }
        }
    }

    #[test]
    fn no_two_workers_of_several_machines_have_the_same_number() {
        let load = Load::Closed { connections: 64, per_connection: None };
        let plan = Plan::new(
            Target::resolve("http://127.0.0.1:1/").unwrap(),
            Ask::default(),
            load,
            Until::Answered(64),
        );
        let mut numbers = Vec::new();
        for (machine, threads) in [4, 1, 3].into_iter().enumerate() {
            let plan = Plan { one_of: OneOf { index: machine, machines: 3 }, ..plan.clone() };
            let shares: Vec<Share> = (0..threads).map(|worker| share(&plan, worker, threads)).collect();
            numbers.extend(shares.iter().map(|share| share.index));
            let connections: usize = shares.iter().map(|share| share.connections).sum();
            assert_eq!(connections, 64, "the plan's connections are this machine's own");
        }
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 8);
    }
}
