//! How long a study takes: the JSON of `drome plan --format json`. For a study in rounds it is estimated from the
//! design, for one in blocks from trials that were run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The forecast for a study in rounds, from its design and, after a pilot, from the time of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundsForecast {
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

/// The forecast for a study in blocks (schema 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Forecast {
    /// 1: the version of this JSON.
    pub schema: u32,
    /// The study's name.
    pub study: String,
    /// The run that it is estimated from.
    pub run: String,
    /// When that run began.
    pub started_at: String,
    /// The number of blocks of that run.
    pub blocks_seen: usize,
    /// The wanted half width of an interval, as a share of the ratio.
    pub precision: f64,
    /// The largest number of blocks that the study allows.
    pub blocks_most: usize,
    /// The study's budget, in seconds.
    pub budget_s: f64,
    /// The cells.
    pub cells: Vec<CellForecast>,
    /// The number of blocks until the last cell is known well enough; null where one never is.
    pub blocks: Option<usize>,
    /// How long these blocks take, all cells together.
    pub elapsed_s: Option<f64>,
}

/// The forecast for a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellForecast {
    /// What a table calls it.
    pub title: String,
    /// The contender whose ratio to the reference varies most.
    pub least_known: Option<String>,
    /// Its standard deviation from block to block, as a share; null where fewer than three blocks are sound.
    pub deviation: Option<f64>,
    /// The number of blocks until it is known well enough; null where that is not known, or is unreasonably large.
    pub blocks: Option<usize>,
    /// How long a block of this cell takes.
    pub block_s: f64,
    /// The half width of the interval, as a share of the ratio, after the largest number of blocks that the study allows.
    pub best: Option<f64>,
    /// The contenders for which there is no forecast.
    pub unknown: Vec<String>,
}

impl Forecast {
    /// Whether the wanted precision is within the study's bounds: its blocks, its budget.
    pub fn is_within_reach(&self) -> bool {
        self.blocks.is_some_and(|blocks| blocks <= self.blocks_most)
            && self.elapsed_s.is_some_and(|s| s <= self.budget_s)
    }
}
