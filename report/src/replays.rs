//! The results of a page's own command lines, run against the contenders of its study.

use crate::document::Document;
use crate::published::words;
use crate::table::Table;
use crate::{machine, page_figures, units};
use model::page::{Replay, Replays};

/// The tables and, where length does not matter, the page's other figures and what the tools printed.
pub fn document(all: &Replays) -> Document {
    let mut document =
        Document::titled(format!("{}: {}, as published", all.name, all.title)).items(preface(all));
    if all.replays.iter().any(|replay| page_figures::of_replay(replay).is_some()) {
        let hint = "--format markdown also compares the page's other figures with the measured ones";
        document = document.in_short(Document::default().sentence(hint));
    }
    for cell in cells(&all.replays) {
        document = document.heading(2, &cell[0].cell).table(table(cell)).sentence(agreement(cell));
        // A command line that was not run printed nothing; the table has the reason.
        for replay in cell.iter().filter(|replay| !replay.command.is_empty()) {
            document = document.details(printed(replay));
        }
    }
    document
}

/// What a tool printed, below the page's other figures.
fn printed(replay: &Replay) -> Document {
    let document = Document::default().heading(3, &replay.title);
    let figures = page_figures::of_replay(replay);
    let document = figures.into_iter().fold(document, Document::table);
    document.code(format!("$ {}\n{}", replay.command, replay.report.trim_end()))
}

/// The run, its time, the number of command lines and the machine.
fn preface(all: &Replays) -> Vec<String> {
    let (id, at, count) = (&all.id, &all.started_at, all.replays.len());
    let cut = if all.is_whole { "" } else { "; it was interrupted before the last one" };
    let what = format!("run {id}, {at}; {count} command lines of the page, each run once: no ranking{cut}");
    vec![what, machine::name(&all.environment)]
}

/// The replays of each cell, as one slice per cell.
fn cells(all: &[Replay]) -> impl Iterator<Item = &[Replay]> {
    all.chunk_by(|a, b| a.cell == b.cell)
}

fn table(cell: &[Replay]) -> Table {
    let bytes = |n: Option<u64>| Some(units::bytes(n? as f64));
    Table::of(cell)
        .text("contender", name)
        .figure("published", |r| Some(format!("{:.1}", r.published?)))
        .figure("measured", |r| r.rate_per_s.map(units::rate))
        .figure("ratio", |r| Some(units::times(r.rate_per_s? / r.published?)))
        .figure("responses", |r| r.completed.map(units::count))
        .figure("failed", |r| r.errors.map(units::count))
        .figure("mean latency", |r| r.latency_ns_mean.map(units::duration))
        .figure("VIRT", |r| bytes(r.virtual_max_bytes))
        .figure("RES", |r| bytes(r.rss_max_bytes))
        .text("", |r| r.note.clone().unwrap_or_default())
        .table()
}

/// The title with the version and, if the page names one, the version on the page.
fn name(replay: &Replay) -> String {
    let now = replay.version.iter().map(String::as_str);
    let then = replay.page_version.iter().map(|then| format!("(page: {then})"));
    let words = std::iter::once(replay.title.clone()).chain(now.map(str::to_owned)).chain(then);
    words.collect::<Vec<_>>().join(" ")
}

/// Each command line was run once, so rates within 1 % of the best count as equal. Under open load, those of all servers that keep up do.
const AS_GOOD: f64 = 0.99;

fn agreement(cell: &[Replay]) -> String {
    let best = cell.iter().filter_map(|r| r.rate_per_s).fold(0.0, f64::max);
    let both = |r: &Replay| Some((r.published?, r.rate_per_s?.min(AS_GOOD * best)));
    words(&cell.iter().filter_map(both).collect::<Vec<_>>())
}
