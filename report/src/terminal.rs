//! The report of a run for a terminal.

use crate::look::{Ink, Look};
use crate::{answer, bars, page, ranking, setup};
use model::Findings;

/// The whole report.
pub fn report(f: &Findings, look: &Look) -> String {
    let line = |text: &str| look.prose(text, Ink::Plain);
    let mut out = line(&format!("{}: {}", f.study, f.title));
    for text in ranking::preface(f) {
        out += &line(&text);
    }
    for cell in &f.cells {
        out += "\n";
        out += &line(&cell.title);
        for sentence in answer::of(f, cell) {
            out += &line(&sentence);
        }
        for text in [&ranking::asked(cell), &ranking::floor(cell)] {
            out += &line(text);
        }
        out += &format!("\n{}", ranking::table(cell).fit(look));
        let bars = bars::of_cell(cell, look.columns());
        if !bars.is_empty() {
            out += &format!("\n{}", look.words(&bars));
        }
        out += &notes(&crate::notes::of(cell), look);
    }
    for fault in setup::faults(f) {
        out += "\n";
        out += &look.prose(&fault, Ink::Doubt);
    }
    for missing in &f.missing {
        out += "\n";
        out += &look.prose(&format!("{} did not take part: {}", missing.name, missing.why), Ink::Doubt);
    }
    if let Some(source) = &f.source {
        out += &format!("\n{}", line(&format!("The column “page” shows the published figures: {source}.")));
    }
    out.push_str(&page::plain(f, look));
    out
}

/// The notes on single contenders, coloured by severity.
fn notes(notes: &[String], look: &Look) -> String {
    let shown: String = notes.iter().map(|note| look.prose(note, ink(note))).collect();
    if shown.is_empty() { shown } else { format!("\n{shown}") }
}

/// The colour of a note, by the outcome of trials that it names.
pub(crate) fn ink(note: &str) -> Ink {
    match note {
        n if n.contains(": failed: ") => Ink::Bad,
        n if n.contains(": void: ") => Ink::Doubt,
        _ => Ink::Plain,
    }
}
