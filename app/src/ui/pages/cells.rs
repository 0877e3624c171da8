//! The findings of a cell: every contender's share of the reference, drawn with its interval, its figures, and its
//! starts. The same for a run that has ended and for one that is running.

use super::intervals::{Axis, Estimate};
use crate::ui::outcomes::{State, TrialOutcome};
use maud::{Markup, html};
use model::findings::{CellFindings, ContenderFindings, Figure};
use model::study::REFERENCE;
use model::{Load, Metric};
use report::{chips, units};

/// The largest number of marks in a row; more are shown in words only.
const MOST_MARKS: usize = 40;

/// The sections of all cells that have a contender: their findings, and their starts.
pub fn sections(cells: &[CellFindings], outcomes: &[TrialOutcome]) -> Markup {
    let shares = |cell: &CellFindings| cell.contenders.iter().map(|c| estimate(cell, c)).collect::<Vec<_>>();
    let estimates: Vec<Vec<Estimate>> = cells.iter().map(shares).collect();
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
fn shared_axis(cells: &[CellFindings], estimates: &[Vec<Estimate>], metric: Metric) -> Axis {
    let alike = cells.iter().zip(estimates).filter(|(cell, _)| cell.metric == metric);
    Axis::of_sizes(&alike.flat_map(|(_, estimates)| estimates).cloned().collect::<Vec<_>>())
}

fn section(
    (number, cell): (usize, &CellFindings),
    (axis, estimates): (&Axis, &[Estimate]),
    outcomes: &[TrialOutcome],
) -> Markup {
    let base =
        if cell.contenders.iter().any(|c| c.name == REFERENCE) { "the reference" } else { "the first" };
    let what = what(cell.metric);
    let percentiles = percentiles(cell);
    html! {
        section.card aria-label=(cell.title) {
            h2 { (cell.title) }
            p.faint { (report::ranking::asked(cell)) "; " (report::ranking::floor(cell)) "." }
            div.scroll tabindex="0" role="region" aria-label={ "Figures of " (cell.title) } {
                table.cell {
                    caption.unseen { (what) " as a share of " (base) ", with its 95 % interval where there is one" (axis.kind()) }
                    thead {
                        tr {
                            th scope="col" { "Contender" }
                            th.wide scope="col" { (what) ", of " (base) (axis.head()) }
                            th.number scope="col" { "Share" }
                            th.number scope="col" { "Requests/s" }
                            @for percentile in &percentiles { th.number scope="col" { (percentile.title) } }
                            th.number scope="col" { "CPU/request" }
                            th.number scope="col" { "CPU use" }
                            th.number scope="col" { "Memory" }
                            th scope="col" { "Starts" }
                        }
                    }
                    tbody {
                        @for (contender, estimate) in cell.contenders.iter().zip(estimates) {
                            (row((number, cell), contender, (axis, estimate), &percentiles, outcomes))
                        }
                    }
                }
            }
            (notes(cell))
        }
    }
}

fn what(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "rate",
        Metric::ServerCpu => "CPU time per request",
        Metric::Latency(_) => "latency",
        Metric::Rss => "memory",
    }
}

/// A column with a percentile of latency.
struct Percentile {
    title: &'static str,
    of: fn(&ContenderFindings) -> Option<Figure>,
}

/// The columns of latency; empty if no latency is known. Under closed load it is the latency of a saturated server.
fn percentiles(cell: &CellFindings) -> Vec<Percentile> {
    let titles = match cell.load {
        Load::Closed { .. } => ["p50 at saturation", "p99 at saturation"],
        Load::Open { .. } => ["p50", "p99"],
    };
    let figures: [fn(&ContenderFindings) -> Option<Figure>; 2] = [|c| c.latency_ns_p50, |c| c.latency_ns_p99];
    if !cell.contenders.iter().any(|c| figures.iter().any(|of| of(c).is_some())) {
        return Vec::new();
    }
    titles.into_iter().zip(figures).map(|(title, of)| Percentile { title, of }).collect()
}

