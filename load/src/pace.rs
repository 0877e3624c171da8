//! Due times of open load. The k-th due time is a function of k, the rate over time and the seed, never of answers.
//!
//! Constant arrivals: the moment by which the rate has made k requests. Poisson arrivals: a process of rate 1,
//! its time changed by the same function (Çinlar, "Introduction to Stochastic Processes", 1975): a Poisson
//! process whose rate changes as the offered one does.

use model::Arrivals;
use stats::{RateProfile, random};

/// The latest due time; a sum with the clock stays within its range.
const NEVER_NS: u64 = u64::MAX / 2;

/// The due times of one worker, as nanoseconds since the start of the load.
#[derive(Clone, Debug)]
pub struct Pace {
    profile: RateProfile,
    arrivals: Arrivals,
    seed: u64,
    /// The seed of the current slice.
    slice_seed: u64,
    /// Constant arrivals: this worker has every `threads`-th request, from this one on.
    index: usize,
    threads: usize,
    k: u64,
    /// Poisson arrivals: the sum of the gaps so far, at a rate of 1.
    sum: f64,
    due_ns: u64,
}

impl Pace {
    /// The due times of worker `index` of `threads`; together the workers make the profile's rate. For Poisson arrivals, the sum of
    /// independent Poisson processes is one of the sum of their rates.
    pub fn new(profile: RateProfile, arrivals: Arrivals, seed: u64, index: usize, threads: usize) -> Self {
        let seed = random::derive(&[seed, index as u64]);
        let mut pace =
            Self { profile, arrivals, seed, slice_seed: seed, index, threads, k: 0, sum: 0.0, due_ns: 0 };
        pace.find_due();
        pace
    }

    /// Begins anew; random due times are different in each slice.
    pub fn restart(&mut self, nth: u64) {
        self.slice_seed = random::derive(&[self.seed, nth]);
        (self.k, self.sum) = (0, 0.0);
        self.find_due();
    }

    /// When the next request is due.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Advances to the request after it.
    #[inline]
    pub fn advance(&mut self) {
        self.k += 1;
        self.find_due();
    }

    fn find_due(&mut self) {
        let n = match self.arrivals {
            Arrivals::Constant => (self.k * self.threads as u64 + self.index as u64) as f64,
            Arrivals::Poisson => {
                self.sum += self.exponential();
                self.sum * self.threads as f64
            }
        };
        self.due_ns = (self.profile.moment_ns(n) as u64).min(NEVER_NS);
    }

    /// The inverse of the exponential distribution's function at the k-th uniform number.
    fn exponential(&self) -> f64 {
        -random::uniform(self.slice_seed, self.k).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Rate;
    use std::time::Duration;

    const SECOND_NS: u64 = 1_000_000_000;

    /// All due times until `until_ns`, of all workers.
    fn due(rate: &str, arrivals: Arrivals, seed: u64, threads: usize, until_ns: u64) -> Vec<u64> {
        let mut all = Vec::new();
        for index in 0..threads {
            let profile = rate.parse::<Rate>().unwrap().profile(Duration::ZERO);
            let mut pace = Pace::new(profile, arrivals, seed, index, threads);
            let mut last = 0;
            while pace.due_ns() < until_ns {
                assert!(pace.due_ns() >= last, "due times never go back");
                last = pace.due_ns();
                all.push(last);
                pace.advance();
            }
        }
        all.sort_unstable();
        all
    }

    const SHAPES: [&str; 5] = ["1k", "100..4k/3s", "4k..100/3s", "500,3k,50/1s", "1k..1001/1h"];

    #[test]
    fn constant_arrivals_are_evenly_spaced_over_all_workers() {
        for threads in [1, 2, 5] {
            let all = due("1000", Arrivals::Constant, 1, threads, SECOND_NS);
            assert_eq!(all, (0..1000).map(|k| k * 1_000_000).collect::<Vec<_>>(), "{threads}");
        }
    }

    #[test]
    fn constant_arrivals_match_the_integral_within_one_at_every_moment() {
        for shape in SHAPES {
            let profile = shape.parse::<Rate>().unwrap().profile(Duration::ZERO);
            let all = due(shape, Arrivals::Constant, 1, 3, 5 * SECOND_NS);
            for until_ns in (1..500).map(|i| i * SECOND_NS / 100) {
                let n = all.partition_point(|ns| *ns < until_ns) as f64;
                let integral = profile.count_until(until_ns as f64);
                assert!((n - integral).abs() <= 1.001, "{shape}: {n} {integral} until {until_ns}");
            }
        }
    }

    #[test]
    fn workers_together_make_what_one_would() {
        for shape in SHAPES {
            let one = due(shape, Arrivals::Constant, 1, 1, 4 * SECOND_NS);
            for threads in [2, 3, 7] {
                assert_eq!(due(shape, Arrivals::Constant, 1, threads, 4 * SECOND_NS), one, "{shape}");
            }
        }
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_a_poisson_process() {
        let all = due("10k", Arrivals::Poisson, 42, 1, 20 * SECOND_NS);
        let gaps: Vec<f64> = all.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let sd = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean / 1e5 - 1.0).abs() < 0.01, "mean {mean}");
        assert!((sd / mean - 1.0).abs() < 0.02, "an exponential gap has sd = mean: {sd} {mean}");
    }

