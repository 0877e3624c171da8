//! The comparison of two runs.

use crate::document::Document;
use crate::lanes::{Axis, LaneEstimate};
use crate::table::{Lane, Table};
use crate::text_style::Ink;
use crate::units;
use model::Metric;
use model::comparison::{CellComparison, Change, Comparison, ContenderComparison, DriftOf};
use model::findings::Figure;

/// A smaller movement, as a share of the speed, is not mentioned.
const LEAST_MOVEMENT: f64 = 0.005;

/// The whole comparison.
pub fn document(c: &Comparison) -> Document {
    let mut document = Document::default().finding(headline(c));
    for cell in &c.cells {
        document = document.heading(3, &cell.title).sentence(drift(cell)).table(table(cell));
    }
    document.heading(3, "Notes").items(notes(c))
}

/// The result in one line.
fn headline(c: &Comparison) -> String {
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
fn drift(cell: &CellComparison) -> String {
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
    let estimate = |c: &ContenderComparison| LaneEstimate {
        value: c.ratio.map(|ratio| ratio.median),
        interval: c.ratio.and_then(|ratio| ratio.low.zip(ratio.high)),
        ..LaneEstimate::default()
    };
    let estimates: Vec<LaneEstimate> = cell.contenders.iter().map(estimate).collect();
    let axis = Axis::of_ratios(&estimates);
    let rows = estimates.iter().map(|estimate| axis.draw(estimate, 1.0)).collect();
    let lane = Lane { title: "ratio, drawn".to_owned(), axis: axis.head(), rows };
    Table::of(&cell.contenders)
        .text("contender", |c| c.title.clone())
        .text("version", versions)
        .figure("now / then", |c| Some(format!("{:.3}", c.ratio?.median)))
        .number("interval", |c| units::interval(c.ratio, |x| format!("{x:.3}")))
        .text("change", change)
        .ink(|c| ink(c.change))
        .table()
        .with_lane(lane)
}

/// The version, or both where it changed.
fn versions(contender: &ContenderComparison) -> String {
    let [old, new] = contender.versions.each_ref().map(|v| v.as_deref().unwrap_or("unknown"));
    if old == new { new.to_owned() } else { format!("{old} → {new}") }
}

/// How the contender changed, in words.
fn change(contender: &ContenderComparison) -> String {
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
fn notes(c: &Comparison) -> Vec<String> {
    let mut notes = c.notes.clone();
    notes.extend(c.gone.iter().map(|what| format!("{what} is only in {}", c.old)));
    notes.extend(c.added.iter().map(|what| format!("{what} is only in {}", c.new)));
    notes.extend(c.failed.iter().map(|f| {
        format!("{} ({}) failed in {} of {} starts of {}", f.title, f.cell, f.failed, f.trials, c.new)
    }));
    notes.push(format!(
        "the intervals are joint: with {:.0} % confidence all of them hold at once",
        c.confidence * 100.0
    ));
    notes
}
