//! The figures that a founding page (a published benchmark that a study repeats) reported, and how it measured: raw figures, its own
//! command lines, and what was unequal.

use crate::checked;
use crate::environment::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The published figures of a page, which are finite numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The metric of these figures.
    pub metric: PageMetric,
    /// The hardware on which they were measured.
    pub hardware: String,
    /// One figure for each contender, the same in every cell; used only where `cells` is absent.
    #[serde(default, deserialize_with = "checked::finite")]
    pub figures: BTreeMap<String, f64>,
    /// One figure for each contender, by the cell's title.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "checked::finite")]
    pub cells: BTreeMap<String, BTreeMap<String, f64>>,
    /// The page's other figures, by the cell's title, the contender and the figure's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "checked::finite")]
    pub details: BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>,
    /// The other figures that nothing measured here corresponds to, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub without: BTreeMap<String, String>,
    /// The versions that the page names, by contender.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
}

impl Published {
    /// The page's figure for a contender in a cell.
    pub fn figure(&self, cell: &str, contender: &str) -> Option<f64> {
        let of_cell = self.cells.get(cell);
        let figures = if self.cells.is_empty() { &self.figures } else { of_cell? };
        figures.get(contender).copied()
    }

    /// The page's other figures for a contender in a cell, by the page's names.
    pub fn others(&self, cell: &str, contender: &str) -> Option<&BTreeMap<String, f64>> {
        self.details.get(cell)?.get(contender)
    }
}

/// The metric of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageMetric {
    /// Requests/s.
    RatePerS,
}

/// How the page measured one cell: `drome run --as-published` runs it as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AsPublished {
    /// The cell's title.
    pub cell: String,
    /// The title in a report, where the page has several command lines for a cell; the page's figures of the cell are then not those of
    /// this command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The contenders that it was run against; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = []))]
    pub only: Vec<String>,
    /// A command line in a dialect; `{url} {urls} {host} {port} {path}` are filled in, `{urls}` with a file's name.
    pub command: Vec<String>,
    /// The contenders that the page treated differently.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contenders: BTreeMap<String, Quirk>,
}

/// How the page treated one contender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quirk {
    /// Another command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The server's own command line, in place of `run.command`; the same placeholders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<String>>,
    /// The workload that it was asked for instead of the cell's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// The page's rate for this command line, where the cell's figure is that of another command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// The number of workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<usize>,
    /// Whether it was missing in this cell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub absent: bool,
}

impl AsPublished {
    /// The command line for a contender; `None`: the page did not measure it in this cell.
    pub fn command(&self, contender: &str) -> Option<&[String]> {
        let quirk = self.quirk(contender);
        let is_asked = self.only.is_empty() || self.only.iter().any(|name| name == contender);
        if !is_asked || quirk.is_some_and(|quirk| quirk.absent) {
            return None;
        }
        Some(quirk.and_then(|quirk| quirk.command.as_deref()).unwrap_or(&self.command))
    }

    /// How the page treated a contender, if differently from the others.
    pub fn quirk(&self, contender: &str) -> Option<&Quirk> {
        self.contenders.get(contender)
    }

    /// The title in a report.
    pub fn heading(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.cell)
    }

    /// The page's rate for a contender by this command line.
    pub fn rate_per_s(&self, page: &Published, contender: &str) -> Option<f64> {
        let of_cell = || page.figure(&self.cell, contender).filter(|_| self.title.is_none());
        self.quirk(contender).and_then(|quirk| quirk.published).or_else(of_cell)
    }

    /// The page's other figures for a contender by this command line.
    pub fn others<'p>(&self, page: &'p Published, contender: &str) -> Option<&'p BTreeMap<String, f64>> {
        page.others(&self.cell, contender).filter(|_| self.title.is_none())
    }
}

/// One run of a page's own command lines. It is no race: each is run once, and no contender is ranked by it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replays {
    /// Its name in the store.
    pub id: String,
    /// The study's name.
    pub name: String,
    /// The study's title.
    pub title: String,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// Whether all command lines were run.
    pub is_whole: bool,
    /// The machine.
    pub environment: Environment,
    /// The result of each, in the page's order.
    pub replays: Vec<Replay>,
}

/// The result of a page's command line, run once against a contender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// The cell's title, or that of the command line where it has one of its own.
    pub cell: String,
    /// The contender's name.
    pub contender: String,
    /// What a table calls it.
    pub title: String,
    /// The version that it reports.
    pub version: Option<String>,
    /// The version that the page names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_version: Option<String>,
    /// The command line as it was run.
    pub command: String,
    /// The page's figure.
    pub published: Option<f64>,
    /// Requests/s: complete answers of the kind that the tool expects.
    pub rate_per_s: Option<f64>,
    /// The number of those answers.
    pub completed: Option<u64>,
    /// The number of requests that failed.
    pub errors: Option<u64>,
    /// The mean latency.
    pub latency_ns_mean: Option<f64>,
    /// The server's largest virtual memory (VIRT).
    pub virtual_max_bytes: Option<u64>,
    /// The server's largest resident memory (RES).
    pub rss_max_bytes: Option<u64>,
    /// Why there are no figures, or figures of a part only.
    pub note: Option<String>,
    /// What the tool printed.
    pub report: String,
    /// The page's other figures, by the page's names and in its units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub page_figures: BTreeMap<String, f64>,
    /// The figures of the tool's report, and what the server used, by the names and in the units of a reading.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// Why some of the page's figures have no counterpart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub without: BTreeMap<String, String>,
}
