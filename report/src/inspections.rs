//! What `drome catalog verify` found, as a table.

use crate::table::{Side, Table};
use crate::units;
use model::inspection::Inspection;

/// For a terminal.
pub fn terminal(all: &[Inspection]) -> String {
    format!("{}{}", table(all).plain(), faults(all, "  "))
}

/// For a page.
pub fn markdown(all: &[Inspection]) -> String {
    let faults = faults(all, "- ");
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
            (true, false) if !seen.known.is_empty() => "ok but for a known fault",
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
    }
    table
}

/// Who is missing or has failed, and all that is wrong.
fn faults(all: &[Inspection], bullet: &str) -> String {
    let of = |seen: &Inspection| {
        let missing = seen.missing.iter().map(|why| format!("{bullet}{} is missing: {why}\n", seen.name));
        let wrong = seen.wrong.iter().map(|why| format!("{bullet}{}: {why}\n", seen.name));
        let known = seen.known.iter().map(|why| format!("{bullet}{}, known: {why}\n", seen.name));
        missing.chain(wrong).chain(known).collect::<String>()
    };
    all.iter().map(of).collect()
}
