//! Imported results in the same tables and bars as drome's own runs, always marked as imported. Nothing is known of them but what the
//! page says, so they have no intervals, no tiers and no verdict.

mod json;
mod records;
mod text;

pub use json::{Report, json};
pub use records::records;
pub use text::{chart, document};

use crate::units;
use model::Import;
use model::import::Imported;
use std::collections::BTreeMap;

/// Readings that can be compared: same tool, same workload, same command line except for host and port.
#[derive(Clone, Debug)]
struct Cell<'i> {
    /// The title in reports.
    pub title: String,
    /// The tool.
    pub tool: &'i str,
    /// The command line of the first reading that has one.
    pub command: Option<&'i str>,
    /// The workload in the words of the page.
    pub workload: Option<&'i str>,
    /// The number of connections if all readings have the same.
    pub connections: Option<f64>,
    /// The offered rate if all readings have the same.
    pub offered_rate_per_s: Option<f64>,
    /// From the fastest to the slowest; readings without a rate come last.
    pub rows: Vec<Row<'i>>,
}

/// A reading with a name that is unique in its cell.
#[derive(Clone, Debug)]
struct Row<'i> {
    /// The unique name.
    pub name: String,
    /// The reading.
    pub item: &'i Imported,
}

impl Row<'_> {
    /// A figure by its name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.item.reading.get(name)
    }

    /// A time as it is shown: `< 1 ms` where the report has 0 and can't show less than 1 ms.
    pub fn time(&self, name: &str) -> Option<String> {
        let below = || self.item.reading.below.get(name).map(|ns| units::below(*ns));
        self.get(name).map(units::duration).or_else(below)
    }

    /// The number of errors of all kinds or of failed requests as the tool counts them, whichever is larger; `None` if the tool
    /// reports neither.
    pub fn errors(&self) -> Option<f64> {
        let reading = &self.item.reading;
        let counted = (!reading.errors.is_empty()).then(|| reading.errors.values().sum::<u64>() as f64);
        match (counted, reading.get("failed")) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}

/// The cells of an import, in the order of the pages.
fn cells(import: &Import) -> Vec<Cell<'_>> {
    let mut groups: Vec<(Vec<&Imported>, Option<String>)> = Vec::new();
    // Groups that agree in everything but the path, which a tool's report may leave out.
    let mut alike: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for item in &import.items {
        let path = path(item);
        let candidates = alike.entry(key(item)).or_default();
        let fits = |group: &&usize| {
            let other = &groups[**group].1;
            path.is_none() || other.is_none() || *other == path
        };
        if let Some(group) = candidates.iter().find(fits).copied() {
            groups[group].0.push(item);
            groups[group].1 = groups[group].1.take().or(path);
        } else {
            candidates.push(groups.len());
            groups.push((vec![item], path));
        }
    }
    groups.iter().enumerate().map(|(i, (items, _))| cell(i, items, groups.len() > 1)).collect()
}

type Key = (usize, String, String, String, [Option<u64>; 2]);

/// What the readings of one cell have in common. The source file is part of it, so pages are never mixed.
fn key(item: &Imported) -> Key {
    let reading = &item.reading;
    let options = reading.command.as_deref().map(options).unwrap_or_default();
    let rate = reading.get("offered_rate_per_s").map(f64::to_bits);
    // Without a command line, only the report shows how many connections there were.
    let connections = reading.get("connections").filter(|_| reading.command.is_none()).map(f64::to_bits);
    let workload = reading.workload.clone().unwrap_or_default();
    (item.source, reading.tool.clone(), options, workload, [rate, connections])
}

/// A command line without the URL, which differs from server to server.
fn options(command: &str) -> String {
    let words = command.split_whitespace();
    let is_place = |word: &str| word.contains("://") || word.eq_ignore_ascii_case("url");
    words.filter(|word| !is_place(word)).collect::<Vec<_>>().join(" ")
}

/// The requested path, if it is known.
fn path(item: &Imported) -> Option<String> {
    let reading = &item.reading;
    let in_command = || reading.command.as_deref()?.split_whitespace().find(|word| word.contains("://"));
    let url = reading.url.as_deref().filter(|url| url.contains("://")).or_else(in_command)?;
    let url = url.trim_matches(['\'', '"']);
    let rest = url.split_once("://")?.1;
    Some(rest.split_once('/').map_or("/", |(_, path)| path).trim_start_matches('/').to_owned())
}

fn cell<'i>(index: usize, items: &[&'i Imported], is_one_of_many: bool) -> Cell<'i> {
    let first = &items[0].reading;
    let mut rows: Vec<Row> =
        names(items).into_iter().zip(items).map(|(name, item)| Row { name, item }).collect();
    let rate = |row: &Row| row.get("rate_per_s").unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    let same = |name: &str| {
        let value = first.get(name)?;
        items.iter().all(|item| item.reading.get(name) == Some(value)).then_some(value)
    };
    let command = items.iter().find_map(|item| item.reading.command.as_deref());
    let numbered = || format!("{} {}", first.tool, index + 1);
    let title = first
        .workload
        .clone()
        .or_else(|| command.map(str::to_owned))
        .unwrap_or_else(|| if is_one_of_many { numbered() } else { first.tool.clone() });
    Cell {
        title,
        tool: &first.tool,
        command,
        workload: first.workload.as_deref(),
        connections: same("connections"),
        offered_rate_per_s: same("offered_rate_per_s"),
        rows,
    }
}

/// A unique name for each reading: the page's, else the tool's; names that occur twice get a number.
fn names(items: &[&Imported]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let base = |item: &Imported| item.reading.title.clone().unwrap_or_else(|| item.reading.tool.clone());
    let mut total: BTreeMap<String, usize> = BTreeMap::new();
    items.iter().for_each(|item| *total.entry(base(item)).or_default() += 1);
    let name = |item: &&Imported| {
        let base = base(item);
        let nth = seen.entry(base.clone()).or_default();
        *nth += 1;
        if total[&base] == 1 { base } else { format!("{base} {nth}") }
    };
    items.iter().map(name).collect()
}
