//! Every trial, or every start in each cell of its heat, in the order of measurement, including void and failed ones with their
//! reasons.

use super::table::Shown;
use crate::chips::Chip;
use crate::table::{Side, Table};
use crate::{RunReport, units};
use maud::{Markup, html};
use model::metric::Percentile;
use model::{Measurement, Metric, Observation, Outcome};

/// The words for a row of the table.
struct Words {
    one: &'static str,
    row: &'static str,
    title: &'static str,
    meaning: &'static str,
}

const STARTS: Words = Words {
    one: "start",
    row: "row",
    title: "Every start",
    meaning: "In each heat, several servers and the hub, which takes part in every heat, are started afresh and measured in one cell after \
              another. Ratios and ranks are computed from a start's figure: the result of all of its turns in the cell that count, adjusted \
              for the machine's speed in each cycle of turns.",
};

const CONNECTIONS: Words = Words {
    meaning: "The servers already ran. A start is a new set of connections to a server and a new warm-up. In each heat, servers are loaded in \
              turns. Ratios and ranks are computed from a start's figure: the result of all of its turns that count, adjusted for the \
              machine's speed in each cycle of turns.",
    ..STARTS
};

pub(super) fn section(told: &RunReport) -> Markup {
    let words = match &told.findings.race {
        Some(race) if race.running => CONNECTIONS,
        _ => STARTS,
    };
    let (table, chips) = table(told);
    let count = units::several(told.observations.len(), words.row);
    let caption = format!("{count} in the order of measurement");
    let is_tall = table.rows().len() > 30;
    let shown = Shown {
        id: "trial-table",
        caption: &caption,
        table: &table,
        chips: &chips,
        has_filter: true,
        is_tall,
    };
    html! {
        section #trials aria-labelledby="trials-title" {
            h2 #trials-title { (words.title) }
            @if told.observations.is_empty() {
                p { "No " (words.one) " has finished yet." }
            } @else {
                p.asked { (words.meaning) }
                (shown.markup())
            }
        }
    }
}

fn table(told: &RunReport) -> (Table, Vec<Vec<Chip>>) {
    let head = [
        ("order", Side::Right),
        ("contender", Side::Left),
        ("cell", Side::Left),
        ("round", Side::Right),
        ("heat", Side::Right),
        ("figure", Side::Right),
    ];
    let figures = [
        ("requests/s", Side::Right),
        ("CPU/request", Side::Right),
        ("p99", Side::Right),
        ("RSS", Side::Right),
        ("bound", Side::Left),
        ("duration", Side::Right),
        ("reason and notes", Side::Left),
    ];
    let mut table = Table::new(&[&head[..], &figures[..]].concat());
    let mut chips = Vec::new();
    for (i, observation) in told.observations.iter().enumerate() {
        let (chip, why, measured) = outcome(observation);
        chips.push(chip.into_iter().collect());
        table.row(row(told, i, observation, why, measured));
    }
    (table, chips)
}

/// The outcome: a chip if the trial does not count, the reasons, and the measurement.
fn outcome(o: &Observation) -> (Option<Chip>, String, Option<&Measurement>) {
    match &o.outcome {
        Outcome::Failed(why) => (Some(Chip::bad("failed", "It has no figures")), why.clone(), None),
        Outcome::Measured(m) => {
            let void =
                || Chip::open("void", "Its figures can't be trusted and are left out of every estimate");
            ((!m.verdict.valid).then(void), m.verdict.reasons.join("; "), Some(m.as_ref()))
        }
    }
}

fn row(
    told: &RunReport,
    i: usize,
    o: &Observation,
    why: String,
    measured: Option<&Measurement>,
) -> Vec<String> {
    let figure = |metric: Metric, shown: fn(f64) -> String| {
        units::known(measured.and_then(|m| metric.of(m)).filter(|value| value.is_finite()), shown)
    };
    let cell = told.run.study.cells.get(o.trial.cell).map_or_else(String::new, |cell| cell.title.clone());
    let mut row = vec![units::count(i as u64 + 1), name(told, o), cell, (o.trial.round + 1).to_string()];
    row.extend([
        units::known(o.in_heat.as_ref(), |in_heat| (in_heat.heat + 1).to_string()),
        units::known(told.figure(o), |value| of_metric(told, o, value)),
        figure(Metric::Rate, units::rate),
        figure(Metric::ServerCpu, units::duration),
        figure(Metric::Latency(Percentile::P99), units::duration),
        figure(Metric::Rss, units::bytes),
        units::known(measured, |m| m.verdict.bound.word().to_owned()),
        units::duration(o.elapsed_ns as f64),
        why,
    ]);
    row
}

/// A figure in the unit of its cell's metric.
fn of_metric(told: &RunReport, o: &Observation, value: f64) -> String {
    match told.findings.cells.get(o.trial.cell).map_or(Metric::Rate, |cell| cell.metric) {
        Metric::Rate => units::rate(value),
        Metric::ServerCpu | Metric::Latency(_) => units::duration(value),
        Metric::Rss => units::bytes(value),
    }
}

/// The name as in the other tables, with the number of the entry if the contender had several in the block.
fn name(told: &RunReport, o: &Observation) -> String {
    let entrant = told.run.contenders.get(&o.trial.contender).filter(|_| told.findings.race.is_none());
    let name = entrant.map_or(o.trial.contender.as_str(), |entrant| entrant.title.as_str());
    if o.trial.copy == 0 { name.to_owned() } else { format!("{name}, entry {}", o.trial.copy + 1) }
}
