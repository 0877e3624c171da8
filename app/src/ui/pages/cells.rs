//! The findings of a cell: every contender's share of the reference, drawn with its interval, its figures, and its
//! starts. The same for a run that has ended and for one that is running.

use crate::ui::outcomes::{StartState, TrialOutcome};
use maud::{Markup, html};
use model::findings::{CellFindings, ContenderFindings, Figure};
use model::study::REFERENCE;
use model::{Load, Metric};
use report::figures::ShareBound;
use report::lanes::{Axis, LaneEstimate};
use report::table::{Lane, Table};
use report::{chips, units};

/// The largest number of marks in a row; more are shown in words only.
const MOST_MARKS: usize = 40;

/// The sections of all cells that have a contender: their findings, and their starts.
pub fn sections(cells: &[CellFindings], outcomes: &[TrialOutcome]) -> Markup {
    let shares = |cell: &CellFindings| cell.contenders.iter().map(|c| estimate(cell, c)).collect::<Vec<_>>();
    let estimates: Vec<Vec<LaneEstimate>> = cells.iter().map(shares).collect();
    html! {
        @for (number, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.contenders.is_empty()) {
            @let axis = shared_axis(cells, &estimates, cell.metric);
            (section((number, cell), (&axis, estimates[number].as_slice()), outcomes))
        }
    }
}

/// One axis for all cells that are ranked by the same metric, so that their rows can be compared. What is drawn is a
/// share of the reference in the same cell, so cells whose rates differ by orders of magnitude still fit on one axis.
/// Cells with another metric have another axis: of a latency, a larger share is worse.
fn shared_axis(cells: &[CellFindings], estimates: &[Vec<LaneEstimate>], metric: Metric) -> Axis {
    let alike = cells.iter().zip(estimates).filter(|(cell, _)| cell.metric == metric);
    Axis::of_sizes(&alike.flat_map(|(_, estimates)| estimates).cloned().collect::<Vec<_>>())
}

fn section(
    (number, cell): (usize, &CellFindings),
    (axis, estimates): (&Axis, &[LaneEstimate]),
    outcomes: &[TrialOutcome],
) -> Markup {
    let base =
        if cell.contenders.iter().any(|c| c.name == REFERENCE) { "the reference" } else { "the first" };
    let (what, kind) = (what(cell.metric), axis.kind());
    let caption = format!(
        "{}: {what} as a share of {base}, with its 95 % interval where there is one{kind}",
        cell.title
    );
    let draw = |estimate: &LaneEstimate| {
        html! { (axis.draw(estimate, 1.0)) span.unseen { (share_in_words(estimate)) } }
    };
    let title = format!("{what}, of {base}");
    let lane = Lane { title, axis: axis.head(), rows: estimates.iter().map(draw).collect() };
    let starts = cell.contenders.iter().map(|c| marks(&own(number, c, outcomes))).collect();
    let table = figures(cell).with_lane(lane).drawn("Starts", starts);
    html! {
        section.card aria-label=(cell.title) {
            h2 { (cell.title) }
            p.faint { (report::ranking::about(cell)) }
            (table.html(&format!("figures-{}", number + 1), &caption))
            (notes(cell))
        }
    }
}

