//! What only a run in heats knows: how many starts and rounds, what was repeated, what had not settled, and every start's figure.

use super::Figure;
use crate::contender::Class;
use serde::{Deserialize, Serialize};

/// A cell of a run in heats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellInHeats {
    /// Rounds in which somebody was measured. A round is every contender in one heat.
    pub rounds: usize,
    /// Heats in which somebody was measured.
    pub heats: usize,
    /// Of those, heats without enough quiet moments: every turn counts in them, disturbed or not.
    pub never_quiet: usize,
    /// Of those, heats in which one member was disturbed more or less often than the others: every turn counts in them.
    pub shares_differ: usize,
    /// The difference that this run tells apart, by class, as a ratio less one.
    pub noise_floors: Vec<ClassFloor>,
    /// What is known of all pairs of ranked contenders, the reference included.
    pub pairs: Pairs,
    /// Who leads, the reference aside; null where nobody is ranked.
    pub front: Option<Front>,
    /// What each start came to: all that ratios and ranks are computed from.
    pub starts: Vec<StartFigure>,
}

/// What separates equals in one class of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassFloor {
    /// The class.
    pub class: Class,
    /// As a ratio less one.
    pub noise_floor: f64,
}

/// How many pairs of contenders are known how well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// One of the two is surely better.
    pub decided: usize,
    /// They are within 2 % of each other, surely.
    pub equal: usize,
    /// Neither is known.
    pub open: usize,
}

/// The contenders that no other contender surely beats, the reference aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Front {
    /// The best estimate first. One: it is surely the best of those that are ranked.
    pub leaders: Vec<String>,
    /// The best estimate among all others.
    pub next: Option<String>,
    /// The first leader's figure as a share of the next one's, with the interval that decides.
    pub ratio: Option<Figure>,
}

/// One start in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartFigure {
    /// The contender, or `hub`: the server that is in every heat.
    pub contender: String,
    /// Which of its copies in the heat, from 0.
    pub copy: usize,
    /// From 0.
    pub round: usize,
    /// The heat's number in the round, from 0.
    pub heat: usize,
    /// What contenders are ranked by, in its own unit; each cycle of turns adjusted for the machine's speed in it.
    pub figure: f64,
}

/// A contender in a cell of a run in heats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContenderInHeats {
    /// How much its starts differ; null where it is not known.
    pub class: Option<Class>,
    /// Fresh starts that were measured in this cell; those that failed are not among them.
    pub starts: usize,
    /// Of those, starts whose rate had not settled when the warm-up reached its limit.
    pub not_settled: usize,
    /// Of those, starts of which it is known whether they had.
    pub settling_known: usize,
    /// Load before the measurement, in seconds: the median over its starts.
    pub warmup_s: Option<f64>,
    /// Turns that others disturbed, as a share of its turns: their cycles are repeated, where there are quiet moments enough.
    pub disturbed_share: Option<f64>,
    /// Starts in which its own pauses cost more than 2 % of its rate.
    pub stalls: usize,
    /// What its own pauses cost over all its starts, as a share of its rate: the mean. Null where fewer than three starts are known, where it is
    /// less than 2 %, or where chance alone may have made it (Student's t, one-sided at 2.5 %).
    pub stall_share: Option<f64>,
    /// Starts in a heat without enough quiet moments.
    pub never_quiet: usize,
    /// Its CPU time while others were loaded, as a share of one core.
    pub elsewhere_share: Option<f64>,
    /// Contenders that share a letter were not told apart; null where more than ten are ranked.
    pub letters: Option<String>,
    /// Why it has no rank; null where it has one.
    pub unranked: Option<Unranked>,
    /// What contenders are ranked by, as a share of the hub's. Runs are compared by it.
    pub of_hub: Option<Figure>,
}

/// Why a contender has no rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unranked {
    /// It failed in a third of its starts or more.
    Failed,
    /// No start has a figure.
    NoFigure,
    /// A third of its starts or more had not settled.
    NotSettled,
    /// A first look claims no ranks.
    FirstLook,
}
