//! The outcome of a start in a cell, small enough to keep for every one: its latency distributions stay in the store.

use model::Measured;
pub use report::outcome::StartState;

/// A start in a cell, and how it ended.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// The round, from 0.
    pub round: usize,
    /// Index into the study's cells.
    pub cell: usize,
    /// The name of the contender.
    pub contender: String,
    /// Its outcome.
    pub state: StartState,
}

impl TrialOutcome {
    /// The outcome of every start in each cell, without its figures.
    pub fn all(measured: &Measured) -> Vec<Self> {
        let of = |one: &model::StartInCell<'_>| Self {
            round: one.start.round,
            cell: one.cell,
            contender: one.start.contender.clone(),
            state: StartState::of(one),
        };
        measured.starts_in_cells().iter().map(of).collect()
    }
}
