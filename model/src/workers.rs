//! The number of workers of a contender: a number, or a formula of the cores that servers have. A formula holds on every
//! machine; a number is for what does not depend on the machine.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};

/// The number of workers of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// A fixed number.
    Count(usize),
    /// `each` for every core that servers have, and `more` besides: `"cores"`, `"2 x cores"`, `"2 x cores + 1"`.
    OfCores {
        /// The number of workers per core, at least 1.
        each: usize,
        /// The number of workers besides.
        more: usize,
    },
}

/// The word for the cores that servers have.
const CORES: &str = "cores";

/// The allowed values, for messages.
const ALLOWED: &str = "a whole number of at least 1, \"cores\", \"2 x cores\" or \"2 x cores + 1\"";

impl Workers {
    /// The number of workers where servers have this number of cores.
    pub fn on(self, cores: usize) -> usize {
        match self {
            Self::Count(n) => n,
            Self::OfCores { each, more } => each.saturating_mul(cores.max(1)).saturating_add(more),
        }
    }

    /// Reads a formula.
    fn of(text: &str) -> Option<Self> {
        let (product, more) = match text.split_once('+') {
            Some((product, more)) => (product, more.trim().parse().ok()?),
            None => (text, 0),
        };
        let each = match product.trim().split_once(" x ") {
            Some((each, CORES)) => each.trim().parse().ok().filter(|each| *each > 0)?,
            None if product.trim() == CORES => 1,
            _ => return None,
        };
        Some(Self::OfCores { each, more })
    }
}

impl Display for Workers {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Count(n) => write!(to, "{n}"),
            Self::OfCores { each: 1, more: 0 } => write!(to, "{CORES}"),
            Self::OfCores { each: 1, more } => write!(to, "{CORES} + {more}"),
            Self::OfCores { each, more: 0 } => write!(to, "{each} x {CORES}"),
            Self::OfCores { each, more } => write!(to, "{each} x {CORES} + {more}"),
        }
    }
}

impl Serialize for Workers {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(n) => n.serialize(to),
            Self::OfCores { .. } => to.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Workers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AsWorkers)
    }
}

impl JsonSchema for Workers {
    fn schema_name() -> Cow<'static, str> {
        "Workers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, or a formula of the cores that servers have.",
            "anyOf": [
                { "type": "integer", "minimum": 1 },
                { "type": "string", "pattern": r"^\s*(0*[1-9][0-9]*\s* x )?cores\s*(\+\s*[0-9]+\s*)?$" },
            ],
            "examples": [4, "cores", "2 x cores", "2 x cores + 1"],
        })
    }
}

struct AsWorkers;

impl Visitor<'_> for AsWorkers {
    type Value = Workers;

    fn expecting(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str(ALLOWED)
    }

    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Workers, E> {
        let count = usize::try_from(n).ok().filter(|n| *n > 0).map(Workers::Count);
        count.ok_or_else(|| E::custom(format!("{n} is out of range: must be {ALLOWED}")))
    }

    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Workers, E> {
        match u64::try_from(n) {
            Ok(n) => self.visit_u64(n),
            Err(_) => Err(E::custom(format!("{n} is out of range: must be {ALLOWED}"))),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Workers, E> {
        Workers::of(text).ok_or_else(|| E::custom(format!("`{text}` is not allowed: must be {ALLOWED}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_follows_the_cores_and_is_written_as_it_was_read() {
        let cases = [("cores", 4), ("2 x cores", 8), ("2 x cores + 1", 9), ("cores + 1", 5)];
        for (text, on_four) in cases {
            let workers = Workers::of(text).unwrap();
            assert_eq!((workers.on(4), workers.to_string().as_str()), (on_four, text));
        }
        assert_eq!((Workers::Count(3).on(64), Workers::of("cores").unwrap().on(0)), (3, 1));
        for wrong in ["", "core", "0 x cores", "x cores", "2 x cores + ", "2 x cores - 1", "2xcores", "2 x 2"]
        {
            assert_eq!(Workers::of(wrong), None, "{wrong}");
        }
    }
}
