//! The offered rate of open load, which may change during the measurement.

use crate::checked::TIME;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use stats::rate_profile::{RateProfile, RateSegment};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The highest rate: a request every nanosecond.
const MOST_PER_S: f64 = 1e9;

/// The longest ramp or step.
const LONGEST: Duration = Duration::from_hours(24);

/// The largest number of steps.
const MOST_STEPS: usize = 1000;

/// Requests/s over the measured window. In files a number or, as text, a rate such as `2.5k`, a ramp or steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// The same rate all the time.
    Constant(f64),
    /// A linear rise or fall, then the last rate: `1k..20k/30s`.
    Ramp {
        /// The rate at the start of the window.
        from_per_s: f64,
        /// The rate at the end of the ramp and afterwards.
        to_per_s: f64,
        /// The length of the ramp.
        over: Duration,
    },
    /// One rate after another, the last one without end: `1k,5k,20k/10s`.
    Steps {
        /// The rates, at least one.
        per_s: Vec<f64>,
        /// The length of each step.
        each: Duration,
    },
}

/// Why a text can't be read as a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// The text is not a rate.
    #[error("`{0}`: must be a rate above 0 and at most 1e9 per second, such as 500, 2.5k or 1M")]
    Rate(String),
    /// The text does not have the form of a ramp.
    #[error("`{0}`: write a ramp like 1k..20k/30s: from, to, and the time that it takes")]
    Ramp(String),
    /// The text does not have the form of steps.
    #[error("`{0}`: write steps like 1k,5k,20k/10s: at least 1 and at most 1000 rates, and the time of each")]
    Steps(String),
    /// The text is not a time.
    #[error("`{0}`: must be a time above 0 and at most 24h, such as 500ms, 30s or 2min")]
    Time(String),
}

impl Rate {
    /// Reads `500`, `2.5k` or `1M`.
    pub fn constant(text: &str) -> Result<Self, RateError> {
        per_s(text).map(Self::Constant)
    }

    /// Reads `1k..20k/30s`.
    pub fn ramp(text: &str) -> Result<Self, RateError> {
        let whole = || RateError::Ramp(text.to_owned());
        let (rates, time) = text.rsplit_once('/').ok_or_else(whole)?;
        let (from, to) = rates.split_once("..").ok_or_else(whole)?;
        Ok(Self::Ramp { from_per_s: per_s(from)?, to_per_s: per_s(to)?, over: length(time)? })
    }

    /// Reads `1k,5k,20k/10s`.
    pub fn steps(text: &str) -> Result<Self, RateError> {
        let whole = || RateError::Steps(text.to_owned());
        let (rates, time) = text.rsplit_once('/').ok_or_else(whole)?;
        let count = rates.split(',').count();
        if rates.trim().is_empty() || count > MOST_STEPS {
            return Err(whole());
        }
        Ok(Self::Steps { per_s: rates.split(',').map(per_s).collect::<Result<_, _>>()?, each: length(time)? })
    }

    /// The rate over time: `lead_in` at the first rate, then the rate itself.
    pub fn profile(&self, lead_in: Duration) -> RateProfile {
        let segment = |from_per_s: f64, to_per_s: f64, length: Duration| RateSegment {
            from_per_s,
            to_per_s,
            length_ns: length.as_nanos() as f64,
        };
        let first = self.first_per_s();
        let mut segments: Vec<RateSegment> = match self {
            Self::Constant(_) => Vec::new(),
            Self::Ramp { from_per_s, to_per_s, over } => vec![segment(*from_per_s, *to_per_s, *over)],
            Self::Steps { per_s, each } => per_s.iter().map(|rate| segment(*rate, *rate, *each)).collect(),
        };
        if !segments.is_empty() && !lead_in.is_zero() {
            segments.insert(0, segment(first, first, lead_in));
        }
        let last = segments.last().map_or(first, |segment| segment.to_per_s);
        RateProfile::new(&segments, last)
    }

