//! Every start in each cell, in the order of measurement, including void and failed ones with their reasons.

use crate::chart::Unit;
use crate::chips::Chip;
use crate::document::Document;
use crate::outcome::StartState;
use crate::table::Table;
use crate::{RunReport, units};
use model::metric::Percentile;
use model::{Metric, StartInCell};

/// With more rows, the table scrolls.
const TALL: usize = 30;

/// What a row is.
const STARTS: &str = "In each heat, several servers and the hub, which takes part in every heat, are started afresh and measured in one cell after \
                      another. Ratios and ranks are computed from a start's figure: the result of all of its turns in the cell that count, adjusted \
                      for the machine's speed in each cycle of turns.";

/// The same where drome started no server.
const CONNECTIONS: &str = "The servers already ran. A start is a new set of connections to a server and a new warm-up. In each heat, servers are loaded in \
                           turns. Ratios and ranks are computed from a start's figure: the result of all of its turns that count, adjusted for the \
                           machine's speed in each cycle of turns.";

pub(super) fn document(told: &RunReport) -> Document {
    let document = Document::default().section("trials", "Every start");
    let all = told.measured.starts_in_cells();
    if all.is_empty() {
        return document.sentence("No start has finished yet.");
    }
    let are_running = told.findings.race.as_ref().is_some_and(|race| race.running);
    document.remark(if are_running { CONNECTIONS } else { STARTS }).table(table(told, &all))
}

fn table(told: &RunReport, all: &[StartInCell<'_>]) -> Table {
    let figure_of = |metric: Metric, shown: fn(f64) -> String| {
        move |(_, o): &Row| metric.of(o.measured()?).filter(|value| value.is_finite()).map(shown)
    };
    let cell = |o: &StartInCell<'_>| told.run.study.cells.get(o.cell).map(|cell| cell.title.clone());
    let rows: Vec<Row> = all.iter().enumerate().collect();
    let chips = all.iter().map(|o| chip(o).into_iter().collect());
    let mut table = Table::of(&rows)
        .number("order", |(i, _)| units::count(*i as u64 + 1))
        .text("contender", |(_, o)| name(told, o))
        .text("cell", |(_, o)| cell(o).unwrap_or_default())
        .number("round", |(_, o)| (o.start.round + 1).to_string())
        .figure("heat", |(_, o)| Some((o.start.heat + 1).to_string()))
        .figure("figure", |(_, o)| Some(of_metric(told, o, told.figure(o)?)))
        .figure("requests/s", figure_of(Metric::Rate, units::rate))
        .figure("CPU/request", figure_of(Metric::ServerCpu, units::duration))
        .figure("p99", figure_of(Metric::Latency(Percentile::P99), units::duration))
        .figure("RSS", figure_of(Metric::Rss, units::bytes))
        .known("bound", |(_, o)| Some(o.measured()?.verdict.bound.word().to_owned()))
        .number("duration", |(_, o)| units::duration(o.took_ns as f64))
        .text("reason and notes", |(_, o)| o.reasons())
        .table()
        .filterable()
        .with_chips(chips);
    table.is_tall = rows.len() > TALL;
    table
}

/// A start in a cell, with its index.
type Row<'o> = (usize, &'o StartInCell<'o>);

/// The chip of a start that does not count.
fn chip(o: &StartInCell<'_>) -> Option<Chip> {
    match StartState::of(o) {
        StartState::Valid => None,
        StartState::Void(_) => {
            Some(Chip::open("void", "Its figures can't be trusted and are left out of every estimate"))
        }
        StartState::Failed(_) => Some(Chip::bad("failed", "It has no figures")),
    }
}

/// A figure in the unit of its cell's metric.
fn of_metric(told: &RunReport, o: &StartInCell<'_>, value: f64) -> String {
    let metric = told.findings.cells.get(o.cell).map_or(Metric::Rate, |cell| cell.metric);
    Unit::of(metric).shown(value)
}

/// The name as in the other tables, with the number of the entry if the contender had several in the round.
fn name(told: &RunReport, o: &StartInCell<'_>) -> String {
    let entrant = told.run.contenders.get(&o.start.contender).filter(|_| told.findings.race.is_none());
    let name = entrant.map_or(o.start.contender.as_str(), |entrant| entrant.title.as_str());
    if o.start.copy == 0 { name.to_owned() } else { format!("{name}, entry {}", o.start.copy + 1) }
}
