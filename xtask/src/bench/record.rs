//! A run of the bench as data: what is written as JSON, and what every table is made from.

use super::figure::Outcome;
use super::rows::{Bound, Client, Figure, Over, Quantity, Work};
use super::works::WORKS;
use super::{peers, server};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Of the file's form.
pub const SCHEMA: u32 = 1;

/// All that a run of the bench came to. No name of a host, a user or a folder is in it.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Record {
    pub schema: u32,
    /// The day, in UTC.
    pub date: String,
    /// Processor, cores, kernel.
    pub machine: String,
    /// Of drome and of each peer; `None`: not installed, or it does not say.
    pub versions: BTreeMap<String, Option<String>>,
    /// `None` where that is not known, as of figures from before there was this file.
    pub setting: Option<Setting>,
    pub rows: Vec<Row>,
}

/// How it was measured.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Setting {
    pub server_core: usize,
    pub client_core: usize,
    /// The fewest that a row had; each row's own are in `by_round`.
    pub rounds: usize,
    /// Some works take longer.
    pub seconds: u64,
}

/// One figure of one work.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Row {
    /// Chooses the work on the command line.
    pub work: String,
    pub title: String,
    /// Such as "client CPU per request".
    pub figure: String,
    pub unit: Unit,
    /// What it is divided by, in words; `None`: the values are in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// A round that did not come about is `None`; empty where only the median is known.
    pub by_round: Vec<Option<f64>>,
    pub median: Option<f64>,
    /// Why the median is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    pub bound: Bound,
    /// Whose quantities the figure is made from, and the median of each, in `unit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// What drome itself says against a run of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// How many cores others kept busy, in the worst of its runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cores: Option<f64>,
}

/// One side of a figure.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Part {
    pub of: String,
    pub median: f64,
}

/// Of a quantity before it is divided by anything.
#[derive(Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Ns,
    Bytes,
    PerS,
    Share,
}

impl Record {
    /// A run that was written before; `None` where there is no file.
    pub fn read(file: &Path) -> Result<Option<Self>> {
        let json = match fs::read_to_string(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            json => json.with_context(|| format!("can't read {}", file.display()))?,
        };
        let record: Self = serde_json::from_str(&json)
            .with_context(|| format!("{} is no run of the bench", file.display()))?;
        ensure!(
            record.schema == SCHEMA,
            "{} has schema {}, and this is {SCHEMA}",
            file.display(),
            record.schema
        );
        Ok(Some(record))
    }

    /// The same with the works of a later run in place of its own, in the order of the table. Works that are no more are left out.
    pub fn with(self, later: Self) -> Self {
        let is_later = |work: &str| later.rows.iter().any(|row| row.work == work);
        let kept: Vec<Row> = self.rows.into_iter().filter(|row| !is_later(&row.work)).collect();
        let all: Vec<Row> = kept.into_iter().chain(later.rows).collect();
        let rows: Vec<Row> =
            WORKS.iter().flat_map(|work| all.iter().filter(|row| row.work == work.name)).cloned().collect();
        let rounds = rows.iter().map(|row| row.by_round.len()).filter(|rounds| *rounds > 0).min();
        let setting =
            later.setting.map(|setting| Setting { rounds: rounds.unwrap_or(setting.rounds), ..setting });
        Self { setting, rows, ..later }
    }
}

impl Row {
    /// What a figure came to.
    pub fn new(work: &Work, figure: &Figure, outcome: &Outcome) -> Self {
        let part = |(at, median): &(usize, f64)| Part { of: name(work, figure.what, *at), median: *median };
        Self {
            work: work.name.to_owned(),
            title: work.title.to_owned(),
            figure: what(work, figure),
            unit: unit(figure.what),
            over: over(work, figure),
            by_round: outcome.by_round.clone(),
            median: outcome.value.as_ref().ok().copied(),
            unknown: outcome.value.as_ref().err().cloned(),
            bound: figure.bound,
            parts: outcome.parts.iter().map(part).collect(),
            doubt: outcome.doubt.clone(),
            others_cores: outcome.others_cores,
        }
    }

    /// Whether it keeps to its bound; `None` where it is unknown.
    pub fn is_ok(&self) -> Option<bool> {
        self.median.map(|median| self.bound.holds(median))
    }
}

fn unit(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::ClientCpu | Quantity::ServerCpu | Quantity::Quantile(..) => Unit::Ns,
        Quantity::Rss => Unit::Bytes,
        Quantity::Rate => Unit::PerS,
        Quantity::ServerIdle => Unit::Share,
    }
}

