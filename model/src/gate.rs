//! Whether servers became slower than a margin allows: what `--fail-if-slower` of `drome race` and `drome compare` decides. Pure.

use crate::comparison::{Change, Comparison};
use crate::findings::{ContenderFindings, Figure, Findings};
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::margin::{Judged, judge, smallest_shown};

/// A race or a comparison of runs, judged against a margin.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The share of its speed that a contender may lose.
    pub margin: f64,
    /// The contenders with a known change of speed.
    pub changes: Vec<Changed>,
    /// Why a contender could not be judged, a sentence each.
    pub unknown: Vec<String>,
}

/// A contender's change of speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// What a table calls it.
    pub title: String,
    /// The cell, as a table calls it; `None`: there is only one.
    pub cell: Option<String>,
    /// The metric. Speed is the rate itself, or the reciprocal of the metric where less is better.
    pub metric: Metric,
    /// Its speed divided by that of the server that it is compared with: less than 1 is slower.
    pub speed: Figure,
    /// The share of its speed that it may lose.
    pub margin: f64,
    /// The judgement.
    pub judged: Judged,
}

/// The judgement of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A contender is certainly slower than the margin allows.
    Slower,
    /// No contender is slower than the margin allows.
    Passed,
    /// A contender may be slower than the margin allows, or could not be judged.
    Open,
}

impl From<Judged> for Outcome {
    fn from(judged: Judged) -> Self {
        match judged {
            Judged::Beyond => Self::Slower,
            Judged::Within => Self::Passed,
            Judged::Open => Self::Open,
        }
    }
}

impl Outcome {
    /// The judgement of all changes together: one change that is certainly too slow decides; to pass, all must be known, and `unknown` has
    /// those that are not.
    pub(crate) fn of_all(changes: impl Iterator<Item = Self>, unknown: &[String]) -> Self {
        let changes: Vec<Self> = changes.collect();
        match () {
            () if changes.contains(&Self::Slower) => Self::Slower,
            () if changes.contains(&Self::Open) || !unknown.is_empty() || changes.is_empty() => Self::Open,
            () => Self::Passed,
        }
    }
}

impl Gate {
    /// Judges the later of two runs against the earlier one.
    pub fn of_comparison(comparison: &Comparison, margin: f64) -> Self {
        let mut gate = Self { margin, changes: Vec::new(), unknown: comparison.unjudged() };
        for cell in &comparison.cells {
            for c in cell.contenders.iter().filter(|c| c.change != Change::Unknown) {
                if let Some(speed) = c.ratio {
                    gate.add([&c.name, &c.title], Some(&cell.title), cell.metric, speed);
                }
            }
        }
        gate
    }

    /// Judges the other contenders of a race against the first.
    pub fn of_race(findings: &Findings, margin: f64) -> Self {
        let mut gate = Self { margin, changes: Vec::new(), unknown: Vec::new() };
        let Some((race, cell)) = findings.race.as_ref().zip(findings.cells.first()) else { return gate };
        let of = |name: &str| cell.contenders.iter().find(|c| c.name == name);
        for pair in race.with_first() {
            let two = [of(&pair.contender), of(&pair.against)];
            let title = two[0].map_or(pair.contender.as_str(), |c| &c.title);
            // A race is looked at again and again, and ends as soon as it is decided: the interval for a single pair at a single look would
            // be wrong too often.
            let speed = pair.sure.map(|ratio| speed(ratio, race.metric));
            let floor = |c: &ContenderFindings| {
                let by = c.held_back_by().filter(|_| race.metric == Metric::Rate)?;
                Some(format!("{by} limited {}", c.title))
            };
            match (two.into_iter().flatten().find_map(floor), speed.filter(|speed| is_known(*speed))) {
                (Some(floor), _) => gate.unknown.push(format!("{title} could not be judged: {floor}")),
                (None, Some(speed)) => gate.add([&pair.contender, title], None, race.metric, speed),
                (None, None) => gate.unknown.push(unknown(title, two)),
            }
        }
        gate
    }

    /// Joins the judgements of several races, each given with the title of its cell. The margin is that of the first. `None` without any.
    pub fn of_cells(cells: impl IntoIterator<Item = (String, Self)>) -> Option<Self> {
        let mut all: Option<Self> = None;
        for (title, gate) in cells {
            let margin = gate.margin;
            let all = all.get_or_insert_with(|| Self { margin, changes: Vec::new(), unknown: Vec::new() });
            let changes = gate.changes.into_iter();
            all.changes.extend(changes.map(|change| Changed { cell: Some(title.clone()), ..change }));
            all.unknown.extend(gate.unknown.into_iter().map(|why| format!("{title}: {why}")));
        }
        all
    }

    fn add(&mut self, [name, title]: [&str; 2], cell: Option<&str>, metric: Metric, speed: Figure) {
        self.changes.push(Changed {
            name: name.to_owned(),
            title: title.to_owned(),
            cell: cell.map(str::to_owned),
            metric,
            speed,
            margin: self.margin,
            judged: judged(speed, self.margin),
        });
    }

    /// Slower where one contender certainly is; open where one may be, or could not be judged.
    pub fn outcome(&self) -> Outcome {
        Outcome::of_all(self.changes.iter().map(|change| change.judged.into()), &self.unknown)
    }

    /// The smallest slowdown that measurements as precise as these would show of every contender, as a share; `None`: some contender has no
    /// interval.
    pub fn smallest_shown(&self) -> Option<f64> {
        let of =
            |change: &Changed| Some(smallest_shown(change.speed.median, change.speed.high?, change.margin));
        let all: Option<Vec<f64>> = self.changes.iter().map(of).collect();
        all?.into_iter().reduce(f64::max)
    }
}

/// Converts a ratio of figures into a ratio of speeds: where less is better, speed is the reciprocal of the figure.
pub fn speed(ratio: Figure, metric: Metric) -> Figure {
    if metric.is_better_higher() {
        return ratio;
    }
    let inverse = |value: f64| 1.0 / value;
    Figure { median: inverse(ratio.median), low: ratio.high.map(inverse), high: ratio.low.map(inverse) }
}

/// Judges a ratio of speeds; without an interval it stays open.
pub fn judged(speed: Figure, margin: f64) -> Judged {
    speed.low.zip(speed.high).map_or(Judged::Open, |interval| judge(interval, margin))
}

fn is_known(speed: Figure) -> bool {
    speed.low.is_some() && speed.high.is_some()
}

/// Why there is nothing to judge.
fn unknown(title: &str, two: [Option<&ContenderFindings>; 2]) -> String {
    let why = two.into_iter().flatten().find_map(|c| {
        let note = c.notes.first().filter(|_| c.metric.is_none())?;
        Some(format!("{}: {note}", c.title))
    });
    let why = why.unwrap_or_else(|| "there are too few sound starts".to_owned());
    format!("{title} could not be judged: {why}")
}

#[cfg(test)]
#[path = "gate/tests.rs"]
mod tests;
