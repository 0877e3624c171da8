//! What the findings say of heats: starts and rounds, what was repeated, what had not settled, every start's figure.

use super::Figure;
use crate::background::Background;
use crate::contender::Class;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cell of a run in heats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellInHeats {
    /// The number of rounds with a measurement. A round has every contender in one heat.
    pub rounds: usize,
    /// The number of heats with a measurement.
    pub heats: usize,
    /// The number of those heats without enough quiet moments: every turn counts in them, disturbed or not.
    pub never_quiet: usize,
    /// The number of those heats in which one member was disturbed more or less often than the others: every turn counts in them.
    pub shares_differ: usize,
    /// The other programs that used the most CPU time in disturbed turns, at most three, the first one the most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<Background>,
    /// The noise floors by class, as a ratio minus one (0.03: 3 %): smaller differences are treated as noise.
    pub noise_floors: Vec<ClassFloor>,
    /// The state of all pairs of ranked contenders, the reference included.
    pub pairs: Pairs,
    /// The leaders, the reference aside; null where no contender is ranked.
    pub front: Option<Front>,
    /// The figure of each start, from which all ratios and ranks are computed.
    pub starts: Vec<StartFigure>,
    /// The machines of a fleet, compared; absent where one machine measured all heats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<MachinesCompared>,
}

/// The machines that measured the heats of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachinesCompared {
    /// Whether contenders compare differently on some machine, so that a machine by itself may rank them otherwise; null: there are
    /// too few heats to tell.
    pub differ: Option<bool>,
    /// The machines, by name.
    pub machines: Vec<MachineFindings>,
}

/// A machine of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineFindings {
    /// Its name.
    pub machine: String,
    /// Its processor, where it is known.
    pub cpu: Option<String>,
    /// The number of its cores.
    pub cores: usize,
    /// The number of heats that it measured in this cell.
    pub heats: usize,
    /// Its speed as a share of the mean of all machines, by the metric that contenders are ranked by. It does not affect ranks.
    pub speed: f64,
    /// The probability that contenders would compare this differently on it by chance; null: there are too few heats to tell.
    pub probability: Option<f64>,
    /// Whether contenders certainly compare differently on it than on the others.
    pub differs: Option<bool>,
    /// The contender that compares most differently on it.
    pub contender: Option<String>,
    /// That contender's figure on it, as a share of the figure that all machines together predict.
    pub ratio: Option<f64>,
}

/// The noise floor of one class of contenders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassFloor {
    /// The class.
    pub class: Class,
    /// The noise floor, as a ratio minus one (0.03: 3 %).
    pub noise_floor: f64,
}

/// The number of pairs of contenders by what is known about them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pairs {
    /// One of the two is certainly better.
    pub decided: usize,
    /// They are certainly within 2 % of each other.
    pub equal: usize,
    /// Neither is known.
    pub open: usize,
}

/// The contenders that no other contender certainly beats, the reference aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Front {
    /// The leaders, the best estimate first. If there is one only, it is certainly the best of the ranked contenders.
    pub leaders: Vec<String>,
    /// The best estimate among all other contenders.
    pub next: Option<String>,
    /// The first leader's figure as a share of the next one's, with the interval that decides.
    pub ratio: Option<Figure>,
}

impl Front {
    /// The contender that is certainly better than every other one; `None` where several may be the best, or there is no other.
    pub fn leader(&self) -> Option<&str> {
        match self.leaders.as_slice() {
            [only] if self.next.is_some() => Some(only),
            _ => None,
        }
    }
}

/// One start in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartFigure {
    /// The contender, or `hub`: the server that is in every heat.
    pub contender: String,
    /// The number of its copy in the heat, from 0.
    pub copy: usize,
    /// The round, from 0.
    pub round: usize,
    /// The heat's number in the round, from 0.
    pub heat: usize,
    /// The metric that contenders are ranked by, in its own unit; each cycle of turns is adjusted for the machine's speed in it.
    pub figure: f64,
}

/// A contender in a cell of a run in heats.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderInHeats {
    /// The class of the contender: how much its starts differ; null where it is not known.
    pub class: Option<Class>,
    /// The number of fresh starts that were measured in this cell; those that failed are not included.
    pub starts: usize,
    /// Whether it was warm while it was measured; null: unknown. It is known only where its starts could have been found cold.
    #[serde(default)]
    pub warm: Option<bool>,
    /// How much its rate changed from the first slice of a start to the last, as a share of it, with bounds of 95 % on each side: the mean over its starts.
    /// Absent where it is not known: under open load, with fewer than four turns a start, and where no contender was in two heats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_change: Option<Figure>,
    /// The number of those starts whose rate had not settled when the warm-up reached its limit.
    pub not_settled: usize,
    /// The number of those starts for which it is known whether they had settled.
    pub settling_known: usize,
    /// The load before the measurement, in seconds: the median over its starts.
    pub warmup_s: Option<f64>,
    /// The share of its turns that other programs disturbed. A cycle with such a turn is repeated, as long as there are enough quiet
    /// moments.
    pub disturbed_share: Option<f64>,
    /// The number of starts in which its own pauses cost more than 2 % of its rate.
    pub stalls: usize,
    /// What its own pauses cost over all its starts, as a share of its rate: the mean. Null where fewer than three starts are known, where
    /// it is less than 2 %, or where chance alone may explain it (Student's t, one-sided at 2.5 %).
    pub stall_share: Option<f64>,
    /// How much its turns vary: the standard deviation of the logarithms of their rates within a start, over all starts (root mean square).
    /// Absent where it is not known: under open load, with fewer than eight turns a start, and in findings of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_deviation: Option<f64>,
    /// The number of starts in a heat without enough quiet moments.
    pub never_quiet: usize,
    /// Its CPU time in the turns of other members, as a share of one core.
    pub elsewhere_share: Option<f64>,
    /// By how many bytes its resident memory grew per answer while it was measured: the mean over its starts. The interval is over starts,
    /// and wide enough that one step of 128 KiB in each start is not taken for growth. Absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_growth_bytes_per_answer: Option<Figure>,
    /// Its letters: contenders that share one show no significant difference; null where more than ten are ranked.
    pub letters: Option<String>,
    /// Why it has no rank; null where it has one.
    pub unranked: Option<Unranked>,
    /// The metric that contenders are ranked by, as a share of the hub's. Runs are compared by it.
    pub of_hub: Option<Figure>,
    /// That metric as a share of the reference's (in a race, of the first contender's), with the interval that decides: it holds for all
    /// pairs and all looks together. Null for the reference itself.
    #[serde(default)]
    pub sure_of_reference: Option<Figure>,
}

/// Why a contender has no rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unranked {
    /// It failed in a third of its starts or more.
    Failed,
    /// No start has a figure.
    NoFigure,
    /// A third of its starts or more were void.
    Void,
    /// A third of its starts or more had not settled, or all of them show together that its rate still changed.
    NotSettled,
    /// A first look claims no ranks.
    FirstLook,
}
