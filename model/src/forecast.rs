//! How long a study takes: the JSON of `drome run --dry-run --format json`.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// The forecast for a study, from its design and, after a pilot, from the time of a round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Forecast {
    /// The study's name.
    pub study: String,
    /// The number of contenders that take part.
    pub contenders: usize,
    /// The names of those that are not installed. They are counted all the same, but a run measures only those that are installed.
    pub not_installed: Vec<String>,
    /// The number of cells.
    pub cells: usize,
    /// The number of heats in a round.
    #[serde(rename = "heats_a_round")]
    pub heats: usize,
    /// The time of the longest heat.
    #[serde(rename = "heat_s", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub heat: Duration,
    /// The time of a round.
    #[serde(rename = "round_s", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub round: Duration,
    /// The part of a round that starts, verifies and stops servers.
    #[serde(rename = "starting_s", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub starting: Duration,
    /// The part of a round that warms servers up.
    #[serde(rename = "warming_s", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub warming: Duration,
    /// The part of a round for turns, those of the hub included.
    #[serde(rename = "turns_s", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub turns: Duration,
    /// The time of a round if every server took the longest warm-up and every cycle took five attempts.
    #[serde(rename = "round_most_s", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub round_most: Duration,
    /// The mean time of a pilot's rounds; null without a pilot.
    #[serde(rename = "round_measured_s", serialize_with = "seconds")]
    #[schemars(with = "Option<f64>")]
    pub round_measured: Option<Duration>,
    /// The rounds after which the run checks whether it has measured enough, with the time until then.
    pub looks: Vec<Look>,
    /// The study's budget.
    #[serde(rename = "budget_s", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub budget: Duration,
    /// Why the budget is too small; null if it is large enough.
    pub too_small: Option<String>,
}

impl Forecast {
    /// The first look; the run's first round, if its design has no look.
    pub fn first_look(&self) -> Look {
        self.looks.first().copied().unwrap_or(Look { rounds: 1, time: self.round })
    }
}

/// A moment at which a run checks whether it has measured enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Look {
    /// The number of rounds.
    pub rounds: usize,
    /// The time that these rounds take, estimated from the design.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    #[schemars(with = "f64")]
    pub time: Duration,
}

fn seconds<T: Copy + Into<Option<Duration>>, S: Serializer>(time: &T, to: S) -> Result<S::Ok, S::Error> {
    let time: Option<Duration> = (*time).into();
    time.map(|time| time.as_secs_f64()).serialize(to)
}
