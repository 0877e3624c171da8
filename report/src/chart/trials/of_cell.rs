//! Turns the starts of a cell into the chart of all starts and its finding.

use super::{Row, StartState, Trial, Trials};
use crate::chart::Caption;
use crate::chart::ranked::label;
use crate::units;
use model::findings::CellFindings;
use model::{Metric, StartInCell};

/// All trials of a cell, in the order of the store, which is the run order.
pub fn of_cell(cell: &CellFindings, number: usize, starts: &[StartInCell<'_>]) -> Trials {
    // The hub of a heat has no row, and so no place in the order.
    let is_shown = |o: &&StartInCell<'_>| {
        o.cell == number && cell.contenders.iter().any(|c| c.name == o.start.contender)
    };
    let own: Vec<&StartInCell<'_>> = starts.iter().filter(is_shown).collect();
    let metric = cell.metric;
    let row = |c: &model::findings::ContenderFindings| {
        let trials = own.iter().enumerate().filter(|(_, o)| o.start.contender == c.name);
        Row { label: label(c), trials: trials.map(|(nth, o)| trial(nth, o, metric)).collect() }
    };
    let rows = cell.contenders.iter().map(row).filter(|row| !row.trials.is_empty());
    let rows: Vec<Row> = rows.collect();
    let caption = Caption::new(format!("{}: every start", cell.title), finding(&rows, metric));
    Trials { caption, metric, rows }
}

fn trial(nth: usize, o: &StartInCell<'_>, metric: Metric) -> Trial {
    let figure = o.measured().and_then(|m| metric.of(m));
    Trial { nth, round: o.start.round, copy: o.start.copy, figure, state: StartState::of(o) }
}

fn finding(rows: &[Row], metric: Metric) -> String {
    let all = || rows.iter().flat_map(|row| &row.trials);
    let count = |is: fn(&StartState) -> bool| all().filter(|t| is(&t.state)).count();
    let (void, failed) =
        (count(|s| matches!(s, StartState::Void(_))), count(|s| matches!(s, StartState::Failed(_))));
    let lost = match (void, failed) {
        (0, 0) => "all count".to_owned(),
        (void, 0) => format!("{void} void"),
        (0, failed) => format!("{failed} failed"),
        (void, failed) => format!("{void} void, {failed} failed"),
    };
    let lead = format!("{}: {lost}", units::several(all().count(), "start"));
    let mut far: Vec<(&Row, &Trial, f64)> = Vec::new();
    for row in rows {
        let Some(median) = row.median() else { continue };
        let valid = row.trials.iter().filter(|t| t.state == StartState::Valid);
        far.extend(valid.filter_map(|t| Some((row, t, t.figure? / median - 1.0))));
    }
    let distances: Vec<f64> = far.iter().map(|(_, _, share)| share.abs()).collect();
    let farthest = far.iter().max_by(|a, b| a.2.abs().total_cmp(&b.2.abs()));
    let (Some(half), Some((row, trial, share))) = (stats::median(&distances), farthest) else {
        return format!("{lead}.");
    };
    let way = match (metric, *share < 0.0) {
        (Metric::Rate, true) => "slower",
        (Metric::Rate, false) => "faster",
        (_, true) => "lower",
        (_, false) => "higher",
    };
    format!(
        "{lead}. Half of those that count are within {} of their contender's median; the farthest is {} in round {}, {} {way}.",
        units::percent(half),
        row.label,
        trial.round + 1,
        units::percent(share.abs())
    )
}