    /// Each bin of a ramp has a Poisson count with the integral as its mean, so the standardised counts have
    /// mean 0 and variance 1, whatever the number of workers.
    #[test]
    fn poisson_counts_of_a_ramp_have_the_integral_as_mean_and_variance() {
        let bin_ns = 20_000_000;
        for (shape, threads) in [("5k..50k/10s", 1), ("50k..5k/10s", 2), ("5k,50k,20k/4s", 3)] {
            let profile = shape.parse::<Rate>().unwrap().profile(Duration::ZERO);
            let all = due(shape, Arrivals::Poisson, 9, threads, 10 * SECOND_NS);
            let standardised: Vec<f64> = (0..500)
                .map(|bin| {
                    let (from, to) = (bin * bin_ns, (bin + 1) * bin_ns);
                    let n = all.partition_point(|ns| *ns < to) - all.partition_point(|ns| *ns < from);
                    let mean = profile.count_until(to as f64) - profile.count_until(from as f64);
                    (n as f64 - mean) / mean.sqrt()
                })
                .collect();
            let bins = standardised.len() as f64;
            let mean = standardised.iter().sum::<f64>() / bins;
            let variance = standardised.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / bins;
            // Four standard errors of a mean of 500 and of a variance.
            assert!(mean.abs() < 0.18, "{shape}: mean {mean}");
            assert!((variance - 1.0).abs() < 0.26, "{shape}: variance {variance}");
        }
    }

    #[test]
    fn due_times_are_a_function_of_the_seed() {
        let of = |seed| due("500..1k/1s", Arrivals::Poisson, seed, 2, SECOND_NS);
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }

    #[test]
    fn each_slice_has_due_times_of_its_own_from_its_start_on() {
        let times = |pace: &mut Pace, nth| {
            pace.restart(nth);
            let next = |_| {
                pace.advance();
                pace.due_ns()
            };
            (0..50).map(next).collect::<Vec<_>>()
        };
        let pace = |arrivals| Pace::new(RateProfile::new(&[], 1e3), arrivals, 5, 0, 1);
        let mut poisson = pace(Arrivals::Poisson);
        assert_ne!(times(&mut poisson, 1), times(&mut poisson, 2));
        assert_eq!(times(&mut poisson, 1), times(&mut pace(Arrivals::Poisson), 1));
        let mut constant = pace(Arrivals::Constant);
        assert_eq!(times(&mut constant, 1), times(&mut constant, 2));
    }

    #[test]
    fn a_warm_up_is_at_the_first_rate_and_the_ramp_begins_after_it() {
        let rate: Rate = "100..1k/2s".parse().unwrap();
        let mut pace = Pace::new(rate.profile(Duration::from_secs(1)), Arrivals::Constant, 1, 0, 1);
        (0..100).for_each(|_| pace.advance());
        assert_eq!(pace.due_ns(), SECOND_NS);
        let (whole, without) = (rate.profile(Duration::from_secs(1)), rate.profile(Duration::ZERO));
        assert!((whole.count_until(3e9) - 100.0 - without.count_until(2e9)).abs() < 1e-6);
    }

    #[test]
    fn the_slowest_rate_is_never_beyond_the_clock() {
        let mut pace = Pace::new(RateProfile::new(&[], 1e-300), Arrivals::Constant, 0, 0, 1);
        (0..3).for_each(|_| pace.advance());
        assert!(pace.due_ns() <= NEVER_NS);
    }
}
