//! The results of a page's own command lines, run against the contenders of its study.

use crate::page::words;
use crate::table::{Side, Table};
use crate::text_style::{Ink, TextStyle};
use crate::{machine, markdown_text as md, page_figures, units};
use model::page::{Replay, Replays};
use std::fmt::Write;

/// For a terminal: the tables.
pub fn terminal(all: &Replays, style: &TextStyle) -> String {
    let line = |text: &str| style.prose(text.trim_end(), Ink::Plain);
    let mut out = line(&format!("{}: {}, as published", all.name, all.title));
    out.extend(preface(all).iter().map(|shown| line(shown)));
    if all.replays.iter().any(|replay| page_figures::of_replay(replay).is_some()) {
        out += &line("--format markdown also compares the page's other figures with the measured ones");
    }
    for cell in cells(&all.replays) {
        let _ = write!(out, "\n{}{}{}", line(&cell[0].cell), table(cell).fit(style), line(&agreement(cell)));
    }
    out
}

/// For a page: the tables, and what the tools printed.
pub fn markdown(all: &Replays) -> String {
    let mut out = format!("# {}, as published\n\n{}", md::words(&all.title), md::items(&preface(all)));
    for cell in cells(&all.replays) {
        let _ = write!(
            out,
            "\n## {}\n\n{}\n{}",
            md::words(&cell[0].cell),
            table(cell).markdown(),
            agreement(cell)
        );
        // A command line that was not run printed nothing; the table has the reason.
        for replay in cell.iter().filter(|replay| !replay.command.is_empty()) {
            let shown = format!("$ {}\n{}", replay.command, replay.report.trim_end());
            let _ = write!(out, "\n### {}\n\n", md::words(&replay.title));
            if let Some(figures) = page_figures::of_replay(replay) {
                let _ = writeln!(out, "{}", figures.markdown());
            }
            out += &md::block(&shown);
        }
    }
    out
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
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("published", Side::Right),
        ("measured", Side::Right),
        ("ratio", Side::Right),
        ("responses", Side::Right),
        ("failed", Side::Right),
        ("mean latency", Side::Right),
        ("VIRT", Side::Right),
        ("RES", Side::Right),
        ("", Side::Left),
    ]);
    for replay in cell {
        let bytes = |n: Option<u64>| units::known(n, |n| units::bytes(n as f64));
        let both = replay.published.zip(replay.rate_per_s);
        table.row(vec![
            name(replay),
            units::known(replay.published, |p| format!("{p:.1}")),
            units::known(replay.rate_per_s, units::rate),
            units::known(both, |(then, now)| units::times(now / then)),
            units::known(replay.completed, units::count),
            units::known(replay.errors, units::count),
            units::known(replay.latency_ns_mean, units::duration),
            bytes(replay.virtual_max_bytes),
            bytes(replay.rss_max_bytes),
            replay.note.clone().unwrap_or_default().replace('\n', " "),
        ]);
    }
    table
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
