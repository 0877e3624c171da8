//! What the observations of a run say. This is the documented JSON of `drome report --format json`
//! (schema 1): keys stay stable, new ones may be added, what is not known is null.

use crate::environment::{ConditionsRange, Environment, Ran};
use crate::observation::Entrant;
use crate::page::Published;
use crate::plan::Load;
use crate::verdict::Bound;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the JSON.
pub const SCHEMA: u32 = 1;

/// All findings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The run's name in the store.
    pub run: String,
    /// The study's name.
    pub study: String,
    /// The study's title.
    pub title: String,
    /// Where the published figures come from.
    pub source: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// Decides every shuffle and every resampling.
    pub seed: u64,
    /// The machine.
    pub environment: Environment,
    /// What it was like over the trials; unknown in runs of older versions.
    #[serde(default)]
    pub conditions: ConditionsRange,
    /// The workloads' bodies, as SHA-256, by name; none in runs of older versions.
    #[serde(default)]
    pub workloads: BTreeMap<String, String>,
    /// A first look: no ranks are claimed.
    pub quick: bool,
    /// Why the run stopped, or that it has not.
    pub ended: String,
    /// How long the trials took together.
    pub elapsed_s: f64,
    /// The largest of the cells' noise floors, as a ratio less one.
    pub noise_floor: Option<f64>,
    /// One a cell.
    pub cells: Vec<CellFindings>,
    /// Contenders that did not take part, and why.
    pub missing: Vec<Missing>,
    /// What the page said that the study is of.
    #[serde(default)]
    pub page: Option<Published>,
    /// What was not the same for all on that page.
    #[serde(default)]
    pub unequal: Vec<String>,
    /// How each was set up, by name; empty in findings of older versions.
    #[serde(default)]
    pub entrants: BTreeMap<String, Entrant>,
}

/// A contender that did not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its name.
    pub name: String,
    /// Why, and the command that would get it.
    pub why: String,
}

/// The findings of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellFindings {
    /// What a table calls it.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// How requests arrived.
    pub load: Load,
    /// How many blocks.
    pub blocks: usize,
    /// What separates a contender from itself, as a ratio less one: no smaller difference is called one.
    pub noise_floor: Option<f64>,
    /// From the fastest to the slowest; those without a figure last.
    pub contenders: Vec<ContenderFindings>,
}

/// The findings of one contender in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContenderFindings {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// What it says its version is.
    pub version: Option<String>,
    /// What it was, to the byte; unknown in runs of older versions.
    #[serde(default)]
    pub ran: Ran,
    /// Trials that were measured, void ones included.
    pub trials: usize,
    /// Of those, void.
    pub void: usize,
    /// Trials that failed.
    pub failed: usize,
    /// Answers per second, whole and as expected.
    pub rate_per_s: Option<Figure>,
    /// CPU time of the server for a completed request.
    pub server_cpu_ns_per_request: Option<Figure>,
    /// The median latency; under closed load that is latency at saturation.
    pub latency_ns_p50: Option<Figure>,
    /// The 99th percentile; under closed load that is latency at saturation.
    pub latency_ns_p99: Option<Figure>,
    /// Bytes of a completed answer as it came over the wire, head and body: the median over trials.
    #[serde(default)]
    pub wire_bytes_per_answer: Option<f64>,
    /// The largest resident memory of any trial.
    pub rss_max_bytes: Option<u64>,
    /// The same block by block: the mean over its entries, null where none is valid. What two runs are compared by.
    #[serde(default)]
    pub rate_per_s_by_block: Vec<Option<f64>>,
    /// Rate as a share of the reference's, paired by block; in a race, of the first contender's.
    pub of_reference: Option<Figure>,
    /// Whether it is surely faster or slower than the first contender of a race; null in a study, and for the first itself.
    #[serde(default)]
    pub differs: Option<bool>,
    /// How much longer an answer takes (1/rate) than the reference's, paired by block.
    pub time_ns_more: Option<Figure>,
    /// How much more server CPU an answer costs than the reference's, paired by block.
    pub server_cpu_ns_more: Option<Figure>,
    /// Contenders of one tier can't be told from its fastest.
    pub tier: Option<usize>,
    /// The best rank that the data allow.
    pub rank_low: Option<usize>,
    /// The worst rank that the data allow.
    pub rank_high: Option<usize>,
    /// What bounded most trials.
    pub bound: Option<String>,
    /// Errors over all trials.
    pub errors: u64,
    /// What the page said.
    pub published: Option<f64>,
    /// Whether its rate had settled; null where no trial can tell.
    #[serde(default)]
    pub steady: Option<Steadiness>,
    /// Why trials were void or failed and what is to be known about the others, most frequent first.
    pub notes: Vec<String>,
}

/// Whether the rate had settled before the window opened, over the valid trials of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Trials whose course can tell.
    pub trials: usize,
    /// Of those, still getting faster in the window.
    pub faster: usize,
    /// Of those, getting slower.
    pub slower: usize,
    /// Not, where most changed the same way; null with fewer than three trials.
    pub is_steady: Option<bool>,
    /// The median of the trials' rate in the last quarter of the window by that in the first, less one.
    pub change: f64,
    /// After how many seconds of load, warm-up included, the middle trial had settled (of one that is not steady: of its trials
    /// that were not); null where that is not known.
    pub settled_after_s: Option<f64>,
}

impl ContenderFindings {
    /// The load generator was the bound of most trials: the rate is a floor.
    pub fn is_held_back(&self) -> bool {
        self.bound.as_deref() == Some(Bound::Client.word())
    }
}

/// A median over trials and its 95 % interval; null where there are too few trials for one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
