//! Turns a page with reports of other tools, in Markdown, HTML or plain text, into readings. Every reader looks for
//! its tool's reports, and tables of figures are read. Each report gets what the page says about it: its name, its
//! command line, and the remarks around it. What is not understood is listed.

mod complete;
mod doubts;
mod heading;
mod html;
mod prefixes;
mod source;
mod unread;
pub(crate) mod words;

pub use source::decode;

use crate::table::{self, Table};
use crate::text::command::{self, FoundCommand};
use crate::{Found, readers};
use heading::Heading;
use model::Reading;
use model::characters::is_unprintable;
use std::ops::Range;

/// An introduction of at most this length, in bytes, becomes a report's name; a longer one becomes a note.
const LONGEST_NAME: usize = 40;

/// The content of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// Its first heading.
    pub title: Option<String>,
    /// Its reports and the rows of its tables, in order.
    pub items: Vec<Item>,
    /// Unknown content that does not belong to a single reading.
    pub strange: Vec<String>,
}

/// A reading with its notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The reading.
    pub reading: Reading,
    /// Remarks of the page about it, and contradictions.
    pub notes: Vec<String>,
    /// Lines that are not understood, unchanged.
    pub strange: Vec<String>,
}

/// Reads a page.
pub fn read(source: &str) -> Page {
    let shown = html::text(source);
    let cleaned = source::clean(&shown);
    let text = prefixes::without(&cleaned);
    let reports = reports(&text);
    let tables = tables(&text, &reports);
    let is_tool = |name: &str| readers().any(|tool| tool == name);
    let taken = taken(&reports, &tables);
    let headings = heading::headings(&text, &taken, |line| command::command(line, &is_tool).is_some());
    let title = headings.first().map(|heading| heading.text.clone());
    let is_flat = headings.is_empty();
    let headings = if is_flat { heading::unmarked(&text, &taken) } else { headings };
    let commands = command::commands(&text, is_tool);
    let mut strange = unread::all(&text, &commands, &taken);

    let mut items = Vec::new();
    items.extend(of_reports(&text, reports, &headings, is_flat, &commands));
    of_tables(&text, tables, &headings, is_flat, &mut items, &mut strange);
    items.sort_by_key(|(at, _)| *at);
    let mut kept = Vec::new();
    for (_, mut item) in items {
        finish(&mut item);
        let reading = &item.reading;
        let is_empty = reading.figures.keys().all(|name| name.starts_with("planned_"));
        if is_empty && reading.below.is_empty() && reading.errors.is_empty() && reading.tool != table::TOOL {
            strange.push(format!("a report of {} without figures: it may be cut off", reading.tool));
        } else {
            kept.push(item);
        }
    }
    let mut page = Page { title, items: kept, strange };
    page.title.iter_mut().chain(&mut page.strange).for_each(harmless);
    page
}

/// Completes an item, and says what in it can't be right.
fn finish(item: &mut Item) {
    let Item { reading, notes, strange } = item;
    reading.figures.retain(|_, value| value.is_finite());
    complete::complete(reading);
    let doubts = doubts::all(reading);
    // What the page says comes first.
    notes.extend(doubts);
    reading.figures.values_mut().for_each(|value| *value = rounded(*value));
    let texts = [&mut reading.title, &mut reading.command, &mut reading.url, &mut reading.server];
    texts.into_iter().chain([&mut reading.workload, &mut reading.version]).flatten().for_each(harmless);
    notes.iter_mut().chain(strange).for_each(harmless);
    for counts in [&mut reading.status, &mut reading.errors] {
        *counts = std::mem::take(counts)
            .into_iter()
            .map(|(mut kind, n)| (harmless(&mut kind), (kind, n)).1)
            .collect();
    }
}

/// Replaces characters that act instead of being shown. A page may have them as references to characters, and JSON as escapes.
fn harmless(words: &mut String) {
    if words.contains(is_unprintable) {
        let shown = |c: char| match c {
            '\t' | '\n' | '\r' => ' ',
            c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        };
        *words = words.chars().map(shown).collect();
    }
}

