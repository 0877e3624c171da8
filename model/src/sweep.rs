//! The findings of a sweep: how servers behave from an idle rate to past their saturation. This is the documented JSON
//! of `drome sweep --format json` (schema 1, `docs/sweep.md`): keys stay stable, new ones may be added, what is not
//! known is null.

use crate::environment::Environment;
use crate::plan::Arrivals;
use crate::verdict::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The version of the JSON.
pub const SCHEMA: u32 = 1;

/// All findings of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// 1: the version of this JSON.
    pub schema: u32,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// The seed of every order, arrival and search.
    pub seed: u64,
    /// The URL that was requested; `{port}` stands for the port of a server that was started.
    pub url: String,
    /// How due times were spaced.
    pub arrivals: Arrivals,
    /// The number of connections that shared the requests.
    pub connections: usize,
    /// How often every step was to be measured.
    pub repeats: usize,
    /// The length of the load before each measurement, not counted.
    pub warmup_s: f64,
    /// The length of each measurement.
    pub duration_s: f64,
    /// The machine.
    pub environment: Environment,
    /// Why it ended, or that it was interrupted.
    pub ended: String,
    /// True if a user stopped it: what was measured until then is here.
    pub interrupted: bool,
    /// How long the whole sweep took.
    pub elapsed_s: f64,
    /// The contenders, in the order in which they were given.
    pub contenders: Vec<Swept>,
    /// All contenders side by side at one rate; null with fewer than two that have a capacity.
    pub common: Option<Common>,
    /// What is unknown, and why.
    pub notes: Vec<String>,
}

/// One contender's findings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Swept {
    /// Its letter: A, B, … in the order in which they were given.
    pub name: String,
    /// The URL, or the command.
    pub title: String,
    /// The capacity: the rate under closed load.
    pub capacity_per_s: Option<Spread>,
    /// The bound of most of those measurements; `client` and `both`: the capacity is a lower bound.
    pub capacity_bound: Option<String>,
    /// The knee: where the achieved rate stops following the offered one.
    pub knee_per_s: Option<Spread>,
    /// The steps, from the lowest rate to the highest.
    pub steps: Vec<Step>,
    /// The highest rate that keeps the promise that was asked for.
    pub kept: Option<Kept>,
    /// Every measurement, in the order in which it was made.
    pub trials: Vec<SweepTrial>,
    /// What is unknown, and why.
    pub notes: Vec<String>,
}

/// One offered rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The offered rate as a share of the capacity.
    pub share: f64,
    /// The offered rate.
    pub offered_per_s: f64,
    /// The number of measurements, void ones included.
    pub trials: usize,
    /// The number of those that were void; they are in no figure here.
    pub void: usize,
    /// The number of measurements that failed: the server did not start, died, or did not answer.
    pub failed: usize,
    /// The rate at which requests became due.
    pub due_per_s: Option<Spread>,
    /// The rate of answers that were complete and as expected.
    pub achieved_per_s: Option<Spread>,
    /// The median, from when a request was due.
    pub latency_ns_p50: Option<Spread>,
    /// The 99th percentile; null where fewer than 100 requests were answered.
    pub latency_ns_p99: Option<Spread>,
    /// The 99.9th percentile; null where fewer than 1,000 requests were answered.
    pub latency_ns_p999: Option<Spread>,
    /// CPU time of the server per answer.
    pub server_cpu_ns_per_request: Option<Spread>,
    /// CPU time of the server per second.
    pub server_cores: Option<Spread>,
    /// Why measurements were void or failed, and remarks on the others; each once.
    pub reasons: Vec<String>,
}

/// The median over the sound repeats, and the lowest and the highest of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The median.
    pub median: f64,
    /// The lowest repeat.
    pub low: f64,
    /// The highest repeat.
    pub high: f64,
    /// The number of repeats. The range holds the median of all such repeats with a chance of 1 − 2^(1−n).
    pub n: usize,
}

impl Spread {
    /// The spread of these values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let low = values.iter().copied().min_by(f64::total_cmp)?;
        let high = values.iter().copied().max_by(f64::total_cmp)?;
        Some(Self { median: stats::median(values)?, low, high, n: values.len() })
    }
}

/// One measurement of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepTrial {
    /// The part of the sweep that it belongs to.
    pub part: Part,
    /// The number of the repeat, from 0.
    pub repeat: usize,
    /// The offered rate as a share of the capacity; null under closed load.
    pub share: Option<f64>,
    /// The offered rate; null under closed load.
    pub offered_per_s: Option<f64>,
    /// The seed of its arrivals.
    pub seed: u64,
    /// Why it failed; then there are no figures.
    pub failed: Option<String>,
    /// Whether to believe it; null where it failed.
    pub verdict: Option<Verdict>,
    /// The rate at which requests became due.
    pub due_per_s: Option<f64>,
    /// The rate of answers that were complete and as expected.
    pub achieved_per_s: Option<f64>,
    /// The median, from when a request was due.
    pub latency_ns_p50: Option<f64>,
    /// The 99th percentile.
    pub latency_ns_p99: Option<f64>,
    /// The 99.9th percentile.
    pub latency_ns_p999: Option<f64>,
    /// The latency at the promise's percentile, if a promise was asked for.
    pub latency_ns_kept: Option<f64>,
    /// The share of the requests that failed; null where it is not known, and in what older versions wrote.
    #[serde(default)]
    pub failed_share: Option<f64>,
    /// CPU time of the server per answer.
    pub server_cpu_ns_per_request: Option<f64>,
    /// CPU time of the server per second.
    pub server_cores: Option<f64>,
    /// The share of its cores that the load generator used.
    pub client_core_use: Option<f64>,
}

