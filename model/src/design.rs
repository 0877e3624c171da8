//! How much a study measures, and when it stops: in rounds of heats of live servers that are loaded in turns. It is `[design]` in a study's
//! file and in a stored run; keys that a file leaves out have defaults.

use crate::checked;
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use std::time::Duration;

/// How much is measured, and when to stop. Several servers are alive in a heat and are loaded in turns; in a round, every contender is
/// started afresh in one heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// `[at least, at most]`: the smallest and the largest number of rounds, `[4, 13]` by default. The run may end after 4, 5, 6, 8, 10 and
    /// 13 rounds (each look comes about a quarter later than the one before), and ends after the largest number.
    #[serde(default = "rounds", deserialize_with = "checked::rounds")]
    #[schemars(inner(range(min = 1)))]
    pub rounds: [usize; 2],
    /// The largest number of contenders that are alive together in a heat, 6 by default. With 1, each is alive with nothing but the hub.
    #[serde(default = "heat", deserialize_with = "checked::heat")]
    #[schemars(range(min = 1, max = 12))]
    pub heat: usize,
    /// The length of one contender's turn in a heat, from `"20ms"` to `"2s"`; `"100ms"` by default. The turns of a slow server are longer.
    #[serde(
        default = "slice",
        serialize_with = "checked::duration::serialize",
        deserialize_with = "checked_slice"
    )]
    #[schemars(schema_with = "checked::duration::schema")]
    pub slice: Duration,
    /// The shortest load before the measurement, which is not counted: `"200ms"` by default, longer for a server that compiles while it runs.
    #[serde(default = "warmup", with = "checked::duration")]
    #[schemars(schema_with = "checked::duration::schema")]
    pub warmup: Duration,
    /// The longest load before the measurement; `"120s"` by default. A server that has not settled by then is measured and marked, but not
    /// ranked.
    #[serde(default = "warmup_limit", with = "checked::duration")]
    #[schemars(schema_with = "checked::duration::schema")]
    pub warmup_limit: Duration,
    /// The length of the counted load of one start in one cell: `"2s"` by default.
    #[serde(default = "measure", with = "checked::duration")]
    #[schemars(schema_with = "checked::duration::schema")]
    pub measure: Duration,
    /// Stop as soon as every contender is certainly faster or slower than the first contender (in a race) or the reference (in a study).
    #[serde(default)]
    pub decide: bool,
    /// With `decide`: the share of the first contender's speed that another may lose. The run stops as soon as every contender is
    /// certainly slower by more than that, or certainly not.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::margin_or_none")]
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    pub margin: Option<f64>,
    /// The figure by which the run decides and contenders are ranked. Under open load `rate` means `p99`: a server that
    /// does not fall behind has the offered rate, however fast it is.
    #[serde(default)]
    pub metric: Metric,
    /// Stop as soon as the intervals of the ratios of neighbours in the ranking that are neither decided nor equal are within this share of
    /// them, 0.03 by default.
    #[serde(default = "precision", deserialize_with = "checked::share")]
    #[schemars(range(min = 0.0001, max = 0.9999))]
    pub precision: f64,
    /// The longest time of the run: a heat that would exceed it is not started.
    #[serde(with = "checked::duration")]
    #[schemars(schema_with = "checked::duration::schema")]
    pub budget: Duration,
}

impl Design {
    /// The shortest slice that is allowed: of a shorter one, nothing is left once its cold start is dropped.
    pub const LEAST_SLICE: Duration = Duration::from_millis(20);
    /// The smallest number of slices from which a start gets a figure of any use.
    pub const LEAST_SLICES: u32 = 5;
    /// The largest number of contenders that are alive together, where nothing else is said.
    pub const HEAT: usize = 6;
    /// The length of one contender's turn, where nothing else is said.
    pub const SLICE: Duration = Duration::from_millis(100);
    /// How well a figure is to be known, as a share of it, where nothing else is said.
    pub const PRECISION: f64 = 0.03;
    /// The longest load before the measurement, where nothing else is said.
    pub const WARMUP_LIMIT: Duration = Duration::from_mins(2);

    /// The number of whole cycles that a heat counts in each cell.
    pub fn cycles(&self) -> usize {
        let cycles = self.measure.as_nanos().div_ceil(self.slice.as_nanos().max(1));
        usize::try_from(cycles).unwrap_or(usize::MAX).max(1)
    }

    /// The numbers of rounds after which the run checks whether it has measured enough; the last is the largest number of rounds.
    pub fn looks(&self) -> Vec<usize> {
        stats::heats::looks(self.rounds)
    }