/// Rounds to twelve significant digits, which is more than any page has. This removes the error of converting units, so that 1.8 ms are
/// exactly 1,800,000 ns.
fn rounded(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// The reports that all readers find, in order. If two readers find the same report, the one that read more of it
/// is kept. If reports of two tools are interleaved, both are kept, with a note.
fn reports(text: &str) -> Vec<Found> {
    let mut all: Vec<Found> = readers().flat_map(|tool| crate::reports::read(text, tool)).collect();
    all.sort_by_key(|found| (found.at.start, found.at.end));
    let mut kept: Vec<Found> = Vec::new();
    for found in all {
        let Some(before) = kept.last_mut().filter(|before| before.at.end > found.at.start) else {
            kept.push(found);
            continue;
        };
        if is_same(before, &found) {
            if found.reading.figures.len() > before.reading.figures.len() {
                *before = found;
            }
        } else {
            let words = |of: &Found, other: &Found| {
                format!(
                    "mixed up with a report of {}: figures of {} may be the other's",
                    other.reading.tool, of.reading.tool
                )
            };
            let (of_before, of_found) = (words(before, &found), words(&found, before));
            before.strange.push(of_before);
            let mut found = found;
            found.strange.push(of_found);
            kept.push(found);
        }
    }
    kept
}

/// Whether two overlapping findings are of one report: most of their common figures are equal. If they have none in
/// common, one of the two has read almost nothing.
fn is_same(a: &Found, b: &Found) -> bool {
    let shared = a.reading.figures.iter().filter_map(|(name, value)| Some((*value, b.reading.get(name)?)));
    let (same, other): (Vec<_>, Vec<_>) = shared.partition(|(a, b)| (a - b).abs() <= 1e-9 * a.abs());
    same.len() >= other.len()
}

/// The tables that are not part of a report.
fn tables(text: &str, reports: &[Found]) -> Vec<Table> {
    let mut reports = reports.iter().peekable();
    let mut tables = table::tables(text);
    tables.retain(|table| {
        while reports.next_if(|report| report.at.end <= table.at.start).is_some() {}
        reports.peek().is_none_or(|report| report.at.start >= table.at.end)
    });
    tables
}

/// The ranges of reports and tables, in order.
fn taken(reports: &[Found], tables: &[Table]) -> Vec<Range<usize>> {
    let mut taken: Vec<Range<usize>> =
        reports.iter().map(|f| f.at.clone()).chain(tables.iter().map(|t| t.at.clone())).collect();
    taken.sort_by_key(|range| range.start);
    taken
}

fn of_reports(
    text: &str,
    reports: Vec<Found>,
    headings: &[Heading],
    is_flat: bool,
    commands: &[FoundCommand],
) -> Vec<(usize, Item)> {
    let places: Vec<usize> = reports.iter().map(|found| found.at.start).collect();
    let mut titles = heading::titles(headings, &heading::above(headings, &places, is_flat), true);
    if is_flat {
        // Without marks, nothing shows that a line is above more than what follows it.
        let again: Vec<bool> =
            titles.iter().map(|title| titles.iter().filter(|other| *other == title).count() > 1).collect();
        titles.iter_mut().zip(again).filter(|(_, again)| *again).for_each(|(title, _)| *title = None);
    }
    let taken: Vec<Range<usize>> = reports.iter().map(|found| found.at.clone()).collect();
    let mut introductions = vec![None; reports.len()];
    if titles.iter().all(Option::is_none) {
        introductions = words::introductions(text, &taken, commands);
        if introductions.iter().flatten().all(|words| words.len() <= LONGEST_NAME) {
            std::mem::swap(&mut titles, &mut introductions);
        }
    }
    let remarks = words::remarks(text, &taken);
    let mut items: Vec<(usize, Item)> = Vec::new();
    let texts = titles.into_iter().zip(introductions).zip(remarks);
    for (found, ((title, introduction), remarks)) in reports.into_iter().zip(texts) {
        let Found { at, mut reading, strange } = found;
        reading.title = reading.title.or(title);
        reading.command = reading.command.or_else(|| command_of(commands, &reading.tool, at.start));
        let mut notes: Vec<String> =
            introduction.map(|words| format!("the page: “{words}:”")).into_iter().collect();
        for remark in remarks {
            remark.figures.iter().for_each(|(name, value)| reading.set(name, *value));
            notes.push(format!("the page: “{}”", remark.words));
        }
        items.push((at.start, Item { reading, notes, strange }));
    }
    items
}

/// The last command line of the tool before a position.
fn command_of(commands: &[FoundCommand], tool: &str, place: usize) -> Option<String> {
    let before = &commands[..commands.partition_point(|command| command.at <= place)];
    // wrk2's program is called wrk.
    let is_its = |command: &&FoundCommand| {
        command.program == tool || (tool.starts_with("wrk") && command.program.starts_with("wrk"))
    };
    before.iter().rev().find(is_its).map(|command| command.line.clone())
}

/// The rows of the tables. The headings above a table name its workload.
fn of_tables(
    text: &str,
    tables: Vec<Table>,
    headings: &[Heading],
    is_flat: bool,
    items: &mut Vec<(usize, Item)>,
    strange: &mut Vec<String>,
) {
    let places: Vec<usize> = tables.iter().map(|table| table.at.start).collect();
    let above = heading::above(headings, &places, is_flat);
    let workloads = heading::titles(headings, &above, false);
    let metrics = tables.iter().any(|table| table.is_bare).then(|| words::metrics(text));
    for ((table, workload), above) in tables.into_iter().zip(workloads).zip(above) {
        let of_rate =
            metrics.as_ref().is_some_and(|metrics| metrics.partition_point(|at| *at <= table.at.start) > 0);
        let load = above.first().map(|index| table::of_heading(&headings[*index].text)).unwrap_or_default();
        let named =
            workload.as_deref().map_or_else(|| "a table".to_owned(), |name| format!("the table of “{name}”"));
        strange.extend(table.strange.iter().map(|column| format!("{named}: {column}")));
        if table.is_bare && !of_rate {
            strange.push(format!("{named}: the page does not say what its figures are of"));
        }
        for (mut reading, strange) in table.readings {
            if let Some(value) = reading.figures.remove(table::BARE) {
                reading.set(if of_rate { "rate_per_s" } else { table::BARE }, value);
            }
            for (name, value) in &load {
                reading.figures.entry((*name).to_owned()).or_insert(*value);
            }
            reading.workload.clone_from(&workload);
            items.push((table.at.start, Item { reading, notes: Vec::new(), strange }));
        }
    }
}
