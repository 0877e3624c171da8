//! Chips: small labels for the state of a contender or of a run. Each names its state in words, not by its colour alone, and its
//! title explains it.

use crate::figures;
use crate::units::{capital, several};
use maud::{Markup, html};
use model::findings::{CellFindings, ContenderFindings, Unranked};
use model::notes::{FAILED, VOID};
use model::study::REFERENCE;

/// One chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    class: &'static str,
    text: String,
    title: String,
}

impl Chip {
    fn new(class: &'static str, text: impl Into<String>, title: impl Into<String>) -> Self {
        Self { class, text: text.into(), title: title.into() }
    }

    /// A failure.
    pub fn bad(text: &str, title: impl Into<String>) -> Self {
        Self::new("bad", text, title)
    }

    /// A state that calls for caution.
    pub fn open(text: &str, title: impl Into<String>) -> Self {
        Self::new("open", text, title)
    }

    /// A state that is as it should be.
    pub fn good(text: &str, title: impl Into<String>) -> Self {
        Self::new("good", text, title)
    }

    /// A state that is no reason for caution.
    pub fn plain(text: &str, title: impl Into<String>) -> Self {
        Self::new("plain", text, title)
    }

    /// The class of its colour, which can mark a whole row too.
    pub(crate) fn class(&self) -> &'static str {
        self.class
    }
}

/// Draws chips after a text.
pub fn draw(chips: &[Chip]) -> Markup {
    html! { @for chip in chips { " " span.chip.(chip.class) title=(chip.title) { (chip.text) } } }
}

/// The chips of a contender in a cell, the gravest first.
pub fn of(cell: &CellFindings, c: &ContenderFindings) -> Vec<Chip> {
    let chips = [
        failed(c),
        void(c),
        starved(c),
        not_settled(c),
        limited(c),
        fell_behind(c),
        unranked(cell, c),
        tied(cell, c),
    ];
    chips.into_iter().flatten().collect()
}

fn failed(c: &ContenderFindings) -> Option<Chip> {
    let (n, of) = (c.failed, several(c.trials + c.failed, "start"));
    let why = reason(c, FAILED);
    (n > 0).then(|| Chip::new("bad", format!("{n} failed"), format!("{n} of {of} failed{why}")))
}

fn void(c: &ContenderFindings) -> Option<Chip> {
    let (n, of) = (c.void, several(c.trials, "start"));
    let title = format!("{n} of {of} can't be trusted and are left out of every estimate{}", reason(c, VOID));
    (n > 0).then(|| Chip::new("open", format!("{n} void"), title))
}

/// The reason in the first note that begins with `begins`: its first line, which ends with the number of starts that it is about.
fn reason(c: &ContenderFindings, begins: &str) -> String {
    let note = c.notes.iter().find_map(|note| note.strip_prefix(begins));
    note.map_or_else(String::new, |why| format!(": {}", why.lines().next().unwrap_or_default()))
}

fn starved(c: &ContenderFindings) -> Option<Chip> {
    let note = figures::starved(c)?;
    Some(Chip::new("open", "starved", format!("The server left connections without any answer: {note}")))
}

fn not_settled(c: &ContenderFindings) -> Option<Chip> {
    let (n, of) = (c.in_heats.not_settled, several(c.in_heats.starts, "start"));
    let title = format!(
        "In {n} of {of} the rate had not settled when the warm-up ended, so the figures depend on the moment of the measurement"
    );
    (n > 0).then(|| Chip::new("open", "not settled", title))
}

fn limited(c: &ContenderFindings) -> Option<Chip> {
    let by = c.held_back_by()?;
    let title = format!(
        "{} was at its limit: the rate is a lower bound, and the server may be able to do more",
        capital(by)
    );
    Some(Chip::new("open", format!("limited by {by}"), title))
}

fn fell_behind(c: &ContenderFindings) -> Option<Chip> {
    let of = several(c.trials - c.void, "start");
    let title = format!("In {} of {of} it did not keep up with the offered rate", c.fell_behind);
    (c.fell_behind > 0).then(|| Chip::new("open", "fell behind", title))
}

/// No chip in a first look, which gives no ranks at all: its page says so once.
fn unranked(cell: &CellFindings, c: &ContenderFindings) -> Option<Chip> {
    let title = match c.in_heats.unranked {
        Some(Unranked::FirstLook) => return None,
        Some(Unranked::Failed) => "It failed in a third of its starts or more",
        Some(Unranked::NoFigure) => "None of its starts has a figure",
        Some(Unranked::Void) => "A third of its starts or more were void",
        Some(Unranked::NotSettled) => "A third of its starts or more had not settled",
        None if c.rank_low.is_some() || cell.contenders.iter().all(|c| c.rank_low.is_none()) => return None,
        None => "It has too few sound measurements for a rank",
    };
    Some(Chip::new("open", "unranked", title))
}

/// The chip of a contender whose range of ranks overlaps with that of another one. The reference does not count as another one.
fn tied(cell: &CellFindings, c: &ContenderFindings) -> Option<Chip> {
    let ranks = |c: &ContenderFindings| c.rank_low.zip(c.rank_high);
    let (low, high) = ranks(c).filter(|_| c.name != REFERENCE)?;
    let others = cell.contenders.iter().filter(|other| other.name != REFERENCE && other.name != c.name);
    if !others.filter_map(ranks).any(|(first, last)| first <= high && low <= last) {
        return None;
    }
    let title =
        format!("Its rank is {low} to {high}: there is no significant difference from some of the others");
    Some(Chip::new("plain", "tied", title))
}

#[cfg(test)]
#[path = "chips/tests.rs"]
mod tests;