/// The quantity, and the arguments of its run that the work's first run does not have.
fn what(work: &Work, figure: &Figure) -> String {
    let name = match figure.what {
        Quantity::ClientCpu => "client CPU per request".to_owned(),
        Quantity::ServerCpu => "server CPU per request".to_owned(),
        Quantity::Rss if matches!(figure.over, Over::PerConnectionBeyond(_)) => {
            "resident memory of a further connection".to_owned()
        }
        Quantity::Rss => "resident memory".to_owned(),
        Quantity::Rate => "requests per second".to_owned(),
        Quantity::ServerIdle => "idle share of the server's core".to_owned(),
        Quantity::Quantile(of, which) => format!("{} {which}", of.trim_end_matches("_ns").replace('_', " ")),
    };
    let args = |at: usize| match work.runs.get(at).map(|run| run.client) {
        Some(Client::Drome(args)) => args,
        _ => &[],
    };
    let first = args(0);
    let more: Vec<&str> = args(figure.of).iter().copied().filter(|arg| !first.contains(arg)).collect();
    if more.is_empty() { name } else { format!("{name}, `{}`", peers::words(&more)) }
}

/// What the quantity is compared with.
fn over(work: &Work, figure: &Figure) -> Option<String> {
    match figure.over {
        Over::Nothing | Over::PerConnectionBeyond(_) => None,
        Over::Truth(truth) => Some(unit(figure.what).shown(truth)),
        Over::LeastOf(others) | Over::MostOf(others) => {
            let names: Vec<String> = others.iter().map(|at| name(work, figure.what, *at)).collect();
            Some(if names.len() > 1 { format!("the best of {}", names.join(", ")) } else { names.concat() })
        }
    }
}

/// A run as one side of a figure.
fn name(work: &Work, what: Quantity, at: usize) -> String {
    work.runs.get(at).map_or_else(String::new, |run| match what {
        Quantity::ServerCpu => server::label(run.server),
        _ => match run.connections {
            None => peers::label(run.client),
            Some(connections) => format!("{} with {connections} connections", peers::label(run.client)),
        },
    })
}

impl Unit {
    /// A value, to three digits, in the unit that suits it.
    pub fn shown(self, value: f64) -> String {
        let of = |value: f64, unit: &str| {
            let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
            format!("{value:.digits$} {unit}")
        };
        match self {
            Self::Bytes if value < 1e5 => of(value / 1e3, "KB"),
            Self::Bytes => of(value / 1e6, "MB"),
            Self::Share => of(value * 100.0, "%"),
            Self::PerS => format!("{value:.0}/s"),
            Self::Ns => match value {
                1e6.. => of(value / 1e6, "ms"),
                1e3.. => of(value / 1e3, "µs"),
                _ => format!("{value:.0} ns"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(work: &str, median: f64, rounds: usize) -> Row {
        let by_round = vec![Some(median); rounds];
        let outcome =
            Outcome { value: Ok(median), by_round, parts: Vec::new(), doubt: None, others_cores: None };
        let work = Work { name: "", ..*WORKS.iter().find(|known| known.name == work).unwrap_or(&WORKS[0]) };
        Row::new(&work, &work.figures[0], &outcome)
    }

    fn record(date: &str, rows: &[(&str, f64, usize)]) -> Record {
        let rows = rows
            .iter()
            .map(|(work, median, rounds)| Row { work: (*work).to_owned(), ..row(work, *median, *rounds) });
        let setting = Setting { server_core: 0, client_core: 1, rounds: 9, seconds: 1 };
        let (machine, versions) = (String::new(), BTreeMap::new());
        Record {
            schema: SCHEMA,
            date: date.to_owned(),
            machine,
            versions,
            setting: Some(setting),
            rows: rows.collect(),
        }
    }

    #[test]
    fn a_later_run_replaces_its_own_works_and_keeps_the_others() {
        let first = record("1", &[("hello", 1.0, 5), ("no longer", 2.0, 5), ("keep-alive", 3.0, 5)]);
        let both = first.with(record("2", &[("hello", 4.0, 7), ("stall", 5.0, 9)]));
        let rows: Vec<_> = both.rows.iter().map(|row| (row.work.as_str(), row.median)).collect();
        assert_eq!(rows, [("keep-alive", Some(3.0)), ("stall", Some(5.0)), ("hello", Some(4.0))]);
        assert_eq!((both.date.as_str(), both.setting.map(|setting| setting.rounds)), ("2", Some(5)));
    }
}
