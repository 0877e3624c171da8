//! How long a wanted precision would take, told from trials that were run. This is the JSON of
//! `drome plan --format json` (schema 1).

use serde::{Deserialize, Serialize};

/// A study's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// 1.
    pub schema: u32,
    /// The study's name.
    pub study: String,
    /// The run that it is told from.
    pub run: String,
    /// When that was.
    pub started_at: String,
    /// How many blocks that had.
    pub blocks_seen: usize,
    /// Half the width of an interval, as a share of the ratio, that is wanted.
    pub precision: f64,
    /// The study's own bounds.
    pub blocks_most: usize,
    /// In seconds.
    pub budget_s: f64,
    /// One a cell.
    pub cells: Vec<CellForecast>,
    /// Blocks until the last cell is known well enough; null where one never is.
    pub blocks: Option<usize>,
    /// How long they take, all cells together.
    pub elapsed_s: Option<f64>,
}

/// A cell's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellForecast {
    /// What a table calls it.
    pub title: String,
    /// Whose ratio to the reference varies most.
    pub least_known: Option<String>,
    /// Its standard deviation from block to block, as a share; null where fewer than three blocks are sound.
    pub deviation: Option<f64>,
    /// Blocks until it is known well enough; null where that is not known, or beyond reason.
    pub blocks: Option<usize>,
    /// What a block of this cell takes.
    pub block_s: f64,
    /// How well it would be known after the most blocks that the study allows.
    pub best: Option<f64>,
    /// Contenders of which nothing can be foretold.
    pub unknown: Vec<String>,
}

impl Forecast {
    /// The wanted precision is within the study's bounds: its blocks, its budget.
    pub fn is_within_reach(&self) -> bool {
        self.blocks.is_some_and(|blocks| blocks <= self.blocks_most)
            && self.elapsed_s.is_some_and(|s| s <= self.budget_s)
    }
}
