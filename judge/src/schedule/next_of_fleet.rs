//! Which heats of a fleet's run are owed. All heats up to the next look can be measured at the same time, on any machines and in any order:
//! how they are dealt depends on the seed and on what was found out up to the previous look, and on nothing that is under way.

use crate::schedule::next::{self, CompareNeighbours, NextStep};
use crate::schedule::{budget, owed};
use model::{Heat, Measured, Run, Start};
use std::time::Duration;

/// Returns the heats that are owed, those under way included, in the order in which they are best begun.
pub fn heats_owed(run: &Run, measured: &Measured, compare: CompareNeighbours<'_>) -> NextStep<Vec<Heat>> {
    let mut batches = Batches::new(run, &measured.starts);
    for until in run.study.design.looks() {
        let whole = batches.from;
        let batch = batches.up_to(until);
        if batch.is_empty() {
            return NextStep::End(next::all_given_up(whole));
        }
        let owed = of_batch(run, measured, &batch);
        if !owed.is_empty() {
            return within_budget(run, &measured.starts, owed, compare);
        }
        if let Some(why) = next::ended_at_look(run, until, compare) {
            return NextStep::End(why);
        }
    }
    NextStep::End(next::maximum_reached(run, compare))
}

/// Whether the run deals exactly this heat, whichever others are over. When and on which machine it was measured does not matter.
pub fn is_dealt(run: &Run, measured: &Measured, heat: &Heat) -> bool {
    let mut batches = Batches::new(run, &measured.starts);
    let looks = run.study.design.looks();
    let Some(last) = looks.iter().position(|until| heat.round < *until) else { return false };
    let mut dealt = Vec::new();
    for until in &looks[..=last] {
        dealt = batches.up_to(*until);
    }
    let bare = Heat { started_at: String::new(), machine: None, ..heat.clone() };
    if let Some(known) = dealt.iter().find(|known| (known.round, known.number) == (heat.round, heat.number)) {
        return *known == bare;
    }
    made_up(run, measured, &dealt, heat.round).is_some_and(|known| known == bare)
}

/// The heats of a run, batch by batch: from one look to the next.
struct Batches<'a> {
    run: &'a Run,
    starts: &'a [Start],
    /// The first round of the next batch.
    from: usize,
    /// The members of all heats that were dealt.
    earlier: Vec<Vec<String>>,
}

impl<'a> Batches<'a> {
    fn new(run: &'a Run, starts: &'a [Start]) -> Self {
        Self { run, starts, from: 0, earlier: Vec::new() }
    }

    /// The heats of the next batch, which ends before this round.
    fn up_to(&mut self, until: usize) -> Vec<Heat> {
        // Every start of a round before this batch is final when the batch begins.
        let before: Vec<Start> =
            self.starts.iter().filter(|start| start.round < self.from).cloned().collect();
        let mut batch = Vec::new();
        for round in self.from..until {
            let dealt = owed::dealt(self.run, round, &before, &self.earlier);
            self.earlier.extend(dealt.iter().map(|heat| heat.members.clone()));
            batch.extend(dealt);
        }
        self.from = until;
        batch
    }
}

/// The heats of a batch that are not over; then, round by round, one that makes up for what the lab or a machine spoiled in it.
fn of_batch(run: &Run, measured: &Measured, batch: &[Heat]) -> Vec<Heat> {
    let is_over = |heat: &Heat| {
        measured.heats.iter().any(|known| (known.round, known.number) == (heat.round, heat.number))
    };
    let owed: Vec<Heat> = batch.iter().filter(|heat| !is_over(heat)).cloned().collect();
    let mut rounds: Vec<usize> = batch.iter().map(|heat| heat.round).collect();
    rounds.dedup();
    let whole = rounds.into_iter().filter(|round| owed.iter().all(|heat| heat.round != *round));
    let late: Vec<Heat> = whole.filter_map(|round| made_up(run, measured, batch, round)).collect();
    owed.into_iter().chain(late).collect()
}

/// The next heat that makes up for spoiled starts of a round. Only what was found out in this round decides it, so that it stays the same
/// while others are measured.
fn made_up(run: &Run, measured: &Measured, batch: &[Heat], round: usize) -> Option<Heat> {
    let own: Vec<Start> = measured.starts.iter().filter(|start| start.round == round).cloned().collect();
    let begun = measured.heats.iter().chain(batch).filter(|heat| heat.round == round);
    let number = begun.map(|heat| heat.number).max()? + 1;
    owed::made_up(owed::bare(run, round, number, true), run, &own)
}

/// The first of these heats, as many as the budget lasts for.
fn within_budget(
    run: &Run,
    starts: &[Start],
    mut owed: Vec<Heat>,
    compare: CompareNeighbours<'_>,
) -> NextStep<Vec<Heat>> {
    let mut left = budget::left(run, starts);
    let lasts = |heat: &Heat, left: &mut Duration| match left.checked_sub(budget::cost(run, heat, starts)) {
        Some(rest) => {
            *left = rest;
            true
        }
        None => false,
    };
    let fits = owed.iter().take_while(|heat| lasts(heat, &mut left)).count();
    if fits == 0
        && let Some(why) = owed.first().and_then(|heat| budget::exceeded(run, heat, starts))
    {
        let whole = owed.iter().map(|heat| heat.round).min().unwrap_or_default();
        return NextStep::End(next::with_what_is_open(why, run, whole, compare));
    }
    owed.truncate(fits.max(1));
    NextStep::Measure(owed)
}

#[cfg(test)]
mod tests;