    /// The mean rate over the first nanoseconds of the window.
    pub fn mean_per_s(&self, window_ns: u64) -> f64 {
        match self {
            Self::Constant(per_s) => *per_s,
            _ if window_ns == 0 => self.first_per_s(),
            _ => self.profile(Duration::ZERO).count_until(window_ns as f64) * 1e9 / window_ns as f64,
        }
    }

    /// The rate of each of `n` that share it evenly.
    #[must_use]
    pub fn shared_by(&self, n: usize) -> Self {
        let part = |per_s: f64| per_s / n.max(1) as f64;
        match self {
            Self::Constant(per_s) => Self::Constant(part(*per_s)),
            Self::Ramp { from_per_s, to_per_s, over } => {
                Self::Ramp { from_per_s: part(*from_per_s), to_per_s: part(*to_per_s), over: *over }
            }
            Self::Steps { per_s, each } => {
                Self::Steps { per_s: per_s.iter().map(|rate| part(*rate)).collect(), each: *each }
            }
        }
    }

    /// The time until the rate does not change any more; `None` where it never changes.
    pub fn length(&self) -> Option<Duration> {
        match self {
            Self::Constant(_) => None,
            Self::Ramp { over, .. } => Some(*over),
            Self::Steps { per_s, each } => Some(*each * per_s.len() as u32),
        }
    }

    fn first_per_s(&self) -> f64 {
        match self {
            Self::Constant(per_s) | Self::Ramp { from_per_s: per_s, .. } => *per_s,
            Self::Steps { per_s, .. } => per_s.first().copied().unwrap_or(f64::NAN),
        }
    }
}

impl From<f64> for Rate {
    fn from(per_s: f64) -> Self {
        Self::Constant(per_s)
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        match text {
            _ if text.contains("..") => Self::ramp(text),
            _ if text.contains('/') => Self::steps(text),
            _ => Self::constant(text),
        }
    }
}

/// Writes a rate as it is read, to the last digit.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |duration: &Duration| humantime::format_duration(*duration).to_string().replace(' ', "");
        match self {
            Self::Constant(per_s) => write!(f, "{per_s}"),
            Self::Ramp { from_per_s, to_per_s, over } => write!(f, "{from_per_s}..{to_per_s}/{}", time(over)),
            Self::Steps { per_s, each } => {
                let rates: Vec<String> = per_s.iter().map(ToString::to_string).collect();
                write!(f, "{}/{}", rates.join(","), time(each))
            }
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(per_s) => to.serialize_f64(*per_s),
            shaped => to.collect_str(shaped),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumberOrText)
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let rate = r"\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[kKM]?\s*";
        json_schema!({
            "description": "Requests/s: a number or, as text, a rate such as 2.5k, a ramp or steps.",
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 0, "maximum": MOST_PER_S },
                { "type": "string", "pattern": format!(r"^{rate}((\.\.{rate}|(,{rate})*)/{TIME})?$") },
            ],
            "examples": [500, "2.5k", "1k..20k/30s", "1k,5k,20k/10s"],
        })
    }
}

struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Rate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rate per second, a ramp such as \"1k..20k/30s\" or steps such as \"1k,5k,20k/10s\"")
    }

    fn visit_f64<E: Error>(self, per_s: f64) -> Result<Rate, E> {
        checked(per_s).map(Rate::Constant).ok_or_else(|| E::custom(RateError::Rate(per_s.to_string())))
    }

    fn visit_i64<E: Error>(self, per_s: i64) -> Result<Rate, E> {
        self.visit_f64(per_s as f64)
    }

    fn visit_u64<E: Error>(self, per_s: u64) -> Result<Rate, E> {
        self.visit_f64(per_s as f64)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Rate, E> {
        text.parse().map_err(E::custom)
    }
}

fn per_s(text: &str) -> Result<f64, RateError> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1e3),
        Some((at, 'M')) => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    let value = number.parse::<f64>().ok().map(|n| n * unit);
    value.and_then(checked).ok_or_else(|| RateError::Rate(text.to_owned()))
}

fn checked(per_s: f64) -> Option<f64> {
    (per_s > 0.0 && per_s <= MOST_PER_S).then_some(per_s)
}

