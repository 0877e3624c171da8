//! wrk's own statistics: whole numbers and how often each occurred, with their mean, deviation and percentiles.

use std::collections::BTreeMap;

/// A histogram of whole numbers: microseconds, or requests per second.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    counts: BTreeMap<u64, u64>,
    count: u64,
    /// The largest that was recorded.
    pub max: u64,
    min: Option<u64>,
}

impl Stats {
    /// Records a number with its count.
    pub fn record(&mut self, number: u64, n: u64) {
        if n > 0 {
            *self.counts.entry(number).or_default() += n;
            self.count += n;
            self.max = self.max.max(number);
            self.min = Some(self.min.map_or(number, |min| min.min(number)));
        }
    }

    /// Adds the answers that would have been late if requests had not waited for earlier ones. A connection got an answer every `expected`
    /// microseconds, so an answer that took n times as long hides n − 1 others.
    pub fn correct(&mut self, expected: u64) {
        if expected == 0 {
            return;
        }
        let recorded: Vec<(u64, u64)> =
            self.counts.range(expected.saturating_mul(2)..).map(|(number, n)| (*number, *n)).collect();
        for (number, n) in recorded {
            let mut hidden = number - expected;
            while hidden > expected {
                *self.counts.entry(hidden).or_default() += n;
                self.count += n;
                hidden -= expected;
            }
        }
    }

    /// The smallest that was recorded.
    pub fn min(&self) -> Option<u64> {
        self.min
    }

    /// The numbers that count for statistics. wrk counts numbers that were added below the smallest, but ignores
    /// them here.
    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.range(self.min.unwrap_or(0)..).map(|(number, n)| (*number, *n))
    }

    /// The mean; 0 without numbers.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        self.pairs().map(|(number, n)| number as f64 * n as f64).sum::<f64>() / self.count as f64
    }

    /// The standard deviation of a sample (divided by n − 1); 0 without numbers.
    pub fn sd(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let mean = self.mean();
        let sum: f64 = self.pairs().map(|(number, n)| (number as f64 - mean).powi(2) * n as f64).sum();
        (sum / (self.count - 1) as f64).sqrt()
    }

    /// The percentage within one standard deviation of the mean; `None` without numbers.
    pub fn within_sd_percent(&self) -> Option<f64> {
        let (mean, sd) = (self.mean(), self.sd());
        let is_within = |number: u64| (mean - sd..=mean + sd).contains(&(number as f64));
        let within: u64 = self.pairs().filter(|(number, _)| is_within(*number)).map(|(_, n)| n).sum();
        (self.count > 0).then(|| within as f64 / self.count as f64 * 100.0)
    }

    /// The percentile: the smallest number such that at least `percent` % of all numbers are not larger; 0 without numbers.
    pub fn percentile(&self, percent: f64) -> u64 {
        let rank = (percent / 100.0 * self.count as f64 + 0.5).round() as u64;
        let mut count = 0;
        let reaches = |(_, n): &(u64, u64)| {
            count += n;
            count >= rank
        };
        self.pairs().find(reaches).map_or(0, |(number, _)| number)
    }

    /// The count of different numbers.
    pub fn different(&self) -> usize {
        self.pairs().count()
    }

    /// The k-th different number, from 0, and how often it occurred.
    pub fn at(&self, k: usize) -> (u64, u64) {
        self.pairs().nth(k).unwrap_or_default()
    }
}

/// The arguments of a script's `done()`.
pub struct Summary {
    /// The duration, in microseconds.
    pub duration_us: u64,
    /// Complete answers.
    pub requests: u64,
    /// Bytes of answers.
    pub bytes: u64,
    /// The errors, by wrk's names.
    pub errors: [(&'static str, u64); 5],
    /// Latencies, in microseconds.
    pub latency: Stats,
    /// Requests per second, by thread.
    pub rates: Stats,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[u64]) -> Stats {
        let mut stats = Stats::default();
        numbers.iter().for_each(|number| stats.record(*number, 1));
        stats
    }

    #[test]
    fn moments_and_percentiles() {
        let stats = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((stats.mean(), stats.sd()), (5.0, (32.0_f64 / 7.0).sqrt()));
        assert_eq!(stats.within_sd_percent(), Some(75.0));
        assert_eq!([0.0, 50.0, 75.0, 90.0, 99.0].map(|p| stats.percentile(p)), [2, 5, 7, 9, 9]);
        assert_eq!(
            (stats.min(), stats.max, stats.different(), stats.at(1), stats.at(9)),
            (Some(2), 9, 5, (4, 3), (0, 0))
        );
    }

    #[test]
    fn nothing_has_no_share_and_no_mean_but_0() {
        let stats = of(&[]);
        assert_eq!(
            (stats.mean(), stats.sd(), stats.percentile(50.0), stats.within_sd_percent()),
            (0.0, 0.0, 0, None)
        );
    }

    /// The rule in its plainest form, over a table of all numbers, as an oracle.
    #[test]
    fn hidden_answers_are_added_as_by_the_table() {
        for expected in [1_u64, 3, 10, 99] {
            let numbers: Vec<u64> = (0..200).map(|i| i * i % 101 + 5).collect();
            let mut table = vec![0_u64; 200];
            numbers.iter().for_each(|number| table[*number as usize] += 1);
            for n in (expected * 2) as usize..200 {
                let mut m = n as i64 - expected as i64;
                while table[n] > 0 && m > expected as i64 {
                    table[m as usize] += table[n];
                    m -= expected as i64;
                }
            }
            let mut stats = of(&numbers);
            stats.correct(expected);
            let total: u64 = table.iter().sum();
            let sum: u64 = table.iter().enumerate().skip(5).map(|(number, n)| number as u64 * n).sum();
            assert_eq!((stats.count, stats.mean()), (total, sum as f64 / total as f64), "{expected}");
            assert!(stats.pairs().all(|(number, n)| table[number as usize] == n));
        }
        let mut endless = of(&[5]);
        endless.correct(0);
        assert_eq!(endless.count, 1);
    }
}
