//! Notes on single contenders of a cell. A note that holds for many is printed once, with all of their names.

use crate::machines;
use crate::text_style::Ink;
use model::Metric;
use model::findings::{CellFindings, ContenderFindings};
use model::notes::{FAILED, VOID, kind};

/// A note that this many contenders share is printed once.
const MANY: usize = 3;

/// One line per note: shared notes first, then contender by contender.
pub fn of(cell: &CellFindings) -> Vec<String> {
    let mut kinds: Vec<(Vec<String>, Vec<Note>)> = Vec::new();
    for contender in &cell.contenders {
        let more = [survivors(contender), fell_behind(cell, contender)];
        let more = more.into_iter().flatten();
        for text in contender.notes.iter().cloned().chain(more) {
            let note = Note::new(&contender.title, &text);
            let kind = kind(&note.words);
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, alike)) => alike.push(note),
                None => kinds.push((kind, vec![note])),
            }
        }
    }
    let (common, single): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|(_, notes)| notes.len() >= MANY);
    let mut lines = machines::notes(cell);
    lines.extend(common.iter().map(|(_, notes)| together(notes)));
    let mut single: Vec<Note> = single.into_iter().flat_map(|(_, notes)| notes).collect();
    // A stable sort: by contender, then in the order in which the notes were made.
    let place = |note: &Note| cell.contenders.iter().position(|c| c.title == note.who);
    single.sort_by_key(place);
    lines.extend(single.iter().map(|Note { who, words, of_starts }| format!("{who}: {words}{of_starts}")));
    lines
}

/// The same, each with the colour of the outcome that it names.
pub(crate) fn painted(cell: &CellFindings) -> impl Iterator<Item = (String, Ink)> {
    of(cell).into_iter().map(|note| {
        let ink = match &note {
            n if n.contains(&format!(": {FAILED}")) => Ink::Bad,
            n if n.contains(&format!(": {VOID}")) => Ink::Doubt,
            _ => Ink::Plain,
        };
        (note, ink)
    })
}

/// A note on one contender.
struct Note {
    who: String,
    words: String,
    /// ` (1 of 6 starts)` if the note is about some of its starts.
    of_starts: String,
}

impl Note {
    fn new(who: &str, text: &str) -> Self {
        let at = text.rfind(" (").filter(|_| text.ends_with(" starts)")).unwrap_or(text.len());
        let (words, of_starts) = text.split_at(at);
        Self { who: who.to_owned(), words: words.to_owned(), of_starts: of_starts.to_owned() }
    }
}

/// Joins notes that differ only in their figures: all names, and the range of each figure.
fn together(notes: &[Note]) -> String {
    let names: Vec<String> = notes.iter().map(|note| format!("{}{}", note.who, note.of_starts)).collect();
    let words = model::notes::together(notes.iter().map(|note| note.words.as_str()));
    format!("{}: {words}", names.join(", "))
}

/// If at least this share of its starts was void or failed, a contender's figures come from a selection.
const SELECTED: f64 = 0.25;

fn survivors(c: &ContenderFindings) -> Option<String> {
    let (all, sound) = (c.trials + c.failed, c.trials - c.void);
    let is_selected = sound > 0 && ((all - sound) as f64) >= SELECTED * all as f64;
    is_selected.then(|| {
        format!("its figures come from {sound} sound starts of {all}: how fast it would have been in the others is unknown")
    })
}

/// Says that the server fell behind the offered rate in some starts, and what that means for the contender's latency.
fn fell_behind(cell: &CellFindings, c: &ContenderFindings) -> Option<String> {
    let (behind, sound) = (c.fell_behind, c.trials - c.void);
    let is_ranked = matches!(cell.metric, Metric::Latency(_));
    (behind > 0).then(|| {
        if c.latency_ns_p99.is_some() {
            return format!("its latency comes from the {} of {sound} sound starts in which it kept up", sound - behind);
        }
        let ranked = if is_ranked { " and no rank" } else { "" };
        format!(
            "no latency{ranked}: it did not keep up in {behind} of {sound} sound starts, and the latency of a growing queue \
             depends only on how long the start lasts; its rate is the throughput that it reached"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_for_many_is_told_once_with_the_least_and_the_most() {
        let note = |who: &str, text: &str| Note::new(who, text);
        let alike = [
            note("A", "void: the host took 9 % of 2 cores (1 of 6 starts)"),
            note("B (tuned)", "void: the host took 24.5 % of 2 cores (2 of 6 starts)"),
            note("C", "void: the host took 10 % of 2 cores"),
        ];
        assert_eq!(
            together(&alike),
            "A (1 of 6 starts), B (tuned) (2 of 6 starts), C: void: the host took 9 to 24.5 % of 2 cores"
        );
    }
}
