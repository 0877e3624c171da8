//! Measuring in heats: several live servers are loaded in turns.
//!
//! What acts: `run` goes from heat to heat, `members` starts and stops its servers, `cell` measures one cell of it after
//! `warm_up` has warmed them up, turn by turn (`active_cell`), and `stored_cell` decides what is stored.
//!
//! What decides is pure: [`next`] asks [`judge::schedule`] which heat is owed, whether there is time, and whether it is enough; [`judge::turns`]
//! says how long turns are and which of them count; `member_warm_up` when a server is warm.

mod active_cell;
mod cell;
mod member_warm_up;
mod members;
mod out_of_memory;
pub(crate) mod run;
mod stored_cell;
pub mod turns;
mod warm_up;
mod window_watch;

use judge::schedule::stopping_rule::{Neighbours, rounds_in_words};
use judge::schedule::{budget, owed, stopping_rule};
use model::{Heat, Measured, Run};

/// The next step of a run in heats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextHeat {
    /// Run this heat, which is to be stored before it begins.
    Heat(Heat),
    /// Stop, for this reason.
    Done(String),
}

/// Returns the next heat of a run of which so much was measured, or why there is none. `known` compares neighbouring contenders over the first rounds, whose number it is given,
/// at the run's level ([`model::Run::level`]); it is called at looks only.
pub fn next(run: &Run, measured: &Measured, known: &mut dyn FnMut(usize) -> Vec<Neighbours>) -> NextHeat {
    let Measured { heats, starts, .. } = measured;
    let design = &run.study.design;
    let [least, most] = design.rounds;
    for round in 0..most {
        if let Some(heat) = owed::heat(run, round, heats, starts) {
            return match budget::exceeded(run, &heat, starts) {
                Some(why) => NextHeat::Done(with_what_is_open(why, round, run, known)),
                None => NextHeat::Heat(heat),
            };
        }
        if heats.iter().all(|heat| heat.round != round) {
            return NextHeat::Done(format!("every contender was given up after {}", rounds_in_words(round)));
        }
        let rounds = round + 1;
        // The stopping rule is applied only to whole rounds, before anything of the next one has begun.
        if rounds < least || heats.iter().any(|heat| heat.round > round) {
            continue;
        }
        if run.quick {
            return NextHeat::Done(format!("a first look: {}", rounds_in_words(least)));
        }
        if stopping_rule::is_look(design, rounds)
            && let Some(why) = stopping_rule::stop_reason(run, rounds, &known(rounds))
        {
            return NextHeat::Done(why);
        }
    }
    let why = format!("the design's maximum is reached: {}", rounds_in_words(most));
    NextHeat::Done(with_what_is_open(why, most, run, known))
}

fn with_what_is_open(
    why: String,
    rounds: usize,
    run: &Run,
    known: &mut dyn FnMut(usize) -> Vec<Neighbours>,
) -> String {
    match stopping_rule::still_open(run, &known(rounds)) {
        Some(open) => format!("{why}; {open}"),
        None => why,
    }
}

#[cfg(test)]
mod tests;
