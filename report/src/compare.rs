//! The comparison of two runs, for a terminal and as Markdown.

use crate::table::{Side, Table};
use crate::text_style::{Ink, TextStyle};
use crate::{markdown_text as md, units};
use model::Metric;
use model::comparison::{CellComparison, Change, Comparison, ContenderComparison, DriftOf};
use model::findings::Figure;
use std::fmt::Write;

/// A smaller movement, as a share of the speed, is not mentioned.
const LEAST_MOVEMENT: f64 = 0.005;

/// For a terminal.
pub fn terminal(c: &Comparison, style: &TextStyle) -> String {
    let line = |text: &str| style.prose(text, Ink::Plain);
    let mut out = line(&headline(c));
    for cell in &c.cells {
        let _ = write!(out, "\n{}{}\n{}", line(&cell.title), line(&drift(cell)), table(cell).fit(style));
    }
    let notes = notes(c);
    if !notes.is_empty() {
        let _ = write!(out, "\n{}", line(&notes.join("\n")));
    }
    out
}

/// For a pull request.
pub fn markdown(c: &Comparison) -> String {
    let mut out = format!("**{}**\n", md::words(&headline(c)));
    for cell in &c.cells {
        let _ =
            write!(out, "\n### {}\n\n{}\n\n{}", md::words(&cell.title), drift(cell), table(cell).markdown());
    }
    let notes = notes(c);
    if !notes.is_empty() {
        let _ = write!(out, "\n{}", md::items(&notes));
    }
    out
}

/// The result in one line.
pub fn headline(c: &Comparison) -> String {
    let count = |change: Change| {
        let all = c.cells.iter().flat_map(|cell| &cell.contenders);
        all.filter(|contender| contender.change == change).count()
    };
    let parts: Vec<String> = [
        (count(Change::Slower), "significantly slower"),
        (count(Change::Faster), "significantly faster"),
        (count(Change::NoneSeen), "unchanged within error"),
        (count(Change::Unknown), "inconclusive"),
    ]
    .iter()
    .filter(|(n, _)| *n > 0)
    .map(|(n, words)| format!("{n} {words}"))
    .collect();
    format!("{} against {}: {}", c.new, c.old, parts.join(", "))
}

/// How much the speed of the machine itself changed between the runs.
pub fn drift(cell: &CellComparison) -> String {
    match cell.drift {
        None => "The drift of the machine itself is unknown.".to_owned(),
        Some(drift) => format!(
            "The machine itself ran at {} of its earlier speed, as measured with {}; the ratios are corrected for it.{}{}",
            share(drift),
            match cell.drift_of {
                DriftOf::Reference => "`drome serve`",
                DriftOf::Hub => "the hub",
            },
            movement(cell),
            speed(cell.metric)
        ),
    }
}

/// How much the contenders' speeds differ between the runs for no known reason; begins with a space.
fn movement(cell: &CellComparison) -> String {
    match cell.movement {
        Some(share) if share >= LEAST_MOVEMENT => format!(
            " Beyond that, contenders' speeds differed by about {:.1} % between the runs for no known reason; the \
             intervals allow for it.",
            share * 100.0
        ),
        _ => String::new(),
    }
}

/// What “speed” means if the metric is not a rate; begins with a space.
pub(crate) fn speed(metric: Metric) -> String {
    let what = match metric {
        Metric::Rate => return String::new(),
        Metric::ServerCpu => "CPU time".to_owned(),
        Metric::Latency(p) => format!("{} latency", p.word()),
        Metric::Rss => "memory".to_owned(),
    };
    format!(" Speed here is the inverse of the {what}: half the speed is twice the {what}.")
}

fn table(cell: &CellComparison) -> Table {
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("version", Side::Left),
        ("now / then", Side::Right),
        ("interval", Side::Right),
        ("change", Side::Left),
    ]);
    for contender in &cell.contenders {
        table.row(vec![
            contender.title.clone(),
            versions(contender),
            units::known(contender.ratio, |r| format!("{:.3}", r.median)),
            units::interval(contender.ratio, |x| format!("{x:.3}")),
            change(contender),
        ]);
        table.paint("change", ink(contender.change));
    }
    table
}

/// The version, or both where it changed.
pub fn versions(contender: &ContenderComparison) -> String {
    let [old, new] = contender.versions.each_ref().map(|v| v.as_deref().unwrap_or("unknown"));
    if old == new { new.to_owned() } else { format!("{old} → {new}") }
}

/// How the contender changed, in words.
pub fn change(contender: &ContenderComparison) -> String {
    let word = match contender.change {
        Change::Faster => "faster",
        Change::Slower => "slower",
        Change::NoneSeen => "within error",
        Change::Unknown => "inconclusive",
    };
    contender.note.as_ref().map_or_else(|| word.to_owned(), |note| format!("{word}: {note}"))
}

fn ink(change: Change) -> Ink {
    match change {
        Change::Faster => Ink::Good,
        Change::Slower => Ink::Bad,
        Change::Unknown => Ink::Doubt,
        Change::NoneSeen => Ink::Plain,
    }
}

fn share(figure: Figure) -> String {
    let percent = |x: f64| format!("{:.1} %", x * 100.0);
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => {
            format!("{} (95 % {} to {})", percent(figure.median), percent(low), percent(high))
        }
        _ => percent(figure.median),
    }
}

/// Remarks on both runs.
pub fn notes(c: &Comparison) -> Vec<String> {
    let mut notes = c.notes.clone();
    notes.extend(c.gone.iter().map(|what| format!("{what} is only in {}", c.old)));
    notes.extend(c.added.iter().map(|what| format!("{what} is only in {}", c.new)));
    notes.extend(c.failed.iter().map(|f| {
        format!("{} ({}) failed in {} of {} trials of {}", f.title, f.cell, f.failed, f.trials, c.new)
    }));
    notes.push(format!(
        "the intervals are joint: with {:.0} % confidence all of them hold at once",
        c.confidence * 100.0
    ));
    notes
}
