//! Due times of open load. The k-th due time is a function of k, the rate and the seed, never of answers.

use model::Arrivals;
use stats::random;

/// The due times of one worker, as nanoseconds since the start of the load.
#[derive(Clone, Debug)]
pub struct Pace {
    gap_ns: f64,
    arrivals: Arrivals,
    seed: u64,
    /// Constant arrivals: this worker has every `threads`-th request, from this one on.
    index: usize,
    threads: usize,
    k: u64,
    /// Poisson arrivals: the sum of the gaps so far.
    sum_ns: f64,
}

impl Pace {
    /// The due times of worker `index` of `threads`; together they make `rate_per_s`.
    /// Poisson: the sum of independent Poisson processes is one of the sum of their rates.
    pub fn new(rate_per_s: f64, arrivals: Arrivals, seed: u64, index: usize, threads: usize) -> Self {
        let seed = random::derive(&[seed, index as u64]);
        let mut pace = Self { gap_ns: 1e9 / rate_per_s, arrivals, seed, index, threads, k: 0, sum_ns: 0.0 };
        if arrivals == Arrivals::Poisson {
            pace.sum_ns = pace.poisson_gap_ns();
        }
        pace
    }

    /// When the next request is due.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        match self.arrivals {
            Arrivals::Constant => {
                ((self.k * self.threads as u64 + self.index as u64) as f64 * self.gap_ns) as u64
            }
            Arrivals::Poisson => self.sum_ns as u64,
        }
    }

    /// Goes on to the request after it.
    #[inline]
    pub fn advance(&mut self) {
        self.k += 1;
        if self.arrivals == Arrivals::Poisson {
            self.sum_ns += self.poisson_gap_ns();
        }
    }

    /// The inverse of the exponential distribution's function at the k-th uniform number.
    fn poisson_gap_ns(&self) -> f64 {
        -random::uniform(self.seed, self.k).ln() * self.gap_ns * self.threads as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(rate: f64, arrivals: Arrivals, seed: u64, threads: usize, n: usize) -> Vec<u64> {
        let mut all = Vec::new();
        for index in 0..threads {
            let mut pace = Pace::new(rate, arrivals, seed, index, threads);
            for _ in 0..n / threads {
                all.push(pace.due_ns());
                pace.advance();
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn constant_arrivals_are_evenly_spaced_over_all_workers() {
        for threads in [1, 2, 5] {
            let all = due(1000.0, Arrivals::Constant, 1, threads, 1000);
            assert!(all.iter().enumerate().all(|(k, ns)| *ns == k as u64 * 1_000_000), "{threads}");
        }
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_spread_of_a_poisson_process() {
        let all = due(10_000.0, Arrivals::Poisson, 42, 1, 200_000);
        let gaps: Vec<f64> = all.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let sd = (gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean / 1e5 - 1.0).abs() < 0.01, "mean {mean}");
        assert!((sd / mean - 1.0).abs() < 0.02, "an exponential gap has sd = mean: {sd} {mean}");
    }

    #[test]
    fn due_times_are_a_function_of_the_seed() {
        assert_eq!(due(500.0, Arrivals::Poisson, 3, 2, 100), due(500.0, Arrivals::Poisson, 3, 2, 100));
        assert_ne!(due(500.0, Arrivals::Poisson, 3, 2, 100), due(500.0, Arrivals::Poisson, 4, 2, 100));
    }
}
