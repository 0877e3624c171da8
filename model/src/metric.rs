//! The metric by which a run decides: one figure of a measurement.

use crate::measurement::Measurement;
use crate::rate::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// A figure of a measurement. In files and in JSON one of `rate`, `server-cpu`, `p50`, `p90`, `p99`, `p999`, `rss`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Requests/s.
    #[default]
    Rate,
    /// CPU time of the server per answer, in nanoseconds.
    ServerCpu,
    /// A percentile of latency, in nanoseconds.
    Latency(Percentile),
    /// The largest resident memory within the window, in bytes.
    Rss,
}

/// The share of requests that the 99th percentile leaves out: what concerns no more of them can't determine it.
pub const BEYOND_P99: f64 = 0.01;

/// A percentile needs this many answers beyond it; fewer are single events.
pub const LEAST_BEYOND: f64 = 10.0;

/// A percentile that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Percentile {
    /// The median.
    P50,
    /// The latency that 90 % of answers do not exceed.
    P90,
    /// The latency that 99 % of answers do not exceed.
    P99,
    /// The latency that 99.9 % of answers do not exceed.
    P999,
}

impl Percentile {
    const ALL: [Self; 4] = [Self::P50, Self::P90, Self::P99, Self::P999];

    /// The word as it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p999",
        }
    }

    /// The percentile as a share of all answers.
    pub fn share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P90 => 0.9,
            Self::P99 => 0.99,
            Self::P999 => 0.999,
        }
    }
}

impl Metric {
    fn all() -> impl Iterator<Item = Self> {
        [Self::Rate, Self::ServerCpu, Self::Rss].into_iter().chain(Percentile::ALL.map(Self::Latency))
    }

    /// The figure of a measurement, if it has it.
    pub fn of(self, m: &Measurement) -> Option<f64> {
        match self {
            Self::Rate => m.tally.rate_per_s(),
            Self::ServerCpu => {
                let usage = m.usage.as_ref().filter(|_| m.tally.completed > 0)?;
                Some(usage.cpu_ns as f64 / m.tally.completed as f64)
            }
            // The latency of a queue that grows depends only on how long the measurement was.
            Self::Latency(_) if m.verdict.fell_behind() => None,
            Self::Latency(p) => m.tally.latency_ns(p.share()).map(|ns| ns as f64),
            // Every process uses memory, so 0 means that it is not known.
            Self::Rss => Some(m.usage.as_ref()?.rss_max_bytes as f64).filter(|bytes| *bytes > 0.0),
        }
    }

    /// Whether more is better, which is so for the rate only.
    pub fn is_better_higher(self) -> bool {
        self == Self::Rate
    }

    /// The word as it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::ServerCpu => "server-cpu",
            Self::Latency(p) => p.word(),
            Self::Rss => "rss",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::all().find(|metric| metric.word() == text);
        found.ok_or_else(|| format!("`{text}`: must be one of rate, server-cpu, rss, p50, p90, p99 and p999"))
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Metric {
    fn schema_name() -> Cow<'static, str> {
        "Metric".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A figure of a measurement: `rate` (requests/s), `server-cpu` (CPU time of the server per \
                            answer), `rss` (resident memory), or a percentile of latency.",
            "type": "string",
            "enum": Self::all().map(Self::word).collect::<Vec<_>>(),
        })
    }
}

/// A metric and, where it is a latency, the rate that is offered: `server-cpu`, `p99@5k`. Latency at saturation says nothing that the
/// rate does not, so a percentile needs a rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decider {
    /// The figure by which the run decides.
    pub metric: Metric,
    /// The rate of an open load; `None`: the load is closed.
    pub rate_per_s: Option<Rate>,
}

impl fmt::Display for Decider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rate_per_s {
            Some(rate) => write!(f, "{}@{rate}", self.metric),
            None => write!(f, "{}", self.metric),
        }
    }
}

