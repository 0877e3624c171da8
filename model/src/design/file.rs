//! `[design]` in a study's file and in a stored run, and the check that it does not contradict itself. Keys that a file leaves out have
//! defaults; [`crate::Design`] has them filled in.

use crate::checked;
use crate::design::Design as Resolved;
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The largest number of rounds of a run.
const MOST_ROUNDS: usize = 100;

const WARMUP: Duration = Duration::from_millis(200);
const MEASURE: Duration = Duration::from_secs(2);

const ROUNDS: [usize; 2] = [4, 13];

/// How much is measured, and when to stop. Several servers are alive in a heat and are loaded in turns; in a round, every contender is
/// started afresh in one heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// `[at least, at most]`: the smallest and the largest number of rounds, `[4, 13]` by default. The run may end after 4, 5, 6, 8, 10 and
    /// 13 rounds (each look comes about a quarter later than the one before), and ends after the largest number.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::rounds_or_none")]
    #[schemars(inner(range(min = 1)))]
    rounds: Option<[usize; 2]>,
    /// The largest number of contenders that are alive together in a heat, 6 by default. With 1, each is alive with nothing but the hub.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::heat")]
    #[schemars(range(min = 1, max = 12))]
    heat: Option<usize>,
    /// The length of one contender's turn in a heat, from `"20ms"` to `"2s"`; `"100ms"` by default. The turns of a slow server are longer.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "slice")]
    #[schemars(schema_with = "checked::duration::schema")]
    slice: Option<Duration>,
    /// No longer understood: drome measures in rounds of heats.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    blocks: Option<serde::de::IgnoredAny>,
    /// The shortest load before the measurement, which is not counted: `"200ms"` by default, longer for a server that compiles while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "checked::duration_or_none")]
    #[schemars(schema_with = "checked::duration::schema")]
    warmup: Option<Duration>,
    /// The longest load before the measurement; `"120s"` by default. A server that has not settled by then is measured and marked, but not
    /// ranked.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "checked::duration_or_none")]
    #[schemars(schema_with = "checked::duration::schema")]
    warmup_limit: Option<Duration>,
    /// The length of the counted load of one start in one cell: `"2s"` by default.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "checked::duration_or_none")]
    #[schemars(schema_with = "checked::duration::schema")]
    measure: Option<Duration>,
    /// Stop as soon as every contender is certainly faster or slower than the first contender (in a race) or the reference (in a study).
    #[serde(default)]
    decide: bool,
    /// With `decide`: the share of the first contender's speed that another may lose. The run stops as soon as every contender is
    /// certainly slower by more than that, or certainly not.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::margin_or_none")]
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0))]
    margin: Option<f64>,
    /// The figure by which the run decides and contenders are ranked. Under open load `rate` means `p99`: a server that
    /// does not fall behind has the offered rate, however fast it is.
    #[serde(default)]
    metric: Metric,
    /// Stop as soon as the intervals of the ratios of neighbours in the ranking that are neither decided nor equal are within this share of
    /// them, 0.03 by default.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::share_or_none")]
    #[schemars(range(min = 0.0001, max = 0.9999))]
    precision: Option<f64>,
    /// The longest time of the run: a heat that would exceed it is not started.
    #[serde(with = "checked::duration")]
    #[schemars(schema_with = "checked::duration::schema")]
    budget: Duration,
}

/// The length of a slice, which may be absent.
mod slice {
    use super::{Duration, Resolved, checked};
    use serde::{Deserializer, de::Error};

    pub use checked::duration_or_none::serialize;

    /// Reads `"100ms"`. In less than 20 ms, servers with a scheduler of their own only wake up; a slice of more than 2 s is hardly ever
    /// undisturbed.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let slice = checked::duration::deserialize(from)?;
        if (Resolved::LEAST_SLICE..=Duration::from_secs(2)).contains(&slice) {
            return Ok(Some(slice));
        }
        let written = humantime::format_duration(slice);
        Err(D::Error::custom(format!("{written} is out of range: must be a slice from 20ms to 2s")))
    }
}

impl From<Resolved> for Design {
    fn from(design: Resolved) -> Self {
        Self {
            rounds: Some(design.rounds),
            heat: Some(design.heat),
            slice: Some(design.slice),
            blocks: None,
            warmup: Some(design.warmup),
            warmup_limit: Some(design.warmup_limit),
            measure: Some(design.measure),
            decide: design.decide,
            margin: design.margin,
            metric: design.metric,
            precision: Some(design.precision),
            budget: design.budget,
        }
    }
}

impl TryFrom<Design> for Resolved {
    type Error = String;

    fn try_from(file: Design) -> Result<Self, String> {
        if file.blocks.is_some() {
            return Err("`blocks` is no longer understood: write `rounds = [4, 13]`, and `heat = 1` to have one contender alive at a time"
                .to_owned());
        }
        let rounds = file.rounds.unwrap_or(ROUNDS);
        if rounds[1] > MOST_ROUNDS {
            return Err(format!("{rounds:?} is out of range: must be at most {MOST_ROUNDS} rounds"));
        }
        let design = Self {
            rounds,
            heat: file.heat.unwrap_or(Self::HEAT),
            slice: file.slice.unwrap_or(Self::SLICE),
            warmup: file.warmup.unwrap_or(WARMUP),
            warmup_limit: file.warmup_limit.unwrap_or(Self::WARMUP_LIMIT),
            measure: file.measure.unwrap_or(MEASURE),
            decide: file.decide,
            margin: file.margin,
            metric: file.metric,
            precision: file.precision.unwrap_or(Resolved::PRECISION),
            budget: file.budget,
        };
        let written = humantime::format_duration;
        if design.warmup_limit < design.warmup {
            let (limit, warmup) = (written(design.warmup_limit), written(design.warmup));
            return Err(format!("`warmup_limit` ({limit}) is shorter than `warmup` ({warmup})"));
        }
        let least = design.slice * Self::LEAST_SLICES;
        if design.measure < least {
            return Err(format!(
                "`measure` ({}) has room for fewer than {} slices of {}: use at least {}",
                written(design.measure),
                Self::LEAST_SLICES,
                written(design.slice),
                written(least)
            ));
        }
        Ok(design)
    }
}
