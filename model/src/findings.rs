//! The findings of a run, computed from its observations. This is the documented JSON of `drome report --format json`
//! (schema 1): keys stay stable, new ones may be added, what is not known is null.

mod in_heats;
mod profiled;

pub use in_heats::{
    CellInHeats, ClassFloor, ContenderInHeats, Front, MachineFindings, MachinesCompared, Pairs, StartFigure,
    Unranked,
};
pub use profiled::{ProfiledPair, ProfiledPart};

use crate::environment::{ConditionsRange, Environment, Ran};
use crate::metric::Metric;
use crate::origin::Origin;
use crate::page::Published;
use crate::plan::Load;
use crate::run::Entrant;
use crate::study::Transport;
use crate::verdict::Bound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the JSON.
pub const SCHEMA: u32 = 1;

/// All findings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// 1: the version of this JSON.
    pub schema: u32,
    /// The run's name in the store.
    pub run: String,
    /// The study's name.
    pub study: String,
    /// The study's title.
    pub title: String,
    /// Where the published figures come from.
    pub source: Option<String>,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// The seed of every shuffle and of the due times.
    pub seed: u64,
    /// The machine.
    pub environment: Environment,
    /// Where the run comes from; absent where this machine measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The conditions over the heats; unknown in runs of older versions.
    #[serde(default)]
    pub conditions: ConditionsRange,
    /// The workloads' bodies, as SHA-256, by name; none in runs of older versions.
    #[serde(default)]
    pub workloads: BTreeMap<String, String>,
    /// Whether the run is a first look, in which no ranks are claimed.
    pub quick: bool,
    /// Whether disturbed measurements were allowed to count (`--allow-busy`); absent where they were not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_busy: bool,
    /// Why the run stopped, or that it has not.
    pub ended: String,
    /// How long all starts took together.
    pub elapsed_s: f64,
    /// The result of a race; null in a study.
    #[serde(default)]
    pub race: Option<RaceFindings>,
    /// The largest of the cells' noise floors, as a ratio minus one (0.03: 3 %).
    pub noise_floor: Option<f64>,
    /// The cells.
    pub cells: Vec<CellFindings>,
    /// Contenders that did not take part, and why.
    pub missing: Vec<Missing>,
    /// The published figures of the page that the study repeats.
    #[serde(default)]
    pub page: Option<Published>,
    /// What was not the same for all contenders on that page.
    #[serde(default)]
    pub unequal: Vec<String>,
    /// How each contender was set up, by name; empty in findings of older versions.
    #[serde(default)]
    pub entrants: BTreeMap<String, Entrant>,
    /// How the CPU times of the servers that were sampled after the run (`--profile`) differ; absent where none were compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfiledPair>,
}

/// The result of a race. If there are more than two contenders, `decided`, `faster` and `ratio` are about all of them: decided only
/// if one is certainly better than every other, or all are equal; no ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RaceFindings {
    /// The figure by which the race decides.
    pub metric: Metric,
    /// How long all starts took together until it was over.
    pub elapsed_s: f64,
    /// The number of rounds after which it was over.
    #[serde(rename = "blocks")]
    pub rounds: usize,
    /// What is certain; null: nothing is.
    pub decided: Option<Decided>,
    /// The better contender, if one is better.
    pub faster: Option<String>,
    /// The metric of the second contender as a share of the first's.
    pub ratio: Option<Figure>,
    /// Every two contenders, compared: first every other one with the first.
    pub pairs: Vec<PairFindings>,
    /// What was the same for all contenders.
    pub held_equal: HeldEqual,
    /// True: drome did not start the servers, they already ran. What differs from one start of a server to the next is then not in any
    /// interval. Absent where drome started them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
}

impl RaceFindings {
    /// Every other contender, compared with the first.
    pub fn with_first(&self) -> impl Iterator<Item = &PairFindings> {
        let first = self.pairs.first().map(|pair| &pair.against);
        self.pairs.iter().filter(move |pair| Some(&pair.against) == first)
    }
}

/// What is certain about two contenders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decided {
    /// One is better.
    Faster,
    /// They are equal within the precision.
    Equal,
}

