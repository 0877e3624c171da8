//! Compares contenders that are next to each other in the ranking (in a race all, with a margin each with the first), so that
//! the next step of a run can be decided whether enough was measured.

use super::FittedCell;
use super::starts::Turns;
use crate::schedule::starts_summary::StartsSummary;
use crate::schedule::stopping_rule::{Neighbours, Standing};
use model::gate;
use model::{Measured, Run, Start};
use stats::heats::Relation;
use stats::margin::Judged;

/// Compares neighbours in the order of estimates (in a race all contenders) or, with a margin, each with the first, cell by cell, over the first
/// `rounds` rounds.
pub fn neighbours(run: &Run, measured: &Measured, rounds: usize) -> Vec<Neighbours> {
    let starts: Vec<Start> = measured.starts.iter().filter(|start| start.round < rounds).cloned().collect();
    let (turns, found) = (Turns::of(run, measured), StartsSummary::of(&starts));
    let of = |cell| of_cell(&FittedCell::of(run, &starts, &turns, &found, cell));
    (0..run.study.cells.len()).flat_map(of).collect()
}

fn of_cell(of: &FittedCell<'_>) -> Vec<Neighbours> {
    if let Some(margin) = of.run.study.design.margin {
        return against_base(of, margin);
    }
    let model = &of.ranked;
    let standing = |one: usize, other: usize| match model.fit.pair(one, other) {
        Some(pair) if matches!(pair.relation, Relation::Better | Relation::Worse) => Standing::Decided,
        Some(pair) if pair.relation == Relation::Equal => Standing::Equal,
        // More rounds would tell no more about a contender that the load generator holds back.
        _ if model.is_floor(one) || model.is_floor(other) => Standing::HeldBack,
        pair => Standing::Open(pair.map(|pair| pair.sure_half_width())),
    };
    let named = |one: usize, other: usize| {
        let [first, second] = [one, other].map(|c| model.name(c).to_owned());
        Neighbours { cell: of.cell, one: first, other: second, standing: standing(one, other) }
    };
    let order = model.order();
    // Two that are equal to the one between them need not be equal to each other.
    let reach = if of.run.race.is_some() { order.len() } else { 1 };
    let behind = |i: usize| order.iter().skip(i + 1).take(reach);
    order
        .iter()
        .enumerate()
        .flat_map(|(i, one)| behind(i).map(move |other| (*one, *other)))
        .map(|(one, other)| named(one, other))
        .collect()
}

/// Compares every ranked contender with the first, by a margin by which its speed may be lower: exactly as [`gate::Gate::of_race`] does.
fn against_base(of: &FittedCell<'_>, margin: f64) -> Vec<Neighbours> {
    let (model, base) = (&of.ranked, of.base());
    let first = model.index(base);
    let is_floor = |c: usize| model.is_floor(c) || first.is_some_and(|first| model.is_floor(first));
    let standing = |c: usize| {
        let ratio = model.sure(model.name(c), base);
        match ratio.map(|ratio| gate::judged(gate::speed(ratio, of.metric), margin)) {
            _ if is_floor(c) => Standing::HeldBack,
            Some(Judged::Beyond | Judged::Within) => Standing::Decided,
            Some(Judged::Open) | None => {
                Standing::Open(model.pair(model.name(c), base).map(|pair| pair.sure_half_width()))
            }
        }
    };
    let others = model.order().into_iter().filter(|c| first != Some(*c));
    let named = |c: usize| Neighbours {
        cell: of.cell,
        one: base.to_owned(),
        other: model.name(c).to_owned(),
        standing: standing(c),
    };
    others.map(named).collect()
}
