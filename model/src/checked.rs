//! Values with a range, checked while a file is read, so that the error carries the line.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::collections::BTreeMap;
use std::time::Duration;

/// The largest number of rounds of a run.
const MOST_ROUNDS: i64 = 100;

/// A whole number of at least 1.
pub fn positive<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    match i64::deserialize(from)? {
        n if n >= 1 => Ok(n as usize),
        n => Err(D::Error::custom(format!("{n} is out of range: must be a whole number of at least 1"))),
    }
}

/// A whole number of at least 1, which may be absent.
pub fn positive_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    positive(from).map(Some)
}

/// A precision as a share, from 0.0001 to 0.9999.
pub fn share<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    within(from, 1e-4, 0.9999, "a share from 0.0001 to 0.9999, such as 0.03")
}

/// The share of its speed that a contender may lose: from 0 to below 1, or absent.
pub fn margin_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let n = f64::deserialize(from)?;
    if (0.0..1.0).contains(&n) {
        return Ok(Some(n));
    }
    Err(D::Error::custom(format!("{n} is out of range: must be a share from 0 to below 1, such as 0.02")))
}

/// The number of contenders in a heat.
pub fn heat<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    match i64::deserialize(from)? {
        n @ 1..=12 => Ok(n as usize),
        n => {
            let allowed = "must be a heat of 1 to 12 contenders";
            Err(D::Error::custom(format!("{n} is out of range: {allowed}")))
        }
    }
}

fn within<'de, D: Deserializer<'de>>(from: D, low: f64, high: f64, allowed: &str) -> Result<f64, D::Error> {
    match f64::deserialize(from)? {
        x if (low..=high).contains(&x) => Ok(x),
        x => Err(D::Error::custom(format!("{x} is out of range: must be {allowed}"))),
    }
}

/// The smallest and the largest number of rounds.
pub fn rounds<'de, D: Deserializer<'de>>(from: D) -> Result<[usize; 2], D::Error> {
    match <[i64; 2]>::deserialize(from)? {
        [low, high] if high > MOST_ROUNDS => Err(D::Error::custom(format!(
            "[{low}, {high}] is out of range: must be at most {MOST_ROUNDS} rounds"
        ))),
        [low, high] if low >= 1 && low <= high => Ok([low as usize, high as usize]),
        [low, high] => {
            let allowed = "must be [at least, at most] with 1 ≤ at least ≤ at most";
            Err(D::Error::custom(format!("[{low}, {high}] is out of range: {allowed}")))
        }
    }
}

/// A regular expression for JSON Schema that matches a time such as `2s` or `1min 30s`, with the units that `humantime` knows.
pub const TIME: &str = concat!(
    r"(\s*[0-9]+(\.[0-9]+)?\s*(nanos|nsec|ns|usec|us|µs|millis|msec|ms|seconds|second|secs|sec|s|",
    r"minutes|minute|mins|min|m|hours|hour|hrs|hr|h|days|day|d|weeks|week|wks|wk|w|months|month|M|",
    r"years|year|yrs|yr|y))+\s*"
);

/// Durations in the form `500ms`, `2s`, `10min`.
pub mod duration {
    use super::{Deserialize, Deserializer, Duration, Error, Serializer};
    use super::{Schema, SchemaGenerator, TIME, json_schema};

    /// The JSON Schema of what is read.
    pub fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": format!("^(0|{TIME})$"),
            "examples": ["500ms", "2s", "10min"],
        })
    }

    /// Reads `"2s"`.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        humantime::parse_duration(&text).map_err(|_| {
            D::Error::custom(format!("`{text}` is not a duration: write it like 500ms, 2s or 10min"))
        })
    }

    /// Writes `"2s"`.
    pub fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&humantime::format_duration(*value).to_string())
    }
}

/// A histogram in a text file: its own encoding, in base 64.
pub mod histogram {
    use super::{Deserialize, Deserializer, Error, Serializer};
    use super::{Schema, SchemaGenerator, json_schema};
    use base64::{Engine, prelude::BASE64_STANDARD};
    use stats::Histogram;

    /// The JSON Schema of what is written.
    pub fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentEncoding": "base64" })
    }

    /// Reads base 64.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(D::Error::custom)?;
        Histogram::from_bytes(&bytes).ok_or_else(|| D::Error::custom("not a histogram"))
    }

    /// Writes base 64.
    pub fn serialize<S: Serializer>(value: &Histogram, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(value.to_bytes()))
    }
}

/// Bytes, in base 64.
pub mod bytes {
    use super::{Deserialize, Deserializer, Error, Serializer};
    use base64::{Engine, prelude::BASE64_STANDARD};

    /// Reads base 64.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
    }

    /// Writes base 64.
    pub fn serialize<S: Serializer>(value: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(value))
    }
}

/// Bytes that may be absent, in base 64.
pub mod bytes_or_none {
    use super::{Deserialize, Deserializer, Error, Serializer, bytes};
    use base64::{Engine, prelude::BASE64_STANDARD};

    /// Reads base 64, or null.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| BASE64_STANDARD.decode(text).map_err(D::Error::custom)).transpose()
    }

    /// Writes base 64, or null.
    #[expect(clippy::ref_option, reason = "serde gives it so")]
    pub fn serialize<S: Serializer>(value: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => bytes::serialize(value, to),
            None => to.serialize_none(),
        }
    }
}

/// The figures of a page, which must be finite numbers.
pub fn finite<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Finite,
{
    let figures = T::deserialize(deserializer)?;
    if figures.is_finite() { Ok(figures) } else { Err(D::Error::custom("a figure must be a finite number")) }
}

/// Values whose numbers can be checked to be finite.
pub trait Finite {
    /// Whether all its numbers are finite.
    fn is_finite(&self) -> bool;
}

impl Finite for f64 {
    fn is_finite(&self) -> bool {
        f64::is_finite(*self)
    }
}

impl<T: Finite> Finite for BTreeMap<String, T> {
    fn is_finite(&self) -> bool {
        self.values().all(T::is_finite)
    }
}
