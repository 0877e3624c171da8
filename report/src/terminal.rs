//! Findings for a terminal.

use crate::{bars, page, ranking};
use model::Findings;
use std::fmt::Write;

/// The whole report.
pub fn report(f: &Findings) -> String {
    let mut out = format!("{}: {}\n", f.study, f.title);
    for line in ranking::preface(f) {
        let _ = writeln!(out, "{line}");
    }
    for cell in &f.cells {
        let _ = write!(out, "\n{}\n{}\n{}\n\n", cell.title, ranking::asked(cell), ranking::floor(cell));
        let _ = write!(out, "{}\n{}", ranking::table(cell).plain(), bars::of_cell(cell));
        let notes = ranking::notes(cell);
        if !notes.is_empty() {
            let _ = write!(out, "\n{}\n", notes.join("\n"));
        }
    }
    for entrant in f.entrants.values().filter(|entrant| entrant.missing.is_none()) {
        if let Some(fault) = &entrant.faults.fragments {
            let _ = write!(out, "\n{}, a known fault: {fault}\n", entrant.title);
        }
    }
    for missing in &f.missing {
        let _ = write!(out, "\n{} did not take part: {}\n", missing.name, missing.why);
    }
    if let Some(source) = &f.source {
        let _ = write!(out, "\n“page” is what was published: {source}.\n");
    }
    out.push_str(&page::plain(f));
    out
}
