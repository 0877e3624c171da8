//! ab's arithmetic with times: whole microseconds, rounded to milliseconds at the very end, and ab's own definition
//! of a median.

use model::Exchange;

/// A request's times as ab keeps them, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// When the request began, in nanoseconds of the monotonic clock.
    pub start_ns: u64,
    /// The time until the connection was open, including the TLS handshake; 0 if it was already open.
    pub connect: u64,
    /// The time from the beginning to the end.
    pub total: u64,
    /// The time from the send to the first bytes of the answer.
    pub wait: u64,
}

impl Times {
    /// The times of an exchange.
    pub fn of(exchange: &Exchange) -> Self {
        let start_ns = exchange.began_ns();
        let is_first = exchange.nth == 0;
        Self {
            start_ns,
            connect: exchange.connect_time_ns().filter(|_| is_first).unwrap_or(0) / 1000,
            total: exchange.done_ns.saturating_sub(start_ns) / 1000,
            wait: exchange.waiting_ns().unwrap_or(0) / 1000,
        }
    }

    /// The total time without connecting.
    pub fn processing(&self) -> u64 {
        self.total.saturating_sub(self.connect)
    }
}

/// A row of the table, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub min: u64,
    pub mean: u64,
    pub sd: f64,
    pub median: u64,
    pub max: u64,
}

impl Row {
    /// The row for at least one time.
    pub fn of(times: impl Iterator<Item = u64>) -> Option<Self> {
        let mut times: Vec<u64> = times.collect();
        times.sort_unstable();
        let (min, max) = (*times.first()?, *times.last()?);
        let n = times.len();
        let mean = times.iter().sum::<u64>() / n as u64;
        let squares: f64 = times.iter().map(|&time| (time as f64 - mean as f64).powi(2)).sum();
        let sd = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
        // If the number of times is odd, ab averages the middle one and the next.
        let median = match times.get(n / 2 + 1).filter(|_| n % 2 == 1) {
            Some(next) => u64::midpoint(times[n / 2], *next),
            None => times[n / 2],
        };
        Some(Self { min, mean, sd, median, max })
    }
}

/// Rounds to whole milliseconds.
pub fn ms(microseconds: u64) -> u64 {
    (microseconds + 500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{End, Loss};
    use proptest::prelude::*;

    const WHOLE: Exchange = Exchange {
        connection: 1,
        nth: 0,
        ask: 0,
        connect_ns: 1_000_000,
        connected_ns: 1_300_999,
        due_ns: 1_300_999,
        sent_ns: 1_400_000,
        first_byte_ns: 2_000_000,
        done_ns: 2_500_000,
        body_bytes: 12,
        end: End::Answered { status: 200, keeps_alive: true },
    };

    #[test]
    fn a_connection_counts_for_its_first_request_only() {
        let first = Times::of(&WHOLE);
        assert_eq!(first, Times { start_ns: 1_000_000, connect: 300, total: 1500, wait: 600 });
        assert_eq!(first.processing(), 1200);
        let second = Times::of(&Exchange { nth: 1, ..WHOLE });
        assert_eq!(second, Times { start_ns: 1_400_000, connect: 0, total: 1100, wait: 600 });
        let refused = Exchange {
            connected_ns: 0,
            sent_ns: 0,
            first_byte_ns: 0,
            end: End::Lost(Loss::Connect),
            ..WHOLE
        };
        assert_eq!(Times::of(&refused), Times { start_ns: 1_000_000, connect: 0, total: 1500, wait: 0 });
    }

    #[test]
    fn a_median_as_ab_sees_it() {
        let median = |times: &[u64]| Row::of(times.iter().copied()).unwrap().median;
        assert_eq!(median(&[7]), 7);
        assert_eq!(median(&[1, 5]), 5);
        assert_eq!(median(&[9, 1, 5]), 7);
        assert_eq!(median(&[1, 2, 8, 9]), 8);
        assert_eq!(median(&[1, 2, 3, 6, 9]), 4);
        assert_eq!(Row::of(std::iter::empty()), None);
    }

    proptest! {
        #[test]
        fn a_row_lies_between_its_bounds(times in prop::collection::vec(0_u64..1_000_000_000, 1..50)) {
            let row = Row::of(times.iter().copied()).unwrap();
            prop_assert!(row.min <= row.mean && row.mean <= row.max);
            prop_assert!(row.min <= row.median && row.median <= row.max);
            let exact = times.iter().sum::<u64>() as f64 / times.len() as f64;
            let squares: f64 = times.iter().map(|&t| (t as f64 - exact).powi(2)).sum();
            let sd = if times.len() > 1 { (squares / (times.len() - 1) as f64).sqrt() } else { 0.0 };
            prop_assert!((row.sd - sd).abs() <= 2.0, "{} and {sd}", row.sd);
        }
    }
}
