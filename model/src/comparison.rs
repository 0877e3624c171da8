//! What changed between two runs. This is the documented JSON of `drome compare --format json` (schema 1).

use crate::findings::Figure;
use crate::metric::Metric;
use crate::plan::Load;
use serde::{Deserialize, Serialize};

/// All that is to be said of two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The version of the JSON.
    pub schema: u32,
    /// The earlier run, or the file that tells of it.
    pub old: String,
    /// The later one.
    pub new: String,
    /// What makes the two unequal beside what is compared, such as another kernel.
    pub notes: Vec<String>,
    /// How sure all intervals are together; each by itself is surer.
    pub confidence: f64,
    /// Cells that both have.
    pub cells: Vec<CellComparison>,
    /// Contenders, or cells, that only the earlier run has.
    pub gone: Vec<String>,
    /// Those that only the later run has.
    pub added: Vec<String>,
    /// Contenders that failed in trials of the later run.
    #[serde(default)]
    pub failed: Vec<FailedContender>,
}

/// A contender that failed in one cell of the later run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedContender {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// The cell, as a table calls it.
    pub cell: String,
    /// In so many trials.
    pub failed: usize,
    /// Of so many.
    pub trials: usize,
}

/// One cell in both runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellComparison {
    /// What a table calls it.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// How requests arrived.
    pub load: Load,
    /// What speed is in this cell: the rate, or one over this where less is better.
    #[serde(default)]
    pub metric: Metric,
    /// The machine's own drift: the reference's speed, new by old. It is taken out of all others.
    pub drift: Option<Figure>,
    /// From the one that lost most to the one that gained most.
    pub contenders: Vec<ContenderComparison>,
}

/// One contender in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContenderComparison {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// Its versions, the earlier one first.
    pub versions: [Option<String>; 2],
    /// Its speed, new by old, with the machine's drift taken out.
    pub ratio: Option<Figure>,
    /// What that comes to.
    pub change: Change,
    /// Why nothing can be said, or what is to be known.
    pub note: Option<String>,
}

/// What a ratio comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Surely faster.
    Faster,
    /// Surely slower.
    Slower,
    /// The runs can't tell it from no change.
    NoneSeen,
    /// Nothing can be said.
    Unknown,
}

impl Comparison {
    /// Contenders that are surely slower than before by more than this share, whole interval and all.
    pub fn regressions(&self, margin: f64) -> impl Iterator<Item = (&CellComparison, &ContenderComparison)> {
        let all = self.cells.iter().flat_map(|cell| cell.contenders.iter().map(move |c| (cell, c)));
        all.filter(move |(_, c)| c.ratio.and_then(|r| r.high).is_some_and(|high| high < 1.0 - margin))
    }

    /// What keeps a gate from being sure that nothing became slower, a sentence each: contenders without a judgement, those
    /// that the later run lacks, and those that failed in it.
    pub fn unjudged(&self) -> Vec<String> {
        let unknown = self.unknown().map(|(cell, c)| {
            let why = c.note.as_deref().unwrap_or("nothing is known of it");
            format!("{} ({}) is not judged: {why}", c.title, cell.title)
        });
        let gone = self.gone.iter().map(|what| format!("{what} is only in {}", self.old));
        let failed = self.failed.iter().map(|f| {
            format!("{} ({}) failed in {} of {} trials of {}", f.title, f.cell, f.failed, f.trials, self.new)
        });
        unknown.chain(gone).chain(failed).collect()
    }

    /// Contenders of which nothing can be said.
    pub fn unknown(&self) -> impl Iterator<Item = (&CellComparison, &ContenderComparison)> {
        let all = self.cells.iter().flat_map(|cell| cell.contenders.iter().map(move |c| (cell, c)));
        all.filter(|(_, c)| c.change == Change::Unknown)
    }
}
