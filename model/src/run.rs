//! A run as it is stored: what was asked, of whom, on what machine.

use crate::contender::{Class, Faults, Settings, Track};
use crate::environment::Environment;
use crate::fleet::Fleet;
use crate::study::Study;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of a study: everything that is needed to continue it and to report it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its name in the store.
    pub id: String,
    /// The study's name.
    pub name: String,
    /// The study as it was resolved, options applied.
    pub study: Study,
    /// The seed of every shuffle and of the due times.
    pub seed: u64,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// The workloads' bodies, as SHA-256, by name; none in runs of older versions.
    #[serde(default)]
    pub workloads: BTreeMap<String, String>,
    /// Whether it is a first look, which is too short for ranks.
    pub quick: bool,
    /// The machine.
    pub environment: Environment,
    /// The contenders' titles and versions; one that could not run has no version and a reason.
    pub contenders: BTreeMap<String, Entrant>,
    /// How often every contender enters a round.
    pub copies: usize,
    /// What only a race has.
    #[serde(default)]
    pub race: Option<Raced>,
    /// Whether trials count although other programs use much of the machine; unknown in runs of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_busy: Option<bool>,
    /// The words of the command line that began it, without the program and the seed; empty where it was not begun by one, and in
    /// runs of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What only a run on several machines has; its environment is then that of the machine that planned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
}

impl Run {
    /// Whether its servers already ran, so that drome neither starts, stops nor pins them.
    pub fn servers_already_ran(&self) -> bool {
        self.race.as_ref().is_some_and(|race| race.running)
    }

    /// The probability of any wrong decision in one evaluation of a cell of a run in heats. All cells that are judged together share one, as
    /// all comparisons of two runs do.
    pub fn level(&self) -> f64 {
        let races = self.race.as_ref().and_then(|race| race.cells).unwrap_or(1);
        stats::heats::LEVEL / (self.study.cells.len() * races).max(1) as f64
    }
}

/// What all contenders of a race have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Raced {
    /// The length of the body that all of them answer with; absent where they were not asked to give the same body.
    pub body_bytes: Option<usize>,
    /// The command that is run before every trial.
    pub prepare: Option<String>,
    /// Whether its servers already ran, so that drome neither started nor stopped them; a start is then a new set of connections.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub running: bool,
    /// The number of races that are judged together, this one included: one for each cell of a file. Absent where it is judged alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<usize>,
}

/// A container image, pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContainerImage {
    /// Its name, as given.
    pub name: String,
    /// What was run: the image's ID, `sha256:` and 64 hexadecimal digits. Two images with the same ID are the same.
    pub id: String,
    /// Its name and digest in a registry, `repository@sha256:…`; absent where the tool knows none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// A contender in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entrant {
    /// What a table calls it.
    pub title: String,
    /// The version that it reports.
    pub version: Option<String>,
    /// Why it does not take part.
    pub missing: Option<String>,
    /// The track on which it takes part.
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
    /// Whether it needs the whole machine, so that no other contender is alive beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// The source of the advice that the tuned track follows.
    #[serde(default)]
    pub because: Option<String>,
    /// SHA-256 of its sources and its declaration in the catalog.
    #[serde(default)]
    pub source_sha256: Option<String>,
    /// Program and arguments as declared, with placeholders; in a race the shell and the given command, for a container image its
    /// name, its ID and its command in one line, and for a server that already ran its URL. Empty in runs of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The files that configure it, by name, as declared; absent in runs of older versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The container image that it runs in; only contenders of a race of images have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<ContainerImage>,
}

impl Entrant {
    /// The command or the URL of a contender of a race, as it was given; its title, where only that is known.
    pub fn raced_command(&self) -> &str {
        self.command.last().unwrap_or(&self.title)
    }
}
