//! The history of a study over many runs. This is the documented JSON of `drome history --format json` (schema 1).

use crate::findings::Figure;
use crate::metric::Metric;
use crate::plan::Load;
use crate::study::Transport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The history of a study's runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// The version of the JSON.
    pub schema: u32,
    /// The study's name.
    pub study: String,
    /// Its title, by its latest run.
    pub title: String,
    /// The largest probability that the history shows any step although nothing changed.
    pub level: f64,
    /// The largest such probability for one series by itself: the level shared among all.
    pub level_each: f64,
    /// The least number of runs with which a step can be told from chance at that level.
    pub fewest_runs: usize,
    /// The number of runs that have not ended and take no part.
    pub unended: usize,
    /// The cells: one for each workload under a load.
    pub cells: Vec<CellHistory>,
}

/// One cell over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellHistory {
    /// Its place in the study's latest run, counted from 1; null where that run does not have the cell.
    pub number: Option<usize>,
    /// What a table calls it.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// How requests arrived.
    pub load: Load,
    /// What connections spoke.
    #[serde(flatten)]
    pub transport: Transport,
    /// The metric in this cell. Speed is the rate itself, or the reciprocal of the metric where less is better.
    #[serde(default)]
    pub metric: Metric,
    /// The runs that can be compared, in the order of time.
    pub runs: Vec<RunInHistory>,
    /// Runs that can't be compared with these, by what differs.
    pub left_out: Vec<LeftOut>,
    /// The reference's own speed, which shows how the machine changed.
    pub reference: ContenderHistory,
    /// The contenders, by name.
    pub contenders: Vec<ContenderHistory>,
    /// Why no step can be found, or that only the latest of very many runs are searched.
    pub note: Option<String>,
}

/// A run that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunInHistory {
    /// Its name in the store.
    pub run: String,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// drome's version.
    pub drome: String,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The name of the machine that it was pulled from; absent where this machine measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
}

/// Runs of another machine, or with other bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The names of the runs, in the order of time.
    pub runs: Vec<String>,
    /// How they differ from the runs that are shown.
    pub why: String,
}

/// One contender in one cell over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderHistory {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// One point for each run of the cell; null where it was not measured, or where the load generator held it back.
    pub points: Vec<Option<Point>>,
    /// Where the ratio, or the reference's speed, changes for good; in the order of time.
    pub steps: Vec<Step>,
    /// Why no step can be found.
    pub note: Option<String>,
}

/// A contender in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// The version that it reports.
    pub version: Option<String>,
    /// Requests/s: the median of its rounds.
    pub rate_per_s: f64,
    /// Its speed: the rate, or the reciprocal of the cell's metric where less is better; the median of its rounds.
    #[serde(default)]
    pub speed: f64,
    /// The speed as a share of the speed of the hub, the server that is in every heat of the same run; null for the reference.
    pub of_reference: Option<f64>,
    /// The lower bound of the 95 % interval of that share; for the reference, of its rate; null with too few rounds.
    #[serde(default)]
    pub low: Option<f64>,
    /// The upper bound of that interval.
    #[serde(default)]
    pub high: Option<f64>,
}

/// A change that stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The index of the first run after it, among the cell's runs.
    pub at: usize,
    /// The last measured run before it.
    pub before: String,
    /// The first run after it.
    pub after: String,
    /// The new value divided by the old one, from the runs on either side up to the next step.
    pub ratio: Figure,
    /// The probability that a series without a step would look as much like one with a step.
    pub p: f64,
    /// The cause of the step.
    pub cause: Cause,
    /// The contender's versions before and after, where they differ.
    pub versions: Option<[Option<String>; 2]>,
    /// drome's versions, where they differ.
    pub drome: Option<[String; 2]>,
    /// The kernel's releases, where they differ.
    pub kernel: Option<[Option<String>; 2]>,
}

/// The cause of a step, as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The contender: neither the reference nor most others step there.
    Contender,
    /// The machine: the reference steps there.
    Machine,
    /// drome itself (the reference or the load generator): its version changed at the step.
    Drome,
    /// Most contenders step there together, in the same direction: the cause is the machine or the reference rather than each of them.
    Shared,
}
