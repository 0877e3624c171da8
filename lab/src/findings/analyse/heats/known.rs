//! Compares contenders that are next to each other in the ranking, so that [`crate::heat::next`] can decide whether that is enough.

use super::InCell;
use super::starts::Turns;
use crate::heat::schedule::enough::{Neighbours, Standing};
use crate::heat::schedule::found::Found;
use model::Run;
use model::heat::{Heat, Slice, Start};
use stats::heats::Verdict;

/// Compares neighbours in the order of estimates, cell by cell, over the first so many rounds.
pub fn known(
    run: &Run,
    heats: &[Heat],
    starts: &[Start],
    slices: &[Slice],
    rounds: usize,
) -> Vec<Neighbours> {
    let starts: Vec<Start> = starts.iter().filter(|start| start.round < rounds).cloned().collect();
    let (turns, found) = (Turns::of(run, heats, slices), Found::of(&starts));
    let of_cell = |cell| neighbours(&InCell::of(run, &starts, &turns, &found, cell));
    (0..run.study.cells.len()).flat_map(of_cell).collect()
}

fn neighbours(of: &InCell<'_>) -> Vec<Neighbours> {
    let model = &of.ranked;
    let standing = |one: usize, other: usize| match model.fit.pair(one, other) {
        Some(pair) if matches!(pair.verdict, Verdict::First | Verdict::Second) => Standing::Decided,
        Some(pair) if pair.verdict == Verdict::Equal => Standing::Equal,
        // No round tells more of one that the load generator holds back.
        _ if model.is_floor(one) || model.is_floor(other) => Standing::HeldBack,
        pair => Standing::Open(pair.map(|pair| pair.sure_half_width())),
    };
    let named = |pair: &[usize]| {
        let [one, other] = [*pair.first()?, *pair.last()?];
        let [first, second] = [one, other].map(|c| model.name(c).to_owned());
        Some(Neighbours { cell: of.cell, one: first, other: second, standing: standing(one, other) })
    };
    model.order().windows(2).filter_map(named).collect()
}