fn row(
    (number, cell): (usize, &CellFindings),
    c: &ContenderFindings,
    (axis, estimate): (&Axis, &Estimate),
    percentiles: &[Percentile],
    outcomes: &[TrialOutcome],
) -> Markup {
    let floor = if c.is_held_back() { "≥ " } else { "" };
    let [share, _] = report::figures::of_base(cell, c);
    html! {
        tr.reference[c.name == REFERENCE] {
            th scope="row" {
                @if let Some(letter) = letter(c) { (letter) ": " }
                (c.title) " " span.faint { (c.version.as_deref().unwrap_or_default()) }
                @if let Some(standing) = standing(c) { span.tier { (standing) } }
                (chips::draw(&chips::of(cell, c)))
            }
            td.wide { (axis.draw(estimate, 1.0)) span.unseen { (share_in_words(estimate)) } }
            td.number data-label="Share" { (share) }
            td.number data-label="Requests/s" { (units::known(c.rate_per_s, |f| format!("{floor}{}", units::rate(f.median)))) }
            @for percentile in percentiles {
                td.number data-label=(percentile.title) { (units::known((percentile.of)(c), |f| units::duration(f.median))) }
            }
            td.number data-label="CPU/request" { (units::known(c.server_cpu_ns_per_request, |f| units::duration(f.median))) }
            td.number data-label="CPU use" { (units::known(c.server_core_use, |f| format!("{:.0} %", f.median * 100.0))) }
            td.number data-label="Memory" { (report::figures::memory(c)) }
            td.starts data-label="Starts" { (starts(number, c, outcomes)) }
        }
    }
}

/// The letter of a contender of a race, by which its profile and its command are named, unless it is the whole label.
fn letter(c: &ContenderFindings) -> Option<&str> {
    let is_letter = c.name.len() == 1 && c.name != c.title;
    is_letter.then_some(c.name.as_str())
}

/// The estimate of a contender's share of the reference, overall and round by round.
fn estimate(cell: &CellFindings, c: &ContenderFindings) -> Estimate {
    let is_rate = cell.metric == Metric::Rate;
    let is_base = |c: &&ContenderFindings| c.name == REFERENCE || c.name == "A";
    let base = cell.contenders.iter().find(is_base);
    let ratio = if is_rate { c.of_reference } else { c.metric_of_reference };
    let by_round = base.filter(|_| is_rate).map(|b| &b.rate_per_s_by_round);
    let pairs = c.rate_per_s_by_round.iter().zip(by_round.into_iter().flatten());
    let ticks = pairs.filter_map(|(own, base)| Some((*own)? / (*base)?)).filter(|x| x.is_finite()).collect();
    let bounds = |f: Figure| f.low.zip(f.high);
    Estimate {
        value: ratio.map(|f| f.median).or_else(|| base.filter(|b| b.name == c.name).map(|_| 1.0)),
        interval: ratio.and_then(bounds),
        ticks,
        is_bound: c.is_held_back(),
    }
}

fn share_in_words(estimate: &Estimate) -> String {
    match (estimate.value, estimate.interval) {
        (None, _) => "not known yet".to_owned(),
        (Some(value), None) => format!("{}, no interval yet", units::ratio(value)),
        (Some(value), Some((low, high))) => {
            format!("{}, between {} and {}", units::ratio(value), units::ratio(low), units::ratio(high))
        }
    }
}

/// The range of a contender's ranks.
fn standing(c: &ContenderFindings) -> Option<String> {
    c.rank_low.map(|_| format!("rank {}", report::figures::rank(c)))
}

/// A square for every start, and their number in words.
fn starts(number: usize, c: &ContenderFindings, outcomes: &[TrialOutcome]) -> Markup {
    let own: Vec<&TrialOutcome> =
        outcomes.iter().filter(|m| m.trial.cell == number && m.trial.contender == c.name).collect();
    let count = |is: fn(&State) -> bool| own.iter().filter(|mark| is(&mark.state)).count();
    let void = count(|s| matches!(s, State::Void(_)));
    let failed = count(|s| matches!(s, State::Failed(_)));
    let mut words = (own.len() - void - failed).to_string();
    for (n, what) in [(void, "void"), (failed, "failed")] {
        if n > 0 {
            words.push_str(&format!(", {n} {what}"));
        }
    }
    html! {
        @if own.len() <= MOST_MARKS {
            span.marks aria-hidden="true" {
                @for mark in &own { span.mark.(class(&mark.state)) title=(hover(mark)) {} }
            }
        }
        span.words { (words) }
    }
}

fn class(state: &State) -> &'static str {
    match state {
        State::Valid => "valid",
        State::Void(_) => "void",
        State::Failed(_) => "failed",
    }
}

fn hover(mark: &TrialOutcome) -> String {
    let place = format!("round {}", mark.trial.round + 1);
    match &mark.state {
        State::Valid => format!("{place}: valid"),
        State::Void(why) => format!("{place}: void: {why}"),
        State::Failed(why) => format!("{place}: failed: {why}"),
    }
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
