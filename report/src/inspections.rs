//! The results of `drome verify`, as a table.

use crate::table::{Side, Table};
use crate::text_style::{Ink, TextStyle};
use crate::{markdown_text as md, units};
use model::inspection::Inspection;

/// For a terminal.
pub fn terminal(all: &[Inspection], style: &TextStyle) -> String {
    let line = |fault: &String| style.prose(&format!("  {fault}"), Ink::Plain);
    format!("{}{}", table(all).fit(style), faults(all).iter().map(line).collect::<String>())
}

/// For a page.
pub fn markdown(all: &[Inspection]) -> String {
    let faults = md::items(&faults(all));
    let gap = if faults.is_empty() { "" } else { "\n" };
    format!("{}{gap}{faults}", table(all).markdown())
}

fn table(all: &[Inspection]) -> Table {
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("version", Side::Left),
        ("track", Side::Left),
        ("workloads", Side::Right),
        ("seconds", Side::Right),
        ("hello on the wire", Side::Right),
        ("", Side::Left),
    ]);
    for seen in all {
        let is_there = seen.missing.is_none();
        let state = match (is_there, seen.has_failed()) {
            (false, _) => "missing",
            (true, true) => "FAILED",
            (true, false) if !seen.known.is_empty() => "ok except for a known fault",
            (true, false) => "ok",
        };
        table.row(vec![
            seen.title.clone(),
            seen.version.clone().unwrap_or_else(|| units::UNKNOWN.to_owned()),
            seen.track.word().to_owned(),
            units::known(is_there.then_some(seen), |s| format!("{} of {}", s.right, s.served)),
            units::known(is_there.then_some(seen), |s| format!("{:.1}", s.elapsed_s)),
            units::known(seen.hello_wire_bytes, |n| format!("{n} B")),
            state.to_owned(),
        ]);
        let ink = if seen.has_failed() && is_there { Ink::Bad } else { Ink::Plain };
        table.paint("", ink);
    }
    table
}

/// The contenders that are missing, and every fault that was found.
fn faults(all: &[Inspection]) -> Vec<String> {
    let of = |seen: &Inspection| {
        let missing = seen.missing.iter().map(|why| format!("{} is missing: {why}", seen.name));
        let wrong = seen.wrong.iter().map(|why| format!("{}: {why}", seen.name));
        let known = seen.known.iter().map(|why| format!("{}, known fault: {why}", seen.name));
        missing.chain(wrong).chain(known).collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}
