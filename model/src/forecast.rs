//! How long a wanted precision would take, estimated from trials that were run. This is the JSON of
//! `drome plan --format json` (schema 1).

use serde::{Deserialize, Serialize};

/// The forecast for a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The most blocks that the study allows.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellForecast {
    /// What a table calls it.
    pub title: String,
    /// The contender whose ratio to the reference varies most.
    pub least_known: Option<String>,
    /// Its standard deviation from block to block, as a share; null where fewer than three blocks are sound.
    pub deviation: Option<f64>,
    /// The number of blocks until it is known well enough; null where that is not known, or beyond reason.
    pub blocks: Option<usize>,
    /// How long a block of this cell takes.
    pub block_s: f64,
    /// The half width after the most blocks that the study allows.
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
