//! The results of `drome verify`.

use crate::document::Document;
use crate::table::Table;
use crate::text_style::Ink;
use model::inspection::Inspection;

/// A table of all contenders, and every fault.
pub fn document(all: &[Inspection]) -> Document {
    Document::default().table(table(all)).items(faults(all))
}

fn table(all: &[Inspection]) -> Table {
    let is_there = |seen: &Inspection| seen.missing.is_none();
    Table::of(all)
        .text("contender", |seen| seen.title.clone())
        .known("version", |seen| seen.version.clone())
        .text("track", |seen| seen.track.word().to_owned())
        .figure("workloads", |seen| is_there(seen).then(|| format!("{} of {}", seen.right, seen.served)))
        .figure("seconds", |seen| is_there(seen).then(|| format!("{:.1}", seen.elapsed_s)))
        .figure("hello on the wire", |seen| Some(format!("{} B", seen.hello_wire_bytes?)))
        .text("", state)
        .ink(|seen| if seen.has_failed() && is_there(seen) { Ink::Bad } else { Ink::Plain })
        .table()
}

fn state(seen: &Inspection) -> String {
    let words = match (seen.missing.is_none(), seen.has_failed()) {
        (false, _) => "missing",
        (true, true) => "FAILED",
        (true, false) if !seen.known.is_empty() => "ok except for a known fault",
        (true, false) => "ok",
    };
    words.to_owned()
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
