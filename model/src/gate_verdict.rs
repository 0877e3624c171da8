//! A gate's judgement as a document: the JSON of `--verdict FILE` (schema 1). What drome writes stays within the limits of `check`, which
//! every reader applies, because the file may come from anyone.

mod check;
mod profile;

pub use profile::{
    LONGEST_FUNCTION, LONGEST_NS, MOST_FUNCTIONS, MOST_PROFILED, ProfileDifference, ProfiledFunction,
    ProfiledServer, VerdictProfile,
};

use crate::comparison::Comparison;
use crate::findings::{ContenderFindings, Findings};
use crate::gate::{Changed, Gate, Outcome};
use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the JSON.
pub const SCHEMA: u32 = 1;

/// The largest number of changes in a document; the worst are kept.
pub const MOST_CHANGES: usize = 200;

/// The largest number of sentences in a document.
pub const MOST_SENTENCES: usize = 40;

/// The largest number of revisions in a document: as many as a race can have servers.
pub const MOST_REVISIONS: usize = 26;

/// The longest name, in bytes.
pub const LONGEST_NAME: usize = 100;

/// The longest sentence, in bytes.
pub const LONGEST_SENTENCE: usize = 500;

/// Ratios of speeds are limited to the range from the reciprocal of this number to the number itself.
const LARGEST_RATIO: f64 = 1e6;

/// What `--fail-if-slower` decided, and from what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateVerdict {
    /// 1: the version of this JSON.
    pub schema: u32,
    /// The judgement.
    pub outcome: Outcome,
    /// The share of its speed that a server may lose, unless its change has another margin.
    pub margin: f64,
    /// The title of the race or of the study.
    pub title: String,
    /// What the others are compared with: the first server of a race, or the earlier run.
    pub against: String,
    /// The known changes of speed, the worst first.
    pub changes: Vec<VerdictChange>,
    /// The number of changes that are left out because there are too many; none of them is worse than those above.
    pub left_out: usize,
    /// Why servers could not be judged, a sentence each.
    pub unknown: Vec<String>,
    /// The servers, by title, of which it is unknown whether they were warm while they were measured; absent where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_unknown: Vec<String>,
    /// The smallest slowdown that measurements as precise as these would show of every server, as a share; null: unknown.
    pub smallest_slowdown: Option<f64>,
    /// The revisions that were raced, in the order of the race; absent where no revisions were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<VerdictRevision>,
    /// Where the servers spent their CPU time; absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<VerdictProfile>,
    /// How long the measurements took together; of a comparison, those of the later run.
    pub elapsed_s: f64,
    /// The number of rounds of the cell with the most.
    pub rounds: usize,
    /// The machine.
    pub machine: VerdictMachine,
    /// drome's version.
    pub drome: String,
}

/// One server's change of speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictChange {
    /// What a table calls the server.
    pub title: String,
    /// The cell; null: there is only one.
    pub cell: Option<String>,
    /// The metric. Speed is the rate itself, or the reciprocal of the metric where less is better.
    pub metric: Metric,
    /// Its speed divided by that of the server that it is compared with: less than 1 is slower.
    pub speed: f64,
    /// The lower bound of the 95 % interval; null: there is no interval.
    pub low: Option<f64>,
    /// The upper bound of the 95 % interval.
    pub high: Option<f64>,
    /// The share of its speed that it may lose, where that is not the document's margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The share of its speed that it lost: 1 minus `speed`, negative where it became faster.
    pub slowdown: f64,
    /// The judgement.
    pub judged: Outcome,
}

/// A revision of a repository that was raced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictRevision {
    /// What a table calls its server.
    pub title: String,
    /// The commit; of a working tree the one that was checked out.
    pub commit: String,
    /// SHA-256 of all files of a working tree; null for a commit.
    pub files: Option<String>,
}

/// The machine, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VerdictMachine {
    /// The number of cores that drome may use.
    pub cores: usize,
    /// The name of the processor, as it reports it.
    pub cpu: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
}

impl GateVerdict {
    /// The judgement of races of the same servers, one for each cell, with the time of all. `findings`: those of the first race.
    /// `revisions`: what was raced, in the order of the race; none where commands were.
    pub fn of_races(
        gate: &Gate,
        findings: &Findings,
        others: &[Findings],
        revisions: Vec<VerdictRevision>,
    ) -> Self {
        let one = Self::of_race(gate, findings, revisions);
        let elapsed_s = others.iter().fold(one.elapsed_s, |sum, race| sum + race.elapsed_s);
        let rounds = others.iter().map(rounds).fold(one.rounds, usize::max);
        let warm_unknown = warm_unknown(std::iter::once(findings).chain(others));
        Self { warm_unknown, elapsed_s, rounds, ..one }
    }

    /// The judgement of a race. `revisions`: what was raced, in the order of the race; none where commands were.
    pub fn of_race(gate: &Gate, findings: &Findings, revisions: Vec<VerdictRevision>) -> Self {
        let first = findings.race.as_ref().and_then(|race| race.pairs.first());
        let name = first.map_or("the first", |pair| pair.against.as_str());
        let mut all = findings.cells.iter().flat_map(|cell| &cell.contenders);
        let against = all.find(|c| c.name == name).map_or(name, |c| c.title.as_str());
        let revisions = revisions.into_iter().map(clipped_revision).collect();
        Self { revisions, ..Self::new(gate, findings, against) }
    }

