//! Where the CPU time goes: how the servers that were sampled after a run differ, in sentences, and the largest parts of the differences.

use crate::table::{Side, Table};
use crate::text_style::{Ink, TextStyle};
use crate::{function_name, markdown_text, units};
use model::Findings;
use model::findings::{ProfiledPair, ProfiledPart};

/// The title of the section.
pub(crate) const TITLE: &str = "Where the CPU time goes";

/// How the figures were measured.
pub(crate) const HOW: &str = "Sampled under the same load in one more start of each server, whose answers are in no other figure. The largest parts of the \
                              differences, by CPU time per answer in the functions themselves:";

/// The longest name of a function where lines have a limited width, in characters, so that a row fits into 80 columns.
const LONGEST_NARROW: usize = 36;

/// The longest name of a function elsewhere, in characters.
const LONGEST: usize = 120;

/// The section for a terminal; empty without profiles that were compared.
pub(crate) fn plain(f: &Findings, style: &TextStyle) -> String {
    if f.profiles.is_empty() {
        return String::new();
    }
    let line = |text: &str| style.prose(text, Ink::Plain);
    let mut out = format!("\n{}", line(&format!("{TITLE}:")));
    out.extend(sentences(f).map(line));
    let longest = style.columns().map_or(LONGEST, |_| LONGEST_NARROW);
    if let Some(table) = table_within(f, longest) {
        out += &format!("\n{}", table.fit(style));
    }
    out
}

/// The section in Markdown.
pub(crate) fn section(f: &Findings) -> String {
    if f.profiles.is_empty() {
        return String::new();
    }
    let sentences: Vec<String> = sentences(f).map(str::to_owned).collect();
    let mut out = format!("\n## {TITLE}\n\n{}", markdown_text::items(&sentences));
    if let Some(table) = table(f) {
        out += &format!("\n{HOW}\n\n{}", table.markdown());
    }
    out
}

/// The differences in sentences.
pub(crate) fn sentences(f: &Findings) -> impl Iterator<Item = &str> {
    f.profiles.iter().map(|pair| pair.sentence.as_str())
}

/// The largest parts of all differences; `None`: no function differs by more than sampling explains.
pub(crate) fn table(f: &Findings) -> Option<Table> {
    table_within(f, LONGEST)
}

fn table_within(f: &Findings, longest: usize) -> Option<Table> {
    let mut table =
        Table::new(&[("contender", Side::Left), ("change", Side::Right), ("function", Side::Left)]);
    for pair in &f.profiles {
        for part in &pair.parts {
            table.row(row(pair, part, longest));
        }
    }
    let is_empty = table.rows().len() == 0;
    (!is_empty).then_some(table)
}

fn row(pair: &ProfiledPair, part: &ProfiledPart, longest: usize) -> Vec<String> {
    let sign = if part.ns_per_answer < 0.0 { "−" } else { "+" };
    let change = format!("{sign}{}", units::duration(part.ns_per_answer.abs()));
    vec![pair.contender.clone(), change, function_name::within(&part.function, longest)]
}
