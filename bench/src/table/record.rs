//! A whole measurement as data: what is written as JSON, and what every table is made from.

use super::model::{Baseline, Bound, Client, Figure, Quantity, Work};
use super::works::works;
use super::{clients, server};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Version of the file's format.
pub const SCHEMA: u32 = 1;

/// A whole measurement. It contains no name of a host, a user or a folder.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Record {
    pub schema: u32,
    /// The day, in UTC.
    pub date: String,
    /// Processor, cores, kernel.
    pub machine: String,
    /// The versions of drome and of each other program, by name; `None` if the program does not print one.
    pub versions: BTreeMap<String, Option<String>>,
    /// How it was measured; `None` if unknown.
    pub setting: Option<Setting>,
    pub rows: Vec<Row>,
}

/// How it was measured.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Setting {
    pub server_core: usize,
    pub client_core: usize,
    /// The smallest number of rounds of any row; each row's own rounds are in `by_round`.
    pub rounds: usize,
    /// Length of a run in seconds; some works take longer.
    pub seconds: u64,
}

/// One figure of one work.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the work, which selects it on the command line.
    pub work: String,
    pub title: String,
    /// Such as "client CPU per request".
    pub figure: String,
    pub unit: Unit,
    /// What the quantity is divided by, in words; `None`: the values are in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// A round that failed is `None`; empty where only the median is known.
    pub by_round: Vec<Option<f64>>,
    pub median: Option<f64>,
    /// Why the median is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    pub bound: Bound,
    /// The runs that the figure is made from, and the median of the quantity in each, in the row's `unit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Why drome itself calls one of its runs invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// How many cores other programs kept busy, in the worst of the runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cores: Option<f64>,
}

/// A run that a figure is made from.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
pub struct Part {
    pub of: String,
    pub median: f64,
}

/// Unit of a quantity, before it is divided by anything.
#[derive(Serialize, Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Ns,
    Bytes,
    PerS,
    Share,
}

impl Record {
    /// Reads a measurement from a file; `None` where there is no file.
    pub fn read(file: &Path) -> Result<Option<Self>> {
        let json = match fs::read_to_string(file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            json => json.with_context(|| format!("can't read {}", file.display()))?,
        };
        let record: Self = serde_json::from_str(&json)
            .with_context(|| format!("{} was not written by `cargo xtask bench`", file.display()))?;
        ensure!(
            record.schema == SCHEMA,
            "{} has schema {}, and this version reads and writes {SCHEMA}: move the file away",
            file.display(),
            record.schema
        );
        Ok(Some(record))
    }

    /// Replaces the works that a later measurement has, and puts all in the order of the table. Works that no longer
    /// exist are left out.
    pub fn with(self, later: Self) -> Self {
        let is_later = |work: &str| later.rows.iter().any(|row| row.work == work);
        let kept: Vec<Row> = self.rows.into_iter().filter(|row| !is_later(&row.work)).collect();
        let all: Vec<Row> = kept.into_iter().chain(later.rows).collect();
        let rows: Vec<Row> =
            works().flat_map(|work| all.iter().filter(|row| row.work == work.name)).cloned().collect();
        let rounds = rows.iter().map(|row| row.by_round.len()).filter(|rounds| *rounds > 0).min();
        let setting =
            later.setting.map(|setting| Setting { rounds: rounds.unwrap_or(setting.rounds), ..setting });
        Self { setting, rows, ..later }
    }
}

impl Row {
    /// Whether it keeps its bound; `None` if the figure is unknown.
    pub fn is_ok(&self) -> Option<bool> {
        self.median.map(|median| self.bound.holds(median))
    }
}

/// The unit of a quantity.
pub fn unit(quantity: Quantity) -> Unit {
    match quantity {
        Quantity::ClientCpu | Quantity::ServerCpu | Quantity::Quantile(..) => Unit::Ns,
        Quantity::Rss | Quantity::ClientAnonymous | Quantity::ServerAnonymous => Unit::Bytes,
        Quantity::Rate => Unit::PerS,
        Quantity::ServerIdle => Unit::Share,
    }
}

/// The quantity, and those arguments of its run that the work's first run does not have.
pub fn figure_name(work: &Work, figure: &Figure) -> String {
    let name = match figure.quantity {
        Quantity::ClientCpu => "client CPU per request".to_owned(),
        Quantity::ServerCpu => "server CPU per request".to_owned(),
        Quantity::Rss if matches!(figure.baseline, Baseline::PerExtraConnection(_)) => {
            "resident memory of a further connection".to_owned()
        }
        Quantity::Rss => "resident memory".to_owned(),
        Quantity::ClientAnonymous => "anonymous memory".to_owned(),
        Quantity::ServerAnonymous => "anonymous memory of the server".to_owned(),
        Quantity::Rate => "requests per second".to_owned(),
        Quantity::ServerIdle => "idle share of the server's core".to_owned(),
        Quantity::Quantile(distribution, quantile) => {
            format!("{} {quantile}", distribution.trim_end_matches("_ns").replace('_', " "))
        }
    };
    let args = |at: usize| match work.runs.get(at).map(|run| run.client) {
        Some(Client::Drome(args)) => args,
        _ => &[],
    };
    let first = args(0);
    let more: Vec<&str> = args(figure.run).iter().copied().filter(|arg| !first.contains(arg)).collect();
    if more.is_empty() { name } else { format!("{name}, `{}`", clients::words(&more)) }
}

/// What the quantity is compared with.
pub fn baseline_name(work: &Work, figure: &Figure) -> Option<String> {
    match figure.baseline {
        Baseline::Nothing | Baseline::PerExtraConnection(_) => None,
        Baseline::Expected(value) => Some(unit(figure.quantity).shown(value)),
        Baseline::LowestOf(others) | Baseline::HighestOf(others) => {
            let names: Vec<String> = others.iter().map(|at| run_name(work, figure.quantity, *at)).collect();
            Some(if names.len() > 1 { format!("the best of {}", names.join(", ")) } else { names.concat() })
        }
    }
}

/// A run, named by what the quantity is about: its server or its client.
pub fn run_name(work: &Work, quantity: Quantity, run: usize) -> String {
    work.runs.get(run).map_or_else(String::new, |run| match quantity {
        Quantity::ServerCpu | Quantity::ServerAnonymous => server::label(run.server),
        _ => match run.connections {
            None => clients::label(run.client),
            Some(connections) => format!("{} with {connections} connections", clients::label(run.client)),
        },
    })
}

impl Unit {
    /// A value with three digits, in a unit that suits its size.
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
    use super::super::figure::evaluate;
    use super::*;

    fn row(work: &str, median: f64, rounds: usize) -> Row {
        let known = works().find(|known| known.name == work).unwrap_or(works().next().unwrap());
        let (by_round, work) = (vec![Some(median); rounds], work.to_owned());
        Row { work, by_round, median: Some(median), ..evaluate(known, &known.figures[0], &[]) }
    }

    fn record(date: &str, rows: &[(&str, f64, usize)]) -> Record {
        let rows = rows.iter().map(|(work, median, rounds)| row(work, *median, *rounds));
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