    /// The judgement of a comparison of two runs. `later`: the findings of the later one.
    pub fn of_comparison(gate: &Gate, comparison: &Comparison, later: &Findings) -> Self {
        Self::new(gate, later, &comparison.old)
    }

    fn new(gate: &Gate, findings: &Findings, against: &str) -> Self {
        let mut unknown: Vec<String> =
            gate.unknown.iter().map(|why| clipped(why, LONGEST_SENTENCE)).collect();
        let mut changes = Vec::new();
        for change in &gate.changes {
            match VerdictChange::of(change, gate.margin) {
                Some(change) => changes.push(change),
                None => unknown.push(format!(
                    "{} could not be judged: its change of speed is not a number",
                    clipped(&change.title, LONGEST_NAME)
                )),
            }
        }
        changes.sort_by_key(|change| badness(change.judged));
        let outcome = Outcome::of_all(changes.iter().map(|change| change.judged), &unknown);
        let left_out = changes.len().saturating_sub(MOST_CHANGES);
        changes.truncate(MOST_CHANGES);
        shorten(&mut unknown);
        let environment = &findings.environment;
        let name = |name: Option<&String>| name.map(|name| clipped(name, LONGEST_NAME));
        Self {
            schema: SCHEMA,
            outcome,
            margin: gate.margin,
            title: clipped(&findings.title, LONGEST_NAME),
            against: clipped(against, LONGEST_NAME),
            changes,
            left_out,
            unknown,
            warm_unknown: warm_unknown([findings]),
            smallest_slowdown: gate.smallest_shown().filter(|share| (0.0..=1.0).contains(share)),
            revisions: Vec::new(),
            profile: None,
            elapsed_s: findings.elapsed_s,
            rounds: rounds(findings),
            machine: VerdictMachine {
                cores: environment.cores,
                cpu: name(environment.cpu.as_ref()),
                kernel: name(environment.kernel.as_ref()),
            },
            drome: clipped(&environment.drome, LONGEST_NAME),
        }
    }
}

impl VerdictChange {
    /// `margin`: the document's. `None`: a figure is not a number.
    fn of(change: &Changed, margin: f64) -> Option<Self> {
        let figures = [Some(change.speed.median), change.speed.low, change.speed.high];
        if figures.iter().flatten().any(|figure| figure.is_nan()) {
            return None;
        }
        let within = |figure: f64| figure.clamp(1.0 / LARGEST_RATIO, LARGEST_RATIO);
        let speed = within(change.speed.median);
        Some(Self {
            title: clipped(&change.title, LONGEST_NAME),
            cell: change.cell.as_ref().map(|cell| clipped(cell, LONGEST_NAME)),
            metric: change.metric,
            speed,
            low: change.speed.low.map(within),
            high: change.speed.high.map(within),
            margin: Some(change.margin).filter(|own| *own != margin),
            slowdown: 1.0 - speed,
            judged: change.judged.into(),
        })
    }
}

/// The servers, by title, of which it is unknown whether they were warm in all cells.
fn warm_unknown<'f>(findings: impl IntoIterator<Item = &'f Findings>) -> Vec<String> {
    let cells = findings.into_iter().flat_map(|findings| &findings.cells);
    let is_unknown = |c: &&ContenderFindings| c.in_heats.warm.is_none();
    let all = cells.flat_map(|cell| &cell.contenders).filter(is_unknown);
    let mut titles: Vec<String> = all.map(|c| clipped(&c.title, LONGEST_NAME)).collect();
    titles.sort_unstable();
    titles.dedup();
    titles.truncate(MOST_SENTENCES);
    titles
}

/// The number of rounds of the cell with the most.
fn rounds(findings: &Findings) -> usize {
    findings.cells.iter().map(|cell| cell.rounds).max().unwrap_or_default()
}

/// The place of a judgement in the list.
fn badness(judged: Outcome) -> u8 {
    match judged {
        Outcome::Slower => 0,
        Outcome::Open => 1,
        Outcome::Passed => 2,
    }
}

/// Keeps as many sentences as a document may have; the last one then counts the others.
fn shorten(sentences: &mut Vec<String>) {
    if sentences.len() > MOST_SENTENCES {
        let more = sentences.len() - (MOST_SENTENCES - 1);
        sentences.truncate(MOST_SENTENCES - 1);
        sentences.push(format!("{more} others could not be judged either"));
    }
}

fn clipped_revision(revision: VerdictRevision) -> VerdictRevision {
    VerdictRevision {
        title: clipped(&revision.title, LONGEST_NAME),
        commit: clipped(&revision.commit, LONGEST_NAME),
        files: revision.files.map(|files| clipped(&files, LONGEST_NAME)),
    }
}

/// The text with a space for each control character.
fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The text on one line, at most this many bytes of it.
fn clipped(text: &str, most: usize) -> String {
    let line = on_one_line(text);
    if line.len() <= most {
        return line;
    }
    let room = most - '…'.len_utf8();
    let mut kept = String::with_capacity(most);
    for c in line.chars() {
        if kept.len() + c.len_utf8() > room {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}

#[cfg(test)]
mod tests;
