//! Words for the steps of a history, which its text and its chart both say.

use crate::gate;
use model::Metric;
use model::history::{CellHistory, Step};

/// What speed is, where it is not the rate: `, by 1/p99`.
pub(crate) fn by(cell: &CellHistory) -> String {
    if cell.metric == Metric::Rate { String::new() } else { format!(", by 1/{}", cell.metric) }
}

/// The day of the run at which a step is.
pub(crate) fn day<'c>(cell: &'c CellHistory, step: &Step) -> &'c str {
    cell.runs.get(step.at).map_or("", |run| run.started_at.get(..10).unwrap_or(""))
}

/// The size of a step: `1.2 % slower`.
pub(crate) fn change(step: &Step) -> String {
    gate::by(step.ratio.median)
}