/// One contender of a race, compared with another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairFindings {
    /// The contender.
    pub contender: String,
    /// The other, whose letter comes before.
    pub against: String,
    /// What is certain; null: nothing is.
    pub decided: Option<Decided>,
    /// The better of the two.
    pub faster: Option<String>,
    /// The contender's metric as a share of the other's.
    pub ratio: Option<Figure>,
    /// The same share with the interval that decides: it holds for all comparisons of the race and all looks together. `--fail-if-slower`
    /// goes by it. Null where too few starts were sound.
    #[serde(default)]
    pub sure: Option<Figure>,
}

/// What was the same for all contenders of a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeldEqual {
    /// The length of the body; null where contenders were not asked to give the same body.
    pub body_bytes: Option<usize>,
    /// The number of connections.
    pub connections: usize,
    /// The cores that servers are pinned to; empty for servers that already ran, which drome does not pin.
    pub server_cpus: Vec<usize>,
    /// The cores that the load generator is pinned to.
    pub client_cpus: Vec<usize>,
    /// The length of the load before each measurement.
    pub warmup_s: f64,
    /// The length of each measurement.
    pub measure_s: f64,
    /// The command that was run before every start.
    pub prepare: Option<String>,
}

/// A contender that did not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// Why, and how to install it.
    pub why: String,
}

/// The findings of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellFindings {
    /// What a table calls it.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// How requests arrived.
    pub load: Load,
    /// What connections spoke.
    #[serde(flatten)]
    pub transport: Transport,
    /// The metric that contenders are ranked by.
    #[serde(default)]
    pub metric: Metric,
    /// The number of rounds.
    #[serde(rename = "blocks")]
    pub rounds: usize,
    /// The noise floor, as a ratio minus one (0.03: 3 %): smaller differences are treated as noise.
    pub noise_floor: Option<f64>,
    /// Its heats.
    pub in_heats: CellInHeats,
    /// By rank, then those without one, from the best to the worst by the metric. Those without a figure last.
    pub contenders: Vec<ContenderFindings>,
}

impl Findings {
    /// The contender that is certainly the best of a cell, the reference aside; `None` where that is not decided. In a study it is the best
    /// of those with a rank (see [`Self::has_unranked`]).
    pub fn leader<'c>(&self, cell: &'c CellFindings) -> Option<&'c ContenderFindings> {
        let name = match (&self.race, &cell.in_heats.front) {
            (Some(race), _) => race.faster.as_deref(),
            (None, front) => front.as_ref().and_then(Front::leader),
        }?;
        cell.contender(name)
    }

    /// Whether a contender of a study's cell has a figure and no rank, so that it may be better than all that have one. A race has no
    /// leader unless it beats every other contender.
    pub fn has_unranked(&self, cell: &CellFindings) -> bool {
        let is_unranked = |c: &ContenderFindings| c.rank_low.is_none() && c.metric.is_some();
        self.race.is_none() && cell.contenders.iter().any(is_unranked)
    }
}

impl CellFindings {
    /// The contender of this name.
    pub fn contender(&self, name: &str) -> Option<&ContenderFindings> {
        self.contenders.iter().find(|c| c.name == name)
    }
}