    /// Reads a design, and refuses one that contradicts itself.
    ///
    /// # Errors
    /// When a key is unknown or wrong, or two of them contradict each other.
    pub fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let design = Self::deserialize(from).map_err(|error| {
            let is_of_blocks = error.to_string().contains("unknown field `blocks`");
            if is_of_blocks { D::Error::custom(OF_BLOCKS) } else { error }
        })?;
        design.contradiction().map_or(Ok(design), |why| Err(D::Error::custom(why)))
    }

    fn contradiction(&self) -> Option<String> {
        let written = humantime::format_duration;
        if self.warmup_limit < self.warmup {
            let (limit, warmup) = (written(self.warmup_limit), written(self.warmup));
            return Some(format!("`warmup_limit` ({limit}) is shorter than `warmup` ({warmup})"));
        }
        let least = self.slice * Self::LEAST_SLICES;
        (self.measure < least).then(|| {
            format!(
                "`measure` ({}) has room for fewer than {} slices of {}: use at least {}",
                written(self.measure),
                Self::LEAST_SLICES,
                written(self.slice),
                written(least)
            )
        })
    }
}

/// What a file is told that says `blocks`, in which drome does not measure.
const OF_BLOCKS: &str = "`blocks` is no longer understood: write `rounds = [4, 13]`, and `heat = 1` to have one contender alive at a time";

fn rounds() -> [usize; 2] {
    [4, 13]
}

fn heat() -> usize {
    Design::HEAT
}

fn slice() -> Duration {
    Design::SLICE
}

fn warmup() -> Duration {
    Duration::from_millis(200)
}

fn warmup_limit() -> Duration {
    Design::WARMUP_LIMIT
}

fn measure() -> Duration {
    Duration::from_secs(2)
}

fn precision() -> f64 {
    Design::PRECISION
}

/// Reads the length of a slice. In less than 20 ms, servers with a scheduler of their own only wake up; a slice of more than 2 s is hardly
/// ever undisturbed.
fn checked_slice<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let slice = checked::duration::deserialize(from)?;
    if (Design::LEAST_SLICE..=Duration::from_secs(2)).contains(&slice) {
        return Ok(slice);
    }
    let written = humantime::format_duration(slice);
    Err(D::Error::custom(format!("{written} is out of range: must be a slice from 20ms to 2s")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Design, String> {
        Design::read(toml::Deserializer::parse(text).unwrap()).map_err(|e| e.message().to_owned())
    }

    const ROUNDS: &str = "rounds = [4, 13]\nbudget = \"60min\"\n";

    #[test]
    fn it_has_defaults_and_reads_as_it_was_written() {
        let design = read(ROUNDS).unwrap();
        assert_eq!((design.rounds, design.heat, design.slice), ([4, 13], Design::HEAT, Design::SLICE));
        assert_eq!((design.measure, design.warmup), (Duration::from_secs(2), Duration::from_millis(200)));
        assert_eq!((design.warmup_limit, design.cycles()), (Design::WARMUP_LIMIT, 20));
        assert_eq!(read(&toml::to_string(&design).unwrap()).unwrap(), design);
        let own = format!("{ROUNDS}heat = 1\nslice = \"50ms\"\nmeasure = \"3s\"\nwarmup_limit = \"30s\"\n");
        let design = read(&own).unwrap();
        assert_eq!((design.heat, design.cycles()), (1, 60));
        assert_eq!(read(&toml::to_string(&design).unwrap()).unwrap(), design);
    }

    #[test]
    fn what_can_not_be_measured_is_refused_and_what_is_allowed_is_said() {
        let cases = [
            (format!("{ROUNDS}heat = 0"), "0 is out of range: must be a heat of 1 to 12 contenders"),
            (format!("{ROUNDS}heat = 1000"), "1000 is out of range: must be a heat of 1 to 12"),
            (format!("{ROUNDS}slice = \"0s\""), "0s is out of range: must be a slice from 20ms to 2s"),
            (format!("{ROUNDS}slice = \"1h\""), "1h is out of range: must be a slice from 20ms to 2s"),
            (format!("{ROUNDS}measure = \"400ms\""), "`measure` (400ms) has room for fewer than 5 slices"),
            (
                format!("{ROUNDS}warmup = \"2min\"\nwarmup_limit = \"1min\""),
                "`warmup_limit` (1m) is shorter than `warmup` (2m)",
            ),
            (
                format!("{ROUNDS}blocks = [6, 12]"),
                "`blocks` is no longer understood: write `rounds = [4, 13]`",
            ),
            (ROUNDS.replace("[4, 13]", "[4, 101]"), "[4, 101] is out of range: must be at most 100 rounds"),
            (ROUNDS.replace("[4, 13]", "[0, 12]"), "[0, 12] is out of range"),
            (ROUNDS.replace("budget = \"60min\"\n", ""), "missing field `budget`"),
        ];
        for (text, why) in cases {
            let error = read(&text).unwrap_err();
            assert!(error.contains(why), "{text}\n{error}");
        }
    }
}
