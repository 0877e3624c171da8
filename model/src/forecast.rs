//! How long a study takes: the JSON of `drome run --dry-run --format json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The forecast for a study, from its design and, after a pilot, from the time of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub heats_a_round: usize,
    /// The time of the longest heat.
    pub heat_s: f64,
    /// The time of a round.
    pub round_s: f64,
    /// The part of a round that starts, verifies and stops servers.
    pub starting_s: f64,
    /// The part of a round that warms servers up.
    pub warming_s: f64,
    /// The part of a round for turns, those of the hub included.
    pub turns_s: f64,
    /// The time of a round if every server took the longest warm-up and every cycle took five attempts.
    pub round_most_s: f64,
    /// The mean time of a pilot's rounds; null without a pilot.
    pub round_measured_s: Option<f64>,
    /// The rounds after which the run checks whether it has measured enough, with the time until then.
    pub looks: Vec<Look>,
    /// The study's budget.
    pub budget_s: f64,
    /// Why the budget is too small; null if it is large enough.
    pub too_small: Option<String>,
}

/// A moment at which a run checks whether it has measured enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Look {
    /// The number of rounds.
    pub rounds: usize,
    /// The time that these rounds take, estimated from the design.
    pub seconds: f64,
}
