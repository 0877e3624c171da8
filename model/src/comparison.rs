//! What changed between two runs. This is the documented JSON of `drome compare --format json` (schema 1).

use crate::findings::Figure;
use crate::metric::Metric;
use crate::plan::Load;
use crate::study::Transport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The comparison of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The version of the JSON.
    pub schema: u32,
    /// The earlier run, or the file that describes it.
    pub old: String,
    /// The later run.
    pub new: String,
    /// Other differences between the two runs, such as another kernel.
    pub notes: Vec<String>,
    /// The confidence with which all intervals hold at once; that of each interval alone is higher.
    pub confidence: f64,
    /// The cells that both runs have.
    pub cells: Vec<CellComparison>,
    /// The contenders, or cells, that only the earlier run has.
    pub gone: Vec<String>,
    /// The contenders, or cells, that only the later run has.
    pub added: Vec<String>,
    /// The contenders that failed in starts of the later run.
    #[serde(default)]
    pub failed: Vec<FailedContender>,
}

/// A contender that failed in one cell of the later run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedContender {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// The cell, as a table calls it.
    pub cell: String,
    /// The number of starts in which it failed.
    pub failed: usize,
    /// The number of all its starts.
    pub trials: usize,
}

/// One cell in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellComparison {
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
    /// The machine's own drift: the speed of the server `drift_of` in the new run divided by that in the old one. All other ratios are
    /// corrected for it.
    pub drift: Option<Figure>,
    /// The server that shows the drift, because it is the same in both runs.
    #[serde(default)]
    pub drift_of: DriftOf,
    /// How much contenders changed between the runs beyond what the spread of their starts explains: a standard deviation, as a share of
    /// their speed. Each contender's interval includes the movement of the others. `null`: unknown, because there are too few contenders; the
    /// intervals then allow for what the starts of a run usually have in common, six tenths of the variance between them.
    #[serde(default)]
    pub movement: Option<f64>,
    /// The contenders, from the one that lost most to the one that gained most.
    pub contenders: Vec<ContenderComparison>,
}

/// A server that does the same work in every run, so its speed shows the machine's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DriftOf {
    /// The reference, `drome serve`.
    #[default]
    Reference,
    /// The hub, which is part of every heat and whose work takes longer on a slower machine.
    Hub,
}

/// One contender in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderComparison {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// Its versions, the earlier one first.
    pub versions: [Option<String>; 2],
    /// Its speed in the new run divided by that in the old one, corrected for the machine's drift.
    pub ratio: Option<Figure>,
    /// The judgement of the ratio.
    pub change: Change,
    /// Why it is inconclusive, or a remark.
    pub note: Option<String>,
}

/// The judgement of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Certainly faster.
    Faster,
    /// Certainly slower.
    Slower,
    /// No significant difference.
    NoneSeen,
    /// Inconclusive.
    Unknown,
}

impl Comparison {
    /// Why a gate can't be sure that nothing became slower, a sentence each: contenders without a judgement, those that the later
    /// run lacks, and those that failed in it.
    pub fn unjudged(&self) -> Vec<String> {
        let unknown = self.unknown().map(|(cell, c)| {
            let why = c.note.as_deref().unwrap_or("nothing is known about it");
            format!("{} ({}) is inconclusive: {why}", c.title, cell.title)
        });
        let gone = self.gone.iter().map(|what| format!("{what} is only in {}", self.old));
        let failed = self.failed.iter().map(|f| {
            format!("{} ({}) failed in {} of {} starts of {}", f.title, f.cell, f.failed, f.trials, self.new)
        });
        unknown.chain(gone).chain(failed).collect()
    }

    /// The contenders whose change is inconclusive.
    pub fn unknown(&self) -> impl Iterator<Item = (&CellComparison, &ContenderComparison)> {
        let all = self.cells.iter().flat_map(|cell| cell.contenders.iter().map(move |c| (cell, c)));
        all.filter(|(_, c)| c.change == Change::Unknown)
    }
}
