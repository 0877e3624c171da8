//! Findings as Markdown, ready to be pasted.

use crate::{bars, page, ranking, setup};
use model::Findings;
use std::fmt::Write;

/// The whole report.
pub fn report(f: &Findings) -> String {
    let mut out = format!("# {}\n\n", f.title);
    for line in ranking::preface(f) {
        let _ = writeln!(out, "- {line}");
    }
    for cell in &f.cells {
        let _ = write!(out, "\n## {}\n\n{}; {}.\n\n", cell.title, ranking::asked(cell), ranking::floor(cell));
        let _ = write!(out, "{}", ranking::table(cell).markdown());
        let bars = bars::of_cell(cell);
        if !bars.is_empty() {
            let _ = write!(out, "\n```text\n{bars}```\n");
        }
        let notes = ranking::notes(cell);
        if !notes.is_empty() {
            let _ = write!(out, "\n- {}\n", notes.join("\n- ").replace("\n    ", "\n  "));
        }
    }
    out.push_str(&setup::section(f));
    if !f.missing.is_empty() {
        out.push_str("\n## Did not take part\n\n");
    }
    for missing in &f.missing {
        let _ = writeln!(out, "- {}: {}", missing.name, missing.why);
    }
    if let Some(source) = &f.source {
        let _ = write!(out, "\nThe column *page* is what was published: {source}.\n");
    }
    out.push_str(&page::section(f));
    out
}