/// The figures of a cell. Under closed load the latency is that of a saturated server.
fn figures(cell: &CellFindings) -> Table {
    let [p50, p99] = match cell.load {
        Load::Closed { .. } => ["p50 at saturation", "p99 at saturation"],
        Load::Open { .. } => ["p50", "p99"],
    };
    let median = |figure: Option<Figure>, shown: fn(f64) -> String| Some(shown(figure?.median));
    let label = |c: &ContenderFindings| {
        format!("{} {}", report::chart::ranked::label(c), c.version.as_deref().unwrap_or_default())
    };
    let chips = cell.contenders.iter().map(|c| chips::of(cell, c));
    let is_known = |c: &ContenderFindings| c.latency_ns_p50.or(c.latency_ns_p99).is_some();
    let table = Table::of(&cell.contenders)
        .text("Contender", label)
        .figure("Rank", |c| c.rank_low.map(|_| report::figures::rank(c)))
        .if_any()
        .number("Share", |c| report::figures::of_base(cell, c)[0].clone())
        .number("Requests/s", report::figures::rate);
    let table = if cell.contenders.iter().any(is_known) {
        table
            .figure(p50, |c| median(c.latency_ns_p50, units::duration))
            .figure(p99, |c| median(c.latency_ns_p99, units::duration))
    } else {
        table
    };
    table
        .figure("CPU/request", |c| median(c.server_cpu_ns_per_request, units::duration))
        .figure("CPU use", |c| median(c.server_core_use, |share| format!("{:.0} %", share * 100.0)))
        .number("Memory", report::figures::memory)
        .text("Starts", report::figures::counted_starts)
        .table()
        .with_chips(chips)
}

fn what(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "rate",
        Metric::ServerCpu => "CPU time per request",
        Metric::Latency(_) => "latency",
        Metric::Rss => "memory",
    }
}

/// The estimate of a contender's share of the reference, overall and round by round.
fn estimate(cell: &CellFindings, c: &ContenderFindings) -> LaneEstimate {
    let base = report::figures::base(cell);
    let share = report::figures::share(cell, c);
    let ratio = share.map(|share| share.figure);
    let by_round = base.filter(|_| cell.metric == Metric::Rate).map(|b| &b.rate_per_s_by_round);
    let pairs = c.rate_per_s_by_round.iter().zip(by_round.into_iter().flatten());
    let ticks = pairs.filter_map(|(own, base)| Some((*own)? / (*base)?)).filter(|x| x.is_finite()).collect();
    let bounds = |f: Figure| f.low.zip(f.high);
    LaneEstimate {
        value: ratio.map(|f| f.median).or_else(|| base.filter(|b| b.name == c.name).map(|_| 1.0)),
        interval: ratio.and_then(bounds),
        ticks,
        bound: share.map_or(ShareBound::Exact, |share| share.bound),
    }
}

fn share_in_words(estimate: &LaneEstimate) -> String {
    let bound = estimate.bound.words();
    match (estimate.value, estimate.interval) {
        (None, _) => "not known yet".to_owned(),
        (Some(value), None) => format!("{bound}{}, no interval yet", units::ratio(value)),
        (Some(value), Some((low, high))) => {
            format!(
                "{bound}{}, between {} and {}",
                units::ratio(value),
                units::ratio(low),
                units::ratio(high)
            )
        }
    }
}

/// The starts of a contender in a cell.
fn own<'o>(number: usize, c: &ContenderFindings, outcomes: &'o [TrialOutcome]) -> Vec<&'o TrialOutcome> {
    outcomes.iter().filter(|m| m.cell == number && m.contender == c.name).collect()
}

/// A square for every start.
fn marks(own: &[&TrialOutcome]) -> Markup {
    html! {
        @if own.len() <= MOST_MARKS {
            span.marks aria-hidden="true" {
                @for mark in own { span.mark.(class(&mark.state)) title=(hover(mark)) {} }
            }
        }
    }
}

fn class(state: &StartState) -> &'static str {
    match state {
        StartState::Valid => "valid",
        StartState::Void(_) => "void",
        StartState::Failed(_) => "failed",
    }
}

fn hover(mark: &TrialOutcome) -> String {
    format!("round {}: {}", mark.round + 1, mark.state.words())
}

fn notes(cell: &CellFindings) -> Markup {
    let notes = report::notes::of(cell);
    html! {
        @if !notes.is_empty() {
            details {
                summary { (units::several(notes.len(), "note")) " on individual contenders" }
                ul.notes { @for note in notes { li { (note) } } }
            }
        }
    }
}

#[cfg(test)]
#[path = "cells/tests.rs"]
mod tests;