impl FromStr for Decider {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allowed = || {
            format!(
                "`{text}`: must be one of rate, server-cpu, rss, and p50@RATE, p90@RATE, p99@RATE, p999@RATE, such as p99@5k"
            )
        };
        let Some((word, rate)) = text.split_once('@') else {
            let metric: Metric = text.parse().map_err(|_| allowed())?;
            return match metric {
                Metric::Latency(p) => {
                    let p = p.word();
                    Err(format!(
                        "`{p}` needs the rate at which it is measured, such as {p}@5k; a closed load only measures \
                         the queue that it creates itself"
                    ))
                }
                metric => Ok(Self { metric, rate_per_s: None }),
            };
        };
        match word.parse() {
            Ok(metric @ Metric::Latency(_)) => {
                let rate = Rate::constant(rate).map_err(|e| e.to_string())?;
                Ok(Self { metric, rate_per_s: Some(rate) })
            }
            _ => Err(allowed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Tally, Usage, Verdict};
    use serde::de::IntoDeserializer;

    #[test]
    fn every_metric_is_read_as_it_is_written() {
        for word in ["rate", "server-cpu", "rss", "p50", "p90", "p99", "p999"] {
            let metric: Metric = word.parse().unwrap();
            assert_eq!(metric.to_string(), word);
            let read: Result<Metric, serde::de::value::Error> = Metric::deserialize(word.into_deserializer());
            assert_eq!(read, Ok(metric));
        }
    }

    #[test]
    fn a_percentile_needs_its_rate_and_nothing_else_has_one() {
        let at_5k =
            Decider { metric: Metric::Latency(Percentile::P99), rate_per_s: Some(Rate::Constant(5_000.0)) };
        assert_eq!("p99@5k".parse(), Ok(at_5k));
        assert_eq!("rss".parse(), Ok(Decider { metric: Metric::Rss, rate_per_s: None }));
        let why = |text: &str| text.parse::<Decider>().unwrap_err();
        assert!(why("p99").contains("such as p99@5k"), "{}", why("p99"));
        for text in ["", "cpu", "rate@5k", "p98@5k", "P99@5k", "@5k", "rss@"] {
            assert!(
                why(text).contains("must be one of rate, server-cpu, rss, and p50@RATE"),
                "{}",
                why(text)
            );
        }
        for text in ["p99@", "p99@0", "p99@-1", "p99@x", "p99@1..2/3s"] {
            assert!(why(text).contains("must be a rate above 0"), "{}", why(text));
        }
    }

    #[test]
    fn what_was_not_measured_is_unknown() {
        let nothing = Measurement {
            tally: Tally::default(),
            usage: Some(Usage::default()),
            verdict: Verdict {
                bound: Bound::Unknown,
                valid: true,
                reasons: Vec::new(),
                ..Verdict::default()
            },
        };
        for metric in [Metric::Rate, Metric::ServerCpu, Metric::Latency(Percentile::P99), Metric::Rss] {
            assert_eq!(metric.of(&nothing), None, "{metric}");
        }
        let mut m = nothing;
        (m.tally.completed, m.tally.duration_ns) = (500, 1_000_000_000);
        m.usage = Some(Usage { cpu_ns: 1_000_000, rss_max_bytes: 4096, ..Usage::default() });
        m.tally.latency.record(1_000);
        assert_eq!((Metric::Rate.of(&m), Metric::ServerCpu.of(&m)), (Some(500.0), Some(2_000.0)));
        assert_eq!(Metric::Rss.of(&m), Some(4096.0));
        let unseen = Measurement { usage: None, ..m.clone() };
        assert_eq!((Metric::Rss.of(&unseen), Metric::ServerCpu.of(&unseen)), (None, None));
        assert_eq!(Metric::Rate.of(&unseen), Some(500.0), "the answers are known all the same");
        assert_eq!(Metric::Latency(Percentile::P50).of(&m), Some(1_000.0));
        let p99 = Metric::Latency(Percentile::P99);
        m.tally.errors.receive = 5;
        assert_eq!(p99.of(&m), Some(1_000.0), "one in a hundred");
        m.tally.errors.connect = 20;
        assert_eq!((p99.of(&m), Metric::Latency(Percentile::P50).of(&m)), (None, Some(1_000.0)));
        m.verdict.kept_up = Some(false);
        assert_eq!((Metric::Latency(Percentile::P50).of(&m), Metric::Rate.of(&m)), (None, Some(500.0)));
    }
}
