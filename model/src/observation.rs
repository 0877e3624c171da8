//! A trial as it is stored: what was asked, what came of it, on what machine.

use crate::contender::{Class, Faults, Settings, Track};
use crate::environment::{Conditions, Environment};
use crate::study::Study;
use crate::tally::Tally;
use crate::usage::Usage;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One sitting with a study: what is needed to go on with it and to report it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its name in the store.
    pub id: String,
    /// The study's name.
    pub name: String,
    /// The study as it was resolved, options applied.
    pub study: Study,
    /// Decides every shuffle and every resampling.
    pub seed: u64,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The workloads' bodies, as SHA-256, by name; none in runs of older versions.
    #[serde(default)]
    pub workloads: BTreeMap<String, String>,
    /// A first look: too short for ranks.
    pub quick: bool,
    /// The machine.
    pub environment: Environment,
    /// The contenders' titles and versions; one that could not be had has no version and a reason.
    pub contenders: BTreeMap<String, Entrant>,
    /// Every contender enters a block so many times; the reference always twice.
    pub copies: usize,
    /// What only a race has.
    #[serde(default)]
    pub race: Option<Raced>,
    /// Trials count although other programs use much of the machine; unknown in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_busy: Option<bool>,
}

/// What all contenders of a race have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raced {
    /// The length of the body that all of them answer with; none where it was not asked to be the same.
    pub body_bytes: Option<usize>,
    /// The command that is run before every trial.
    pub prepare: Option<String>,
}

/// A contender in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entrant {
    /// What a table calls it.
    pub title: String,
    /// What it says its version is.
    pub version: Option<String>,
    /// Why it does not take part.
    pub missing: Option<String>,
    /// How it takes part.
    #[serde(default)]
    pub track: Track,
    /// How it is set up; empty in runs of older versions and in races.
    #[serde(default)]
    pub settings: Settings,
    /// What it is known to do wrong.
    #[serde(default)]
    pub faults: Faults,
    /// How its starts differ and how it gets warm; unknown in runs of older versions and in races.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// It needs the whole machine: no other contender is alive beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// Whose advice the tuned track follows.
    #[serde(default)]
    pub because: Option<String>,
    /// SHA-256 of what the catalog says of it: its sources and its declaration.
    #[serde(default)]
    pub source_sha256: Option<String>,
    /// Program and arguments as they are declared, placeholders and all; empty in runs of older versions and in races.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The files that configure it, by name, as they are declared; none in runs of older versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// One contender, one cell, one block: of a run in heats, one start of it, in one cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Trial {
    /// Counted from 0; the round of a run in heats.
    pub block: usize,
    /// Index into the study's cells.
    pub cell: usize,
    /// Name of the contender.
    pub contender: String,
    /// Which of the contender's entries, from 0.
    pub copy: usize,
}

/// A trial and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// What was tried.
    pub trial: Trial,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// All of it, from the end of the trial before: start, verification, warm-up, measurement, stop. So the sum over a run's
    /// trials is the time that the run took.
    pub elapsed_ns: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// What the machine was like meanwhile; unknown in observations of older versions.
    #[serde(default)]
    pub conditions: Conditions,
    /// What only a start in a heat has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_heat: Option<InHeat>,
}

/// How a start was measured in one cell of its heat; nothing but the heat is known of one that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InHeat {
    /// The heat's number in the round, from 0.
    pub heat: usize,
    /// Load before the measurement.
    pub warmup_ns: Option<u64>,
    /// Whether its rate had settled by then.
    pub settled: Option<bool>,
    /// Its turns, those that do not count included.
    pub turns: Option<u64>,
    /// Its turns that others disturbed.
    pub disturbed: Option<u64>,
}

/// What came of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was measured; the verdict may still be void.
    Measured(Box<Measurement>),
    /// The contender failed: it did not start, answered wrongly, died, or could not be stopped.
    Failed(String),
}

/// What a measurement found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The client's side.
    pub tally: Tally,
    /// The server's side.
    pub usage: Usage,
    /// Whether to believe it.
    pub verdict: Verdict,
}

impl Observation {
    /// The measurement, if there is one and it is not void.
    pub fn valid(&self) -> Option<&Measurement> {
        match &self.outcome {
            Outcome::Measured(m) if m.verdict.valid => Some(m),
            _ => None,
        }
    }
}
