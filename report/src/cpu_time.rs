//! Where the CPU time goes: how the servers that were sampled after a run differ, in sentences, and the largest parts of the differences.

use crate::document::Document;
use crate::table::Table;
use crate::{function_name, units};
use model::Findings;
use model::findings::{ProfiledPair, ProfiledPart};

/// How the figures were measured.
const HOW: &str = "Sampled under the same load in one more start of each server, whose answers are in no other figure. The largest parts of the \
                              differences, by CPU time per answer in the functions themselves:";

/// The longest name of a function where lines have a limited width, in characters, so that a row fits into 80 columns.
const LONGEST_NARROW: usize = 36;

/// The longest name of a function elsewhere, in characters.
const LONGEST: usize = 120;

/// The section; empty without profiles that were compared.
pub(crate) fn document(f: &Findings) -> Document {
    if f.profiles.is_empty() {
        return Document::default();
    }
    let document = Document::default().section("cpu-time", "Where the CPU time goes");
    let document = document.items(f.profiles.iter().map(|pair| pair.sentence.as_str()));
    match table(f) {
        Some(table) => document.sentence(HOW).table(table),
        None => document,
    }
}

/// The largest parts of all differences; `None`: no function differs by more than sampling explains.
fn table(f: &Findings) -> Option<Table> {
    let parts: Vec<(&ProfiledPair, &ProfiledPart)> =
        f.profiles.iter().flat_map(|pair| pair.parts.iter().map(move |part| (pair, part))).collect();
    let table = Table::of(&parts)
        .text("contender", |(pair, _)| pair.contender.clone())
        .number("change", |(_, part)| units::signed(part.ns_per_answer))
        .text("function", |(_, part)| function_name::within(&part.function, LONGEST))
        .table()
        .narrowed("function", LONGEST_NARROW, function_name::within);
    (!parts.is_empty()).then_some(table)
}