impl SweepTrial {
    /// Whether more requests failed than this percentile leaves out, so that the answers' percentile is not that of all requests.
    pub fn is_selection(&self, share: f64) -> bool {
        self.failed_share.is_some_and(|failed| failed > 1.0 - share)
    }

    /// Whether it was measured and is not void.
    pub fn is_sound(&self) -> bool {
        self.verdict.as_ref().is_some_and(|verdict| verdict.valid)
    }
}

/// The part of a sweep that a measurement belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The capacity, under closed load.
    Capacity,
    /// A step of the offered rate.
    Step,
    /// The rate at which all contenders are compared.
    Common,
    /// The search for the highest rate that keeps a promise.
    Search,
}

/// All contenders at one rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Common {
    /// The rate as a share of the slowest contender's knee, or of its capacity where it has no knee.
    pub share: f64,
    /// The contender with that knee.
    pub slowest: String,
    /// The rate.
    pub rate_per_s: f64,
    /// The contenders, each with a step of its own.
    pub contenders: Vec<CommonStep>,
}

/// One contender at the common rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommonStep {
    /// Its name.
    pub name: String,
    /// The measurements there; `share` is that of its own capacity.
    #[serde(flatten)]
    pub step: Step,
}

/// The answer of the search for the highest rate that keeps a promise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// The promise as it was asked for.
    pub promise: String,
    /// The outcome of the search.
    pub outcome: KeptOutcome,
    /// The highest rate; null where it is outside of what was tried.
    pub rate_per_s: Option<f64>,
    /// The lower bound of that rate, with 95 %; null where even the lowest rate that was tried does not keep the promise.
    pub low_per_s: Option<f64>,
    /// The upper bound of that rate, with 95 %; null where the highest rate that was tried keeps the promise.
    pub high_per_s: Option<f64>,
    /// The number of sound measurements that the answer is made of, those of the steps included.
    pub trials: usize,
    /// Why the search ended.
    pub ended: String,
}

/// The outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeptOutcome {
    /// The rate and its interval are known.
    Found,
    /// Even the lowest rate that was tried does not keep it.
    LowestDoesNot,
    /// Even the capacity keeps it: the promise is not what limits this server.
    CapacityKeeps,
    /// Too few sound measurements.
    Unknown,
}

/// A promise: a percentile of the latency below a bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// The promise as it was asked for: `p99 < 10ms`.
    pub text: String,
    /// The percentile as a share: 0.99.
    pub quantile: f64,
    /// The bound on the latency.
    pub bound_ns: f64,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why a text is no promise.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PromiseError {
    /// The text has no `<`.
    #[error("`{0}` has no <: write a percentile and its bound, such as 'p99 < 10ms'")]
    Shape(String),
    /// The text has no percentile.
    #[error("`{0}` is not a percentile: use p50 to p9999, such as p95, p99 or p999 (99.9 %)")]
    Percentile(String),
    /// The text has no time.
    #[error("`{0}` is not a bound: must be a time above 0 and at most 1min, such as 500us, 10ms or 1s")]
    Bound(String),
}

impl FromStr for Promise {
    type Err = PromiseError;

    /// Reads `p99 < 10ms`, spaces or none. `p999` is 99.9 %, `p9999` is 99.99 %.
    fn from_str(text: &str) -> Result<Self, PromiseError> {
        let (percentile, bound) = text.split_once('<').ok_or_else(|| PromiseError::Shape(text.to_owned()))?;
        let (percentile, bound) = (percentile.trim(), bound.trim_start_matches('=').trim());
        let digits = percentile.strip_prefix('p').filter(|d| (2..=4).contains(&d.len()));
        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_digit()));
        let quantile = digits.and_then(|d| format!("0.{d}").parse::<f64>().ok()).filter(|q| *q >= 0.5);
        let quantile = quantile.ok_or_else(|| PromiseError::Percentile(percentile.to_owned()))?;
        let time = humantime::parse_duration(bound).ok();
        let time = time.filter(|t| !t.is_zero() && *t <= std::time::Duration::from_mins(1));
        let bound_ns = time.ok_or_else(|| PromiseError::Bound(bound.to_owned()))?.as_nanos() as f64;
        Ok(Self { text: format!("{percentile} < {bound}"), quantile, bound_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_read_and_nonsense_is_refused_by_its_part() {
        let read = |text: &str| text.parse::<Promise>().map(|p| (p.text, p.quantile, p.bound_ns));
        assert_eq!(read("p99 < 10ms"), Ok(("p99 < 10ms".to_owned(), 0.99, 10e6)));
        assert_eq!(read("p9999<1s"), Ok(("p9999 < 1s".to_owned(), 0.9999, 1e9)));
        assert_eq!(read("p50<=500us").map(|p| (p.1, p.2)), Ok((0.5, 500e3)));
        for (text, part) in [
            ("p99 10ms", "no <"),
            ("p49 < 1ms", "percentile"),
            ("p5 < 1ms", "percentile"),
            ("p99999 < 1ms", "percentile"),
            ("p9x < 1ms", "percentile"),
            ("max < 1ms", "percentile"),
            ("p99 < 0s", "bound"),
            ("p99 < fast", "bound"),
            ("p99 < 2h", "bound"),
            ("", "no <"),
        ] {
            let error = text.parse::<Promise>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_spread_is_the_median_and_the_extremes() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Some(Spread { median: 2.0, low: 1.0, high: 3.0, n: 3 }));
    }
}
