//! A document for a terminal: lines that fit its width, in its colours and characters.

use super::{Document, Part, Scope, Value};
use crate::bars;
use crate::text_style::{Ink, TextStyle};
use unicode_width::UnicodeWidthStr;

impl Document {
    /// For a terminal.
    pub fn terminal(&self, style: &TextStyle) -> String {
        let mut out = String::new();
        let mut before = None;
        for part in self.parts_without(Scope::Long) {
            if before.is_some_and(|before| is_apart(before, part)) {
                out.push('\n');
            }
            out += &match (before, part) {
                // What a sentence leads to.
                (Some(Part::Sentence(_)), Part::Items(all)) => items(all, "  - ", style),
                (_, part) => shown(part, style),
            };
            before = Some(part);
        }
        out
    }
}

/// Whether an empty line separates the two.
fn is_apart(before: &Part, part: &Part) -> bool {
    let is_block = |part: &Part| {
        use Part::{Bars, Code, Commands, Facts, Table};
        matches!(part, Table(_) | Bars(_) | Code(_) | Commands(_) | Facts(_))
    };
    match (before, part) {
        (_, Part::Heading(..) | Part::Folded(..)) | (Part::Items(_), Part::Sentence(_) | Part::Remark(_)) => {
            true
        }
        (before, part) => is_block(before) || is_block(part),
    }
}

fn shown(part: &Part, style: &TextStyle) -> String {
    let line = |text: &str| style.prose(text, Ink::Plain);
    match part {
        Part::Heading(_, text, _) | Part::Finding(text) | Part::Sentence(text) | Part::Remark(text) => {
            line(text)
        }
        Part::Items(all) => items(all, "", style),
        Part::Commands(all) => {
            all.iter().map(|(name, command)| line(&format!("{name}: {command}"))).collect()
        }
        Part::Table(table) => table.fit(style),
        Part::Bars(bars) => style.words(&bars::within(bars.clone(), style.columns())),
        Part::Code(text) => style.words(text.trim_end()) + "\n",
        Part::Facts(all) => style.report(&facts(all)),
        Part::Folded(title, other) => line(title) + &other.terminal(style),
        Part::Charts(_) => String::new(),
    }
}

fn items(all: &[(String, Ink)], mark: &str, style: &TextStyle) -> String {
    all.iter().map(|(item, ink)| style.prose(&format!("{mark}{item}"), *ink)).collect()
}

/// The names in one column, what is known of them in another.
fn facts(all: &[(String, Vec<Value>)]) -> String {
    let width = all.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let lines = all.iter().flat_map(|(name, values)| {
        let names = std::iter::once(name.as_str()).chain(std::iter::repeat(""));
        values.iter().zip(names).map(move |(value, name)| format!("{name:<width$}  {}\n", value.text()))
    });
    lines.collect()
}
