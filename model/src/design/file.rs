//! `[design]` in a study's file and in a stored run, and the check that it does not contradict itself. Keys that a file leaves out have
//! defaults, which differ between heats and blocks; [`crate::Design`] has them filled in.

use crate::checked;
use crate::design::{Design as Resolved, Heats};
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The largest number of rounds of a run.
const MOST_ROUNDS: usize = 100;

const WARMUP: Duration = Duration::from_millis(200);
const MEASURE: Duration = Duration::from_secs(2);
const PRECISION: f64 = 0.03;

/// How much is measured, and when to stop: `rounds` of heats, in which several servers are alive and are loaded in turns, or
/// `blocks` of trials, each of which starts its server anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("dependencies" = { "blocks": ["warmup", "measure", "precision"] }))]
pub struct Design {
    /// The smallest and the largest number of rounds of heats. In a round, every contender is started afresh in one heat. The run may end
    /// after 4, 5, 6, 8, 10 and 13 rounds (each look comes about a quarter later than the one before), and ends after the largest number.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::blocks_or_none")]
    #[schemars(inner(range(min = 1)))]
    rounds: Option<[usize; 2]>,
    /// The largest number of contenders that are alive together in a heat; with `rounds`, 6 by default. `blocks` means 1.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::heat")]
    #[schemars(range(min = 1, max = 12))]
    heat: Option<usize>,
    /// The length of one contender's turn in a heat, from `"20ms"` to `"2s"`; `"100ms"` by default. The turns of a slow server are longer.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "slice")]
    #[schemars(schema_with = "checked::duration::schema")]
    slice: Option<Duration>,
    /// The smallest and the largest number of blocks, instead of `rounds`: each trial starts its server anew, and no other contender is
    /// alive.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::blocks_or_none")]
    #[schemars(inner(range(min = 1)))]
    blocks: Option<[usize; 2]>,
    /// The length of the load before the measurement, which is not counted. In a heat, the shortest such time: `"200ms"` by default, longer
    /// for a server that compiles while it runs. Required with `blocks`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "checked::duration_or_none")]
    #[schemars(schema_with = "checked::duration::schema")]
    warmup: Option<Duration>,
    /// The longest load before the measurement in a heat; `"120s"` by default. A server that has not settled by then is measured and
    /// marked, but not ranked.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "checked::duration_or_none")]
    #[schemars(schema_with = "checked::duration::schema")]
    warmup_limit: Option<Duration>,
    /// The length of the measurement; in a heat, of the counted load of one start in one cell: `"2s"` by default. Required with `blocks`.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "checked::duration_or_none")]
    #[schemars(schema_with = "checked::duration::schema")]
    measure: Option<Duration>,
    /// Stop as soon as every contender is certainly faster or slower than the first contender (in a race) or the reference (in a study).
    #[serde(default)]
    decide: bool,
    /// With `decide`: the share of the first contender's speed that another may lose. The run stops as soon as every contender is
    /// certainly slower by more than that, or certainly not.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::margin_or_none")]
    #[schemars(range(min = 0.0, max = 0.9999))]
    margin: Option<f64>,
    /// The figure by which the run decides and contenders are ranked. Under open load `rate` means `p99`: a server that
    /// does not fall behind has the offered rate, however fast it is.
    #[serde(default)]
    metric: Metric,
    /// Stop as soon as the intervals of these ratios are within this share of them. In heats, these are the ratios of neighbours in the
    /// ranking that are neither decided nor equal, and the default is 0.03. In blocks, they are the ratios to the reference, and it is required.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "checked::share_or_none")]
    #[schemars(range(min = 0.0001, max = 0.9999))]
    precision: Option<f64>,
    /// The longest time of the run: a trial or a heat that would exceed it is not started.
    #[serde(with = "checked::duration")]
    #[schemars(schema_with = "checked::duration::schema")]
    budget: Duration,
}

/// The length of a slice, which may be absent.
mod slice {
    use super::{Duration, Heats, checked};
    use serde::{Deserializer, de::Error};

    pub use checked::duration_or_none::serialize;

