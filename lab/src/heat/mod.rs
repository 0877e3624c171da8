//! Measuring in heats: several live servers are loaded in turns.
//!
//! What acts: [`run`] goes from heat to heat, `members` starts and stops its servers, `cell` measures one cell of it after `warm`
//! has warmed them up, `sum` puts their turns together, `kept` says what is kept of them, and [`snapshot`] reads the clocks of processes.
//! All else decides, and is pure; `warming` says when a server is warm, `shape` how its turns look.
//!
//! The road: [`next`] says which heat is owed ([`owed`]), how it is dealt ([`deal`]), whether there is time ([`budget`]) and whether
//! it is enough ([`enough`]). Within a heat: the orders of its cycles ([`orders`]), what ran beside each turn ([`snapshot`]), which
//! turns count ([`pieces`], [`shares`]), how long disturbed ones are made up for ([`patience`]), what the statistics get of them
//! ([`figures`]), and what is found out beside ([`found`]).

pub mod budget;
mod cell;
mod cycled;
pub mod deal;
pub mod enough;
#[cfg(test)]
pub(crate) mod example;
pub mod figures;
pub mod found;
pub(crate) mod hub;
mod kept;
mod members;
pub mod observed;
pub mod orders;
pub mod owed;
pub mod patience;
pub mod pieces;
pub mod run;
mod shape;
pub mod shares;
pub mod snapshot;
mod sum;
mod warm;
mod warming;

use enough::{Neighbours, rounds_in_words};
use model::Run;
use model::heat::{Heat, Start};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This heat; it is to be stored before it is begun.
    Heat(Heat),
    /// Nothing more, and why.
    Done(String),
}

/// All that decides what is next.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// What is measured.
    pub run: &'a Run,
    /// All heats that were begun.
    pub heats: &'a [Heat],
    /// All starts that were stored.
    pub starts: &'a [Start],
}

/// The next heat, or why there is none. `known` compares the contenders that are next to each other by the first so many rounds, at
/// the level of one look ([`model::Design::level`]); it is asked at looks only.
pub fn next(course: &Course<'_>, known: &mut dyn FnMut(usize) -> Vec<Neighbours>) -> Next {
    let Course { run, heats, starts } = *course;
    let design = &run.study.design;
    let [least, most] = design.blocks;
    for round in 0..most {
        if let Some(heat) = owed::heat(run, round, heats, starts) {
            return match budget::exceeded(run, &heat, starts) {
                Some(why) => Next::Done(with_what_is_open(why, round, known)),
                None => Next::Heat(heat),
            };
        }
        if heats.iter().all(|heat| heat.round != round) {
            return Next::Done(format!("every contender was given up, after {}", rounds_in_words(round)));
        }
        let rounds = round + 1;
        // Whether it is enough is asked with all of a round and nothing of the next.
        if rounds < least || heats.iter().any(|heat| heat.round > round) {
            continue;
        }
        if run.quick {
            return Next::Done(format!("a first look: {}", rounds_in_words(least)));
        }
        if enough::is_look(design, rounds)
            && let Some(why) = enough::enough(design, rounds, &known(rounds))
        {
            return Next::Done(why);
        }
    }
    let why = format!("the most that the design allows: {}", rounds_in_words(most));
    Next::Done(with_what_is_open(why, most, known))
}

fn with_what_is_open(why: String, rounds: usize, known: &mut dyn FnMut(usize) -> Vec<Neighbours>) -> String {
    match enough::still_open(&known(rounds)) {
        Some(open) => format!("{why}; {open}"),
        None => why,
    }
}

#[cfg(test)]
mod tests;
