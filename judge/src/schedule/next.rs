//! Which heat of a run is next, or why the run ends. A function of the run and of what was stored, so that an interrupted run goes on as if it
//! had not been interrupted.

use crate::schedule::stopping_rule::{self, Neighbours, rounds_in_words};
use crate::schedule::{budget, owed};
use model::{Heat, Measured, Run};

/// The next step of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep<H> {
    /// To measure this: a heat, or the heats that machines of a fleet can measure at the same time.
    Measure(H),
    /// To end, for this reason.
    End(String),
}

/// Compares neighbouring contenders over the first rounds, whose number it is given, at the run's level ([`Run::level`]). It is called at looks,
/// and where a run ends before the result is precise enough.
pub type CompareNeighbours<'a> = &'a mut dyn FnMut(usize) -> Vec<Neighbours>;

/// Returns the next heat on a single machine.
pub fn next_heat(run: &Run, measured: &Measured, compare: CompareNeighbours<'_>) -> NextStep<Heat> {
    let Measured { heats, starts, .. } = measured;
    for round in 0..run.study.design.rounds[1] {
        if let Some(heat) = owed::heat(run, round, heats, starts) {
            return match budget::exceeded(run, &heat, starts) {
                Some(why) => NextStep::End(with_what_is_open(why, run, round, compare)),
                None => NextStep::Measure(heat),
            };
        }
        if heats.iter().all(|heat| heat.round != round) {
            return NextStep::End(all_given_up(round));
        }
        // The stopping rule is applied only to whole rounds, before anything of the next one has begun.
        let is_last = heats.iter().all(|heat| heat.round <= round);
        if is_last && let Some(why) = ended_at_look(run, round + 1, compare) {
            return NextStep::End(why);
        }
    }
    NextStep::End(maximum_reached(run, compare))
}

/// Why a run ends although nothing is spoiled and the budget is not spent: no contender is left after these rounds.
pub(super) fn all_given_up(rounds: usize) -> String {
    format!("every contender was given up after {}", rounds_in_words(rounds))
}

/// Why a run ends after these whole rounds: they are all of a first look, or the result is precise enough. `None` if it goes on.
pub(super) fn ended_at_look(run: &Run, rounds: usize, compare: CompareNeighbours<'_>) -> Option<String> {
    if !stopping_rule::is_look(&run.study.design, rounds) {
        return None;
    }
    if run.quick {
        return Some(format!("a first look: {}", rounds_in_words(rounds)));
    }
    stopping_rule::stop_reason(run, rounds, &compare(rounds))
}

/// Why a run ends after all rounds of its design.
pub(super) fn maximum_reached(run: &Run, compare: CompareNeighbours<'_>) -> String {
    let most = run.study.design.rounds[1];
    let why = format!("the design's maximum is reached: {}", rounds_in_words(most));
    with_what_is_open(why, run, most, compare)
}

/// Adds to the reason that ends a run what is still open after these whole rounds.
pub(super) fn with_what_is_open(
    why: String,
    run: &Run,
    rounds: usize,
    compare: CompareNeighbours<'_>,
) -> String {
    match stopping_rule::still_open(run, &compare(rounds)) {
        Some(open) => format!("{why}; {open}"),
        None => why,
    }
}

#[cfg(test)]
mod tests;
