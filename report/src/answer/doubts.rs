//! What may be wrong with the ranking of a cell, in one sentence.

use super::some;
use crate::machines;
use crate::units;
use model::Metric;
use model::background::Background;
use model::findings::{CellFindings, CellInHeats, Unranked};
use model::study::REFERENCE;

/// `Caution: no rank for A (no figure); …`; `None` if there is no reason for caution.
pub(super) fn of(cell: &CellFindings, in_heats: &CellInHeats) -> Option<String> {
    let doubts: Vec<String> = [
        machines::caveat(cell),
        distance(cell, in_heats),
        unranked(cell),
        never_quiet(in_heats),
        shares_differ(in_heats),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!doubts.is_empty()).then(|| format!("Caution: {}.", doubts.join("; ")))
}

/// Why it is unknown how far the best contender is from the reference, where both were held back.
fn distance(cell: &CellFindings, in_heats: &CellInHeats) -> Option<String> {
    let (reference, best) =
        (cell.contender(REFERENCE)?, cell.contender(in_heats.front.as_ref()?.leaders.first()?)?);
    let by = best.both_held_back_by(reference).filter(|_| cell.metric == Metric::Rate)?;
    let title = &best.title;
    Some(format!("{by} limited both {title} and the reference, so the distance between them is unknown"))
}

/// Which contenders have no rank, and why.
fn unranked(cell: &CellFindings) -> Option<String> {
    let without = |why: Unranked| -> Vec<&str> {
        let is = |c: &&model::findings::ContenderFindings| c.in_heats.unranked == Some(why);
        cell.contenders.iter().filter(is).map(|c| c.title.as_str()).collect()
    };
    let told = [
        (Unranked::NotSettled, "not settled when the warm-up ended"),
        (Unranked::Failed, "failed in a third of its starts or more"),
        (Unranked::Void, "void in a third of its starts or more"),
        (Unranked::NoFigure, "no figure"),
    ];
    let unranked: Vec<String> = told
        .into_iter()
        .filter(|(why, _)| !without(*why).is_empty())
        .map(|(why, words)| format!("for {} ({words})", some(&without(why))))
        .collect();
    (!unranked.is_empty()).then(|| format!("no rank {}", unranked.join(", ")))
}

/// Says in how many heats background load ran nearly all the time; `None` if in none.
pub fn never_quiet(in_heats: &CellInHeats) -> Option<String> {
    let (some, all) = (in_heats.never_quiet, units::several(in_heats.heats, "heat"));
    let by = mostly(in_heats);
    (some > 0).then(|| {
        format!("background load{by} ran nearly all the time in {some} of {all}, so disturbed turns count there too")
    })
}

fn shares_differ(in_heats: &CellInHeats) -> Option<String> {
    let (some, all) = (in_heats.shares_differ, units::several(in_heats.heats, "heat"));
    let by = mostly(in_heats);
    (some > 0).then(|| {
        format!(
            "background load{by} disturbed some contenders more often than others in {some} of {all}, so every turn counts \
             there, disturbed or not"
        )
    })
}

/// ` (mostly rustc and cargo)`: the programs that took the most CPU time in disturbed turns, where they are known.
pub fn mostly(in_heats: &CellInHeats) -> String {
    let most = in_heats.background.first().map_or(0, |one| one.cpu_ns);
    let matters = |one: &&Background| one.cpu_ns >= most / 10;
    let names: Vec<&str> =
        in_heats.background.iter().filter(matters).map(|one| one.program.as_str()).collect();
    if names.is_empty() { String::new() } else { format!(" (mostly {})", units::listed(&names)) }
}
