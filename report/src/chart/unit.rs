//! The units of axes: how values are written, and the titles of axes.

use crate::units::{self, without_zeros};
use model::Metric;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Requests per second.
    Rate,
    /// Nanoseconds.
    Time,
    /// Bytes.
    Bytes,
    /// A ratio.
    Ratio,
}

impl Unit {
    /// The unit of a metric.
    pub fn of(metric: Metric) -> Self {
        match metric {
            Metric::Rate => Self::Rate,
            Metric::ServerCpu | Metric::Latency(_) => Self::Time,
            Metric::Rss => Self::Bytes,
        }
    }

    /// A value as it is written beside a mark.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::Rate => units::rate(value),
            Self::Time => units::duration(value),
            Self::Bytes => units::bytes(value),
            Self::Ratio => units::ratio(value),
        }
    }

    /// A round value as it is written along an axis.
    pub fn tick(self, value: f64) -> String {
        match self {
            Self::Rate if value >= 1.0 => units::count(value.round() as u64),
            Self::Rate | Self::Ratio => plain(value),
            Self::Time | Self::Bytes => without_zeros(&self.shown(value)),
        }
    }
}

/// The title of an axis for a metric, with its unit.
pub fn axis(metric: Metric) -> String {
    match metric {
        Metric::Rate => "requests/s".to_owned(),
        Metric::ServerCpu => "server CPU time per request".to_owned(),
        Metric::Latency(p) => format!("{} latency", p.word()),
        Metric::Rss => "resident memory".to_owned(),
    }
}

/// A value without trailing zeros.
pub fn plain(value: f64) -> String {
    let text = without_zeros(&format!("{value:.6}"));
    if text == "-0" { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::metric::Percentile;

    #[test]
    fn ticks_have_no_digits_that_say_nothing() {
        assert_eq!(
            [5e6, 2.5e5, 100.0, 0.0].map(|v| Unit::Time.tick(v)),
            ["5 ms", "250 µs", "100 ns", "0 ns"]
        );
        assert_eq!([20_000.0, 1.0, 0.5, 0.0].map(|v| Unit::Rate.tick(v)), ["20,000", "1", "0.5", "0"]);
        assert_eq!([1.0, 0.25, 10.0].map(|v| Unit::Ratio.tick(v)), ["1", "0.25", "10"]);
        assert_eq!([2e7, 500.0].map(|v| Unit::Bytes.tick(v)), ["20 MB", "500 B"]);
        assert_eq!(axis(Metric::Latency(Percentile::P999)), "p999 latency");
    }
}
