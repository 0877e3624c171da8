//! The report of a run for a terminal.

use crate::text_style::{Ink, TextStyle};
use crate::{answer, bars, cpu_time, page, ranking, setup};
use model::Findings;

/// The whole report.
pub fn report(f: &Findings, style: &TextStyle) -> String {
    let line = |text: &str| style.prose(text, Ink::Plain);
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
        out += &format!("\n{}", ranking::table(cell).fit(style));
        let bars = bars::of_cell(cell, style.columns());
        if !bars.is_empty() {
            out += &format!("\n{}", style.words(&bars));
        }
        out += &notes(&crate::notes::of(cell), style);
    }
    for fault in setup::faults(f) {
        out += "\n";
        out += &style.prose(&fault, Ink::Doubt);
    }
    for missing in &f.missing {
        out += "\n";
        out += &style.prose(&format!("{} did not take part: {}", missing.name, missing.why), Ink::Doubt);
    }
    if let Some(source) = &f.source {
        out += &format!("\n{}", line(&format!("The source of the published figures: {source}.")));
    }
    out.push_str(&page::plain(f, style));
    out.push_str(&cpu_time::plain(f, style));
    out
}

/// The notes on single contenders, coloured by severity.
fn notes(notes: &[String], style: &TextStyle) -> String {
    let shown: String = notes.iter().map(|note| style.prose(note, ink(note))).collect();
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
