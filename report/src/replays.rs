//! What came of a page's own command lines, run against the contenders of its study.

use crate::look::{Ink, Look};
use crate::page::{times, words};
use crate::table::{Side, Table};
use crate::{markdown as md, units};
use model::page::Replay;
use std::fmt::Write;

/// For a terminal: the tables.
pub fn terminal(title: &str, all: &[Replay], look: &Look) -> String {
    let line = |text: &str| look.prose(text.trim_end(), Ink::Plain);
    let mut out = line(&format!("{title}, as published"));
    for cell in cells(all) {
        let _ = write!(out, "\n{}{}{}", line(&cell[0].cell), table(cell).fit(look), line(&agreement(cell)));
    }
    out
}

/// For a page: the tables, and what the tools printed.
pub fn markdown(title: &str, all: &[Replay]) -> String {
    let mut out = format!("# {}, as published\n", md::words(title));
    for cell in cells(all) {
        let _ = write!(
            out,
            "\n## {}\n\n{}\n{}",
            md::words(&cell[0].cell),
            table(cell).markdown(),
            agreement(cell)
        );
        // One that was not asked printed nothing: why is in the table.
        for replay in cell.iter().filter(|replay| !replay.command.is_empty()) {
            let said = format!("$ {}\n{}", replay.command, replay.report.trim_end());
            let _ = write!(out, "\n### {}\n\n{}", md::words(&replay.title), md::block(&said));
        }
    }
    out
}

/// One slice a cell.
fn cells(all: &[Replay]) -> impl Iterator<Item = &[Replay]> {
    all.chunk_by(|a, b| a.cell == b.cell)
}

fn table(cell: &[Replay]) -> Table {
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("published", Side::Right),
        ("measured", Side::Right),
        ("ratio", Side::Right),
        ("answers", Side::Right),
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
            format!("{} {}", replay.title, replay.version.as_deref().unwrap_or_default())
                .trim_end()
                .to_owned(),
            units::known(replay.published, |p| format!("{p:.1}")),
            units::known(replay.rate_per_s, units::rate),
            units::known(both, |(then, now)| times(now / then)),
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

fn agreement(cell: &[Replay]) -> String {
    let pairs: Vec<(f64, f64)> = cell.iter().filter_map(|r| r.published.zip(r.rate_per_s)).collect();
    words(&pairs)
}
