//! Findings as Markdown, ready to be pasted.

use crate::markdown_text::{block, items, prose, words};
use crate::{answer, bars, cpu_time, page, ranking, setup};
use model::Findings;
use std::fmt::Write;

/// The whole report.
pub fn report(f: &Findings) -> String {
    let mut out = format!("# {}\n\n{}", words(&f.title), items(&ranking::preface(f)));
    for cell in &f.cells {
        let about = format!("{}; {}.", ranking::asked(cell), ranking::floor(cell));
        let _ = write!(out, "\n## {}\n\n", words(&cell.title));
        // Names are from elsewhere, and may have line breaks.
        let answer = answer::of(f, cell).join(" ").replace('\n', " ");
        let _ = write!(out, "{}\n\n", prose(&answer));
        let _ = write!(out, "{}\n\n", prose(&about));
        let _ = write!(out, "{}", ranking::table(cell).markdown());
        let bars = bars::of_cell(cell, None);
        if !bars.is_empty() {
            let _ = write!(out, "\n{}", block(&bars));
        }
        let notes = crate::notes::of(cell);
        if !notes.is_empty() {
            let _ = write!(out, "\n{}", items(&notes));
        }
    }
    out.push_str(&setup::section(f));
    if !f.missing.is_empty() {
        out.push_str("\n## Did not take part\n\n");
    }
    let missing = f.missing.iter().map(|missing| format!("{}: {}", missing.name, missing.why));
    out += &items(&missing.collect::<Vec<_>>());
    if let Some(source) = &f.source {
        let _ = write!(out, "\nThe source of the published figures: {}.\n", words(source));
    }
    out.push_str(&page::section(f));
    out.push_str(&cpu_time::section(f));
    out
}