fn length(text: &str) -> Result<Duration, RateError> {
    let length = humantime::parse_duration(text.trim()).ok();
    length.filter(|d| !d.is_zero() && *d <= LONGEST).ok_or_else(|| RateError::Time(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(from_per_s: f64, to_per_s: f64, seconds: u64) -> Rate {
        Rate::Ramp { from_per_s, to_per_s, over: Duration::from_secs(seconds) }
    }

    #[test]
    fn rates_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Rate>().unwrap();
        for (text, per_s) in [("500", 500.0), ("2.5k", 2500.0), ("1K", 1000.0), ("1M", 1e6), (" 3 ", 3.0)] {
            assert_eq!(read(text), Rate::Constant(per_s), "{text}");
        }
        assert_eq!(read("1k..20k/30s"), ramp(1e3, 2e4, 30));
        assert_eq!(read("2.5k .. 100 / 2min"), ramp(2500.0, 100.0, 120), "down as well as up");
        let steps = Rate::Steps { per_s: vec![1e3, 5e3, 2e4], each: Duration::from_secs(10) };
        assert_eq!(read("1k,5k,20k/10s"), steps);
    }

    #[test]
    fn what_is_no_rate_is_told_what_is_allowed() {
        let cases = [
            ("0", "above 0"),
            ("-5", "above 0"),
            ("1e10", "at most 1e9"),
            ("NaN", "above 0"),
            ("inf", "above 0"),
            ("k", "above 0"),
            ("", "above 0"),
            ("0..5k/10s", "`0`: must be a rate above 0"),
            ("5k..0/10s", "above 0"),
            ("5k..-1k/10s", "`-1k`"),
            ("1k..2k", "like 1k..20k/30s"),
            ("1k..2k/0s", "a time above 0"),
            ("1k..2k/", "a time above 0"),
            ("1k..2k/fast", "`fast`: must be a time"),
            ("1k..2k/25h", "at most 24h"),
            ("/10s", "like 1k,5k,20k/10s"),
            ("1k,,5k/10s", "above 0"),
            ("1k,5k/0s", "a time above 0"),
        ];
        for (text, words) in cases {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        assert!(Rate::ramp("1k/3s").is_err() && Rate::steps("1k,2k").is_err());
        let many = format!("{}1/1s", "1,".repeat(1000));
        assert!(many.parse::<Rate>().unwrap_err().to_string().contains("at most 1000"));
    }

    #[derive(Serialize, Deserialize)]
    struct File {
        rate: Rate,
    }

    #[test]
    fn a_rate_is_written_as_it_is_read() {
        for text in ["1000..20000/30s", "0.1,1000000,20000/1m30s", "2500"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        for text in ["rate = 2500.0\n", "rate = \"1000..20000/30s\"\n", "rate = \"1000,5000/10s\"\n"] {
            let file: File = toml::from_str(text).unwrap();
            assert_eq!(toml::to_string(&file).unwrap(), text);
        }
        assert_eq!(toml::from_str::<File>("rate = 1000").unwrap().rate, Rate::Constant(1000.0));
        for (wrong, words) in
            [("0", "above 0"), ("\"1k..2k\"", "1k..20k/30s"), ("true", "a rate per second, a ramp")]
        {
            let error = toml::from_str::<File>(&format!("rate = {wrong}")).err().unwrap().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn the_mean_is_the_integral_over_the_window() {
        let mean =
            |text: &str, seconds: u64| text.parse::<Rate>().unwrap().mean_per_s(seconds * 1_000_000_000);
        assert_eq!(mean("700", 3), 700.0);
        assert_eq!(mean("1k..3k/10s", 10).round(), 2000.0);
        assert_eq!(mean("1k..3k/10s", 5).round(), 1500.0, "cut off half way up");
        assert_eq!(mean("3k..1k/10s", 20).round(), 1500.0, "then the last rate holds");
        assert_eq!(mean("1k,2k,6k/1s", 3).round(), 3000.0);
        assert_eq!(mean("1k..3k/10s", 0), 1000.0);
    }
}
