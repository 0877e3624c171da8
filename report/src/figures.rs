//! The figures of a contender as text: what the tables of its cell show.

use crate::text_style::Ink;
use crate::units;
use model::findings::{CellFindings, ContenderFindings, Figure};
use model::notes::VOID;
use model::study::REFERENCE;
use model::verdict::NEVER_ANSWERED;
use model::{Load, Metric};

/// The throughput, with ≥ if the load generator limited it, so that it is a lower bound.
pub fn rate(c: &ContenderFindings) -> String {
    let floor = if c.is_held_back() { "≥ " } else { "" };
    units::known(c.rate_per_s, |f| format!("{floor}{}", units::rate(f.median)))
}

/// The peak memory of all starts.
pub fn memory(c: &ContenderFindings) -> String {
    units::known(c.rss_max_bytes, |n| units::bytes(n as f64))
}

/// A contender's share of the figure of its cell's base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share, by the metric of the cell.
    pub figure: Figure,
    /// What it says of the true one.
    pub bound: ShareBound,
}

/// What a ratio of two figures says of the true one, where the load generator may have held either back, so that it is a lower bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShareBound {
    /// It is the ratio of two figures that nothing held back.
    #[default]
    Exact,
    /// The true ratio is not larger.
    AtMost,
    /// The true ratio is not smaller.
    AtLeast,
}

impl ShareBound {
    /// The bound of a ratio. `None`: both figures are lower bounds, so the ratio says nothing.
    pub fn of(is_own_held_back: bool, is_other_held_back: bool) -> Option<Self> {
        match (is_own_held_back, is_other_held_back) {
            (false, false) => Some(Self::Exact),
            (false, true) => Some(Self::AtMost),
            (true, false) => Some(Self::AtLeast),
            (true, true) => None,
        }
    }

    /// What stands before the ratio in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::AtMost => "at most ",
            Self::AtLeast => "at least ",
        }
    }

    /// What stands before the ratio in a table.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Exact => "",
            Self::AtMost => "≤ ",
            Self::AtLeast => "≥ ",
        }
    }
}

/// What the contenders of a cell are compared with: the reference, or in a race the first contender.
pub fn base(cell: &CellFindings) -> Option<&ContenderFindings> {
    cell.contender(REFERENCE).or_else(|| cell.contender("A"))
}

/// Whether the base's figure is a lower bound.
fn is_base_held_back(cell: &CellFindings) -> bool {
    cell.metric == Metric::Rate && base(cell).is_some_and(ContenderFindings::is_held_back)
}

/// The share of the base's figure; `None` where it is unknown, and where both rates are lower bounds.
pub fn share(cell: &CellFindings, c: &ContenderFindings) -> Option<Share> {
    let figure = if cell.metric == Metric::Rate { c.of_reference } else { c.metric_of_reference }?;
    let is_other = base(cell).is_some_and(|base| base.name != c.name);
    let is_own_held_back = is_other && cell.metric == Metric::Rate && c.is_held_back();
    let bound = ShareBound::of(is_own_held_back, is_other && is_base_held_back(cell))?;
    Some(Share { figure, bound })
}

/// The share of the base's figure as text, and its interval.
pub fn of_base(cell: &CellFindings, c: &ContenderFindings) -> [String; 2] {
    let share = share(cell, c);
    let sign = share.map_or("", |share| share.bound.sign());
    let figure = share.map(|share| share.figure);
    let median = units::known(figure, |f| format!("{sign}{}", units::ratio(f.median)));
    [median, units::interval(figure, units::ratio)]
}

/// The least share of idle time that is shown; every server has less than that.
const IDLE: f64 = 0.01;

/// What limited the rate; under closed load also the server's idle time.
pub(crate) fn bound(cell: &CellFindings, c: &ContenderFindings) -> String {
    let bound = c.bound.as_deref().unwrap_or(units::UNKNOWN);
    let is_closed = matches!(cell.load, Load::Closed { .. });
    match c.server_idle_share.filter(|idle| is_closed && *idle >= IDLE) {
        Some(idle) => format!("{bound}, idle {}", units::percent(idle)),
        None => bound.to_owned(),
    }
}

/// How many starts count, and how many were void, failed or had errors.
pub fn counted_starts(c: &ContenderFindings) -> String {
    let mut text = (c.trials - c.void).to_string();
    for (n, what) in [(c.void as u64, "void"), (c.failed as u64, "failed"), (c.errors, "errors")] {
        if n > 0 {
            text.push_str(&format!(", {} {what}", units::count(n)));
        }
    }
    text
}

/// The range of ranks: `1–3`.
pub fn rank(c: &ContenderFindings) -> String {
    match (c.rank_low, c.rank_high) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (Some(low), Some(high)) => format!("{low}–{high}"),
        _ => units::UNKNOWN.to_owned(),
    }
}

/// The letters of a contender: those with a common letter show no significant difference.
pub(crate) fn letters(c: &ContenderFindings) -> Option<&str> {
    c.in_heats.letters.as_deref()
}

/// The note that says how many connections the server left without any answer, and in how many starts.
pub(crate) fn starved(c: &ContenderFindings) -> Option<&str> {
    let note = c.notes.iter().find(|note| note.contains(NEVER_ANSWERED))?;
    Some(note.strip_prefix(VOID).unwrap_or(note))
}

/// The title of the latency column. Under closed load the latency is that of a saturated server, and the title says so.
pub(crate) fn latency_title(cell: &CellFindings) -> &'static str {
    match (cell.metric, &cell.load) {
        (Metric::Latency(p), Load::Open { .. }) => p.word(),
        (_, Load::Closed { .. }) => "p99 at saturation",
        (_, Load::Open { .. }) => "p99",
    }
}

/// Red if no start counts, yellow if some do not.
pub(crate) fn trials_ink(c: &ContenderFindings) -> Ink {
    match (c.trials - c.void, c.void + c.failed) {
        (0, _) => Ink::Bad,
        (_, 0) if c.errors == 0 => Ink::Plain,
        _ => Ink::Doubt,
    }
}
