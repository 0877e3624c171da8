//! Knee and search against queues whose truth is known in closed form, and the closed forms against a simulation.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod queue;

use queue::{Service, keeps, mean_waiting, waits_at_most, window};
use rand::RngExt;
use stats::knee::{Point, knee};
use stats::random;
use stats::search::{Answer, Search};

const SHARES: [f64; 15] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2];
const SERVICES: [Service; 2] = [Service::Fixed, Service::Exponential];

/// About normal, with this standard deviation, around 1.
fn noise(sd: f64, rng: &mut impl rand::Rng) -> f64 {
    let sum: f64 = (0..12).map(|_| rng.random::<f64>()).sum();
    1.0 + sd * (sum - 6.0)
}

#[test]
fn the_simulated_queue_waits_as_the_closed_forms_say() {
    for service in SERVICES {
        for utilisation in [0.3, 0.6, 0.8] {
            let mut rng = random::generator(7);
            let seen = window(service, 1000.0, 1000.0 * utilisation, 400.0, &mut rng);
            let served = seen.latencies.iter().sum::<f64>() / seen.latencies.len() as f64 * 1000.0;
            let (mean, expected) = (served - 1.0, mean_waiting(service, utilisation));
            assert!((mean / expected - 1.0).abs() < 0.06, "{service:?} {utilisation}: {mean} {expected}");
            if service == Service::Fixed {
                for t in [0.5, 1.5, 3.0, 6.0] {
                    let within = seen.latencies.partition_point(|s| s * 1000.0 <= 1.0 + t);
                    let share = within as f64 / seen.latencies.len() as f64;
                    let expected = waits_at_most(service, utilisation, t);
                    assert!((share - expected).abs() < 0.01, "{utilisation} {t}: {share} {expected}");
                }
            }
        }
    }
}

#[test]
fn the_closed_forms_agree_with_each_other() {
    for service in SERVICES {
        for utilisation in [0.2, 0.5, 0.7] {
            // The mean is the integral of the chance to wait longer.
            let steps =
                (0..3000).map(|i| 1.0 - waits_at_most(service, utilisation, (f64::from(i) + 0.5) / 100.0));
            let mean: f64 = steps.sum::<f64>() / 100.0;
            let expected = mean_waiting(service, utilisation);
            assert!((mean / expected - 1.0).abs() < 0.01, "{service:?} {utilisation}: {mean} {expected}");
        }
        assert!((waits_at_most(service, 0.4, 0.0) - 0.6).abs() < 1e-12, "nobody is there with 1 − ρ");
    }
}

/// The knees of many sweeps of three repeats each, as shares of the true capacity.
fn knees(service: Service, fall: f64, sd: f64, runs: u64) -> Vec<f64> {
    let capacity = 1000.0;
    let run = |seed: u64| {
        let mut rng = random::generator(seed);
        let probed = capacity * noise(0.015, &mut rng);
        let one = |rng: &mut rand_chacha::ChaCha8Rng| {
            let points = SHARES.map(|share| {
                let over = (share * probed / capacity - 1.0).max(0.0);
                let now = capacity * noise(sd, rng) * (1.0 - fall * over);
                let seen = window(service, now, share * probed, 2.0, rng);
                Point { offered: seen.due, achieved: seen.achieved }
            });
            knee(&points)
        };
        let found: Vec<f64> = (0..3).filter_map(|_| one(&mut rng)).collect();
        stats::median(&found).unwrap() / capacity
    };
    (0..runs).map(run).collect()
}

#[test]
fn the_knee_is_the_capacity_whatever_the_service_the_noise_and_what_overload_does() {
    for service in SERVICES {
        for (fall, sd) in [(0.0, 0.0), (0.0, 0.02), (0.5, 0.0), (0.5, 0.02)] {
            let mut all = knees(service, fall, sd, 40);
            all.sort_by(f64::total_cmp);
            let bias = all.iter().sum::<f64>() / all.len() as f64 - 1.0;
            let worst = (1.0 - all[0]).max(all[all.len() - 1] - 1.0);
            println!(
                "{service:?} fall {fall} noise {sd}: bias {:+.2} %, worst {:.2} %",
                100.0 * bias,
                100.0 * worst
            );
            assert!(bias.abs() < 0.02 && worst < 0.07, "{service:?} {fall} {sd}: {bias} {worst}");
        }
    }
}

/// A promise: 99 % of answers within so many service times, at a capacity of 2,000/s, in trials of a second.
#[derive(Clone, Copy, Debug)]
struct Promised {
    service: Service,
    times: f64,
    /// By how much the capacity differs from trial to trial.
    sd: f64,
}

impl Promised {
    fn is_kept(self, rate: f64, rng: &mut rand_chacha::ChaCha8Rng) -> bool {
        let capacity = 2000.0 * noise(self.sd, rng);
        window(self.service, capacity, rate, 1.0, rng).quantile(0.99) < self.times / 2000.0
    }

    /// The rate at which every second trial keeps it.
    fn threshold(self) -> f64 {
        let mut rng = random::generator(99);
        let (mut low, mut high) = (100.0, 2000.0);
        for _ in 0..9 {
            let middle = f64::midpoint(low, high);
            let kept = (0..300).filter(|_| self.is_kept(middle, &mut rng)).count();
            if kept > 150 { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    fn search(self, seed: u64) -> Search {
        let mut rng = random::generator(random::derive(&[seed, 5]));
        let mut search = Search::new(100.0, 2000.0).unwrap();
        for share in [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
            search.observe(2000.0 * share, self.is_kept(2000.0 * share, &mut rng));
        }
        while search.trials() < 40 && search.relative_half_width().is_none_or(|width| width > 0.03) {
            let rate = search.next_rate();
            search.observe(rate, self.is_kept(rate, &mut rng));
        }
        search
    }
}

#[test]
fn the_search_finds_the_rate_that_keeps_a_promise_and_its_interval_holds_it() {
    for (service, times) in [(Service::Fixed, 4.0), (Service::Fixed, 12.0), (Service::Exponential, 15.0)] {
        for sd in [0.0, 0.02] {
            let promised = Promised { service, times, sd };
            let truth = promised.threshold();
            let for_ever = 2000.0 * keeps(service, 0.99, times);
            let (mut held, mut off, mut asked) = (0, Vec::new(), 0);
            for seed in 0..100 {
                let search = promised.search(seed);
                asked += search.trials();
                if let Answer::Found { rate, low, high } = search.answer() {
                    held += u32::from(low.is_none_or(|l| l <= truth) && high.is_none_or(|h| truth <= h));
                    off.push((rate / truth - 1.0).abs());
                }
            }
            let middle = stats::median(&off).unwrap();
            println!(
                "{promised:?}: {truth:.0}/s, for ever {for_ever:.0}/s; held {held} of 100, off by {:.1} %, {:.0} trials",
                100.0 * middle,
                f64::from(asked as u32) / 100.0
            );
            assert!(held >= 90 && middle < 0.03, "{promised:?}: {held} {middle}");
            // A window of a second sees fewer long queues than all time does.
            assert!((truth / for_ever - 1.0).abs() < 0.06, "{promised:?}: {truth} {for_ever}");
        }
    }
}