/// The findings of one contender in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderFindings {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// The version that it reports.
    pub version: Option<String>,
    /// The programs that ran, by their digests; unknown in runs of older versions.
    #[serde(default)]
    pub ran: Ran,
    /// The number of measured starts, void ones included.
    pub trials: usize,
    /// The number of void starts among them.
    pub void: usize,
    /// The number of starts that failed.
    pub failed: usize,
    /// Requests/s: answers that were complete and as expected.
    pub rate_per_s: Option<Figure>,
    /// CPU time of the server per completed request.
    pub server_cpu_ns_per_request: Option<Figure>,
    /// The metric that contenders are ranked by, in its own unit: per second, nanoseconds or bytes.
    #[serde(default)]
    pub metric: Option<Figure>,
    /// That metric divided by the reference's (in a race, by the first contender's), from the statistical model.
    #[serde(default)]
    pub metric_of_reference: Option<Figure>,
    /// The mean latency; under closed load it is latency at saturation.
    #[serde(default)]
    pub latency_ns_mean: Option<Figure>,
    /// The median latency; under closed load it is latency at saturation.
    pub latency_ns_p50: Option<Figure>,
    /// The 99th percentile of latency; under closed load it is latency at saturation.
    pub latency_ns_p99: Option<Figure>,
    /// Bytes on the wire of a completed answer, head and body: the median over starts.
    #[serde(default)]
    pub wire_bytes_per_answer: Option<f64>,
    /// The share of its cores that the server used: the median over valid starts; null in findings of older versions.
    #[serde(default)]
    pub server_core_use: Option<Figure>,
    /// The largest resident memory of any start.
    pub rss_max_bytes: Option<u64>,
    /// The rate round by round: the mean over the contender's starts in the round, null where none is valid.
    #[serde(default, rename = "rate_per_s_by_block")]
    pub rate_per_s_by_round: Vec<Option<f64>>,
    /// The metric that contenders are ranked by, round by round as above: the rate, or the reciprocal of the figure where less is better.
    /// Runs are compared by it.
    #[serde(default, rename = "merit_by_block")]
    pub merit_by_round: Vec<Option<f64>>,
    /// Rate as a share of the reference's; in a race, of the first contender's.
    pub of_reference: Option<Figure>,
    /// In a race: whether it is certainly better or worse than the first contender. False means not shown, not equal (see `equal`). Null in
    /// a study, and for the first contender itself.
    #[serde(default)]
    pub differs: Option<bool>,
    /// Whether it equals the first contender of a race: the whole interval of their ratio is within the precision of 1. Null where that is not tested.
    #[serde(default)]
    pub equal: Option<bool>,
    /// How much longer an answer takes (1/rate) than the reference's.
    pub time_ns_more: Option<Figure>,
    /// How much more server CPU an answer costs than the reference's.
    pub server_cpu_ns_more: Option<Figure>,
    /// The tier. Contenders of one tier show no significant difference from its fastest.
    pub tier: Option<usize>,
    /// The best rank that the data allow.
    pub rank_low: Option<usize>,
    /// The worst rank that the data allow.
    pub rank_high: Option<usize>,
    /// What bounded most starts; where the load generator or the network bounded a third of them or more, that one.
    pub bound: Option<String>,
    /// How long the server waited for work, as a share of the window: the median over starts. The server counts as waiting while its cores
    /// together, or its busiest thread, were not busy.
    #[serde(default)]
    pub server_idle_share: Option<f64>,
    /// Open load: the number of valid starts in which the server fell behind. Their rate counts; their latency does not, and where they are
    /// a third of the starts or more, no start's does.
    #[serde(default)]
    pub fell_behind: usize,
    /// Errors over all starts.
    pub errors: u64,
    /// The rate that the page published.
    pub published: Option<f64>,
    /// What its heats say of it.
    pub in_heats: ContenderInHeats,
    /// Why starts were void or failed, and remarks on the others, the most frequent first.
    pub notes: Vec<String>,
}

impl Findings {
    /// The contenders that took part and have no sound start in a cell.
    pub fn without_a_figure(&self) -> impl Iterator<Item = (&CellFindings, &ContenderFindings)> {
        let all = self.cells.iter().flat_map(|cell| cell.contenders.iter().map(move |c| (cell, c)));
        all.filter(|(_, contender)| contender.trials == contender.void)
    }
}

impl ContenderFindings {
    /// Whether the load generator or the network was the bound of a third of the starts or more, so that the rate is a lower bound.
    pub fn is_held_back(&self) -> bool {
        self.bound.as_deref().is_some_and(Bound::is_word_held_back)
    }

    /// What held its rate back, if anything else than the server did.
    pub fn held_back_by(&self) -> Option<&'static str> {
        let is_network = self.bound.as_deref() == Some(Bound::Network.word());
        self.is_held_back().then_some(if is_network { "the network" } else { "the load generator" })
    }

    /// What held the rates of two back, if both were.
    pub fn both_held_back_by(&self, other: &Self) -> Option<&'static str> {
        let (one, two) = (self.held_back_by()?, other.held_back_by()?);
        Some(if one == two { one } else { "the load generator or the network" })
    }
}

/// A figure over all starts and its 95 % interval, which is null where there are too few for one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// The lower bound.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
}

impl From<stats::Estimate> for Figure {
    fn from(e: stats::Estimate) -> Self {
        Self { median: e.median, low: e.interval.map(|i| i.0), high: e.interval.map(|i| i.1) }
    }
}