    /// Reads `"100ms"`. In less than 20 ms, servers with a scheduler of their own only wake up; a slice of more than 2 s is hardly ever
    /// undisturbed.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let slice = checked::duration::deserialize(from)?;
        if (Heats::LEAST_SLICE..=Duration::from_secs(2)).contains(&slice) {
            return Ok(Some(slice));
        }
        let written = humantime::format_duration(slice);
        Err(D::Error::custom(format!("{written} is out of range: must be a slice from 20ms to 2s")))
    }
}

impl From<Resolved> for Design {
    fn from(design: Resolved) -> Self {
        let (rounds, blocks) = match design.heats {
            Some(_) => (Some(design.blocks), None),
            None => (None, Some(design.blocks)),
        };
        Self {
            rounds,
            heat: design.heats.map(|heats| heats.size),
            slice: design.heats.map(|heats| heats.slice),
            blocks,
            warmup: Some(design.warmup),
            warmup_limit: design.heats.map(|heats| heats.warmup_limit),
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
        match (file.rounds, file.blocks) {
            (Some(_), Some(_)) => {
                Err("`blocks` and `rounds` exclude each other: use `rounds` for heats of several servers, \
                                       `blocks` for one server at a time"
                    .to_owned())
            }
            (None, Some(blocks)) => file.in_blocks(blocks),
            (Some(rounds), None) => file.in_heats(rounds),
            (None, None) => file.in_heats([4, 13]),
        }
    }
}

impl Design {
    fn in_blocks(self, blocks: [usize; 2]) -> Result<Resolved, String> {
        if let Some(size) = self.heat.filter(|size| *size > 1) {
            return Err(format!(
                "heats of {size} are counted in rounds: write `rounds = {blocks:?}` instead of `blocks`"
            ));
        }
        let of_heats = [("slice", self.slice), ("warmup_limit", self.warmup_limit)];
        if let Some((key, _)) = of_heats.iter().find(|(_, value)| value.is_some()) {
            return Err(format!(
                "`{key}` applies to heats only: write `rounds` instead of `blocks`, or remove `{key}`"
            ));
        }
        let missing = |key: &str| format!("missing field `{key}`");
        Ok(Resolved {
            blocks,
            warmup: self.warmup.ok_or_else(|| missing("warmup"))?,
            measure: self.measure.ok_or_else(|| missing("measure"))?,
            decide: self.decide,
            margin: self.margin,
            metric: self.metric,
            precision: self.precision.ok_or_else(|| missing("precision"))?,
            budget: self.budget,
            heats: None,
        })
    }

    fn in_heats(self, rounds: [usize; 2]) -> Result<Resolved, String> {
        if rounds[1] > MOST_ROUNDS {
            return Err(format!("{rounds:?} is out of range: must be at most {MOST_ROUNDS} rounds"));
        }
        if self.heat == Some(1) {
            return Err(format!(
                "a heat of 1 is measured in blocks: write `blocks = {rounds:?}` instead of `rounds`"
            ));
        }
        let default = Heats::default();
        let heats = Heats {
            size: self.heat.unwrap_or(default.size),
            slice: self.slice.unwrap_or(default.slice),
            warmup_limit: self.warmup_limit.unwrap_or(default.warmup_limit),
        };
        let (warmup, measure) = (self.warmup.unwrap_or(WARMUP), self.measure.unwrap_or(MEASURE));
        let written = humantime::format_duration;
        if heats.warmup_limit < warmup {
            let (limit, warmup) = (written(heats.warmup_limit), written(warmup));
            return Err(format!("`warmup_limit` ({limit}) is shorter than `warmup` ({warmup})"));
        }
        if measure < heats.slice * Heats::LEAST_SLICES {
            let least = written(heats.slice * Heats::LEAST_SLICES);
            return Err(format!(
                "`measure` ({}) has room for fewer than {} slices of {}: use at least {least}",
                written(measure),
                Heats::LEAST_SLICES,
                written(heats.slice)
            ));
        }
        let precision = self.precision.unwrap_or(PRECISION);
        let (decide, margin, metric, budget) = (self.decide, self.margin, self.metric, self.budget);
        Ok(Resolved {
            blocks: rounds,
            warmup,
            measure,
            decide,
            margin,
            metric,
            precision,
            budget,
            heats: Some(heats),
        })
    }
}
