//! What many runs of a study say together. This is the documented JSON of `drome history --format json` (schema 1).

use crate::findings::Figure;
use crate::metric::Metric;
use crate::plan::Load;
use serde::{Deserialize, Serialize};

/// All that is to be said of a study's runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The version of the JSON.
    pub schema: u32,
    /// The study's name.
    pub study: String,
    /// Its title, by its latest run.
    pub title: String,
    /// How likely it is at most that any step in all of this is none.
    pub level: f64,
    /// How likely it is at most for one series by itself: the level shared among all.
    pub level_each: f64,
    /// So many runs it takes at least to tell a step from chance at that level.
    pub fewest_runs: usize,
    /// Runs that have not ended, and take no part.
    pub unended: usize,
    /// One a workload under a load.
    pub cells: Vec<CellHistory>,
}

/// One cell over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellHistory {
    /// Its place in the study's latest run, counted from 1; null where that does not have it.
    pub number: Option<usize>,
    /// What a table calls it.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// How requests arrived.
    pub load: Load,
    /// What speed is in this cell: the rate, or one over this where less is better.
    #[serde(default)]
    pub metric: Metric,
    /// These runs were measured in heats: `of_reference` is the share of the hub's speed, the server that is in every heat.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_heats: bool,
    /// The runs that can be compared, in the order of time.
    pub runs: Vec<RunInHistory>,
    /// Runs that can't be compared with these, by what differs.
    pub left_out: Vec<LeftOut>,
    /// The reference's own speed: what the machine did.
    pub reference: ContenderHistory,
    /// By name.
    pub contenders: Vec<ContenderHistory>,
    /// Why no step can be told, or that of very many runs only the latest are looked at.
    pub note: Option<String>,
}

/// A run that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInHistory {
    /// Its name in the store.
    pub run: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// drome's version.
    pub drome: String,
    /// The kernel's release.
    pub kernel: Option<String>,
}

/// Runs of another machine, or with other bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Their names, in the order of time.
    pub runs: Vec<String>,
    /// What is other than in the runs that are shown.
    pub why: String,
}

/// One contender in one cell over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContenderHistory {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// One a run of the cell; null where it was not measured or the load generator held it back.
    pub points: Vec<Option<Point>>,
    /// Where the ratio, or the reference's speed, changes for good; in the order of time.
    pub steps: Vec<Step>,
    /// Why no step can be told.
    pub note: Option<String>,
}

/// A contender in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// What it says its version is.
    pub version: Option<String>,
    /// Answers per second: the median of its blocks.
    pub rate_per_s: f64,
    /// Its speed: the rate, or one over what the cell is ranked by; the median of its blocks.
    #[serde(default)]
    pub speed: f64,
    /// The speed as a share of the reference's of the same run, paired by block (in heats, of the hub's); null for the reference.
    pub of_reference: Option<f64>,
    /// The 95 % interval of that share; of the reference, of its rate: its lower bound; null with too few blocks.
    #[serde(default)]
    pub low: Option<f64>,
    /// Its upper bound.
    #[serde(default)]
    pub high: Option<f64>,
}

/// A change that stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Index of the first run after it, among the cell's runs.
    pub at: usize,
    /// The last measured run before it.
    pub before: String,
    /// The first run after it.
    pub after: String,
    /// New by old, over the nearest runs of either side without another step between.
    pub ratio: Figure,
    /// How likely a series without it would look as much like one.
    pub p: f64,
    /// Whose it is.
    pub cause: Cause,
    /// The contender's versions before and after, where they differ.
    pub versions: Option<[Option<String>; 2]>,
    /// drome's, where they differ.
    pub drome: Option<[String; 2]>,
    /// The kernel's, where they differ.
    pub kernel: Option<[Option<String>; 2]>,
}

/// Whose step it is, as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The contender's: neither the reference nor most others step there.
    Contender,
    /// The machine's: the reference steps there.
    Machine,
    /// drome's, the reference's or the load generator's: the step comes with another drome.
    Drome,
    /// Most contenders step there together, the same way: the machine's or the reference's more likely than theirs.
    Shared,
}
