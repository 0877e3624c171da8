//! What others disturbed is made up for: which turns were disturbed, which cycles count, and whether another cycle is owed. Pure.
//!
//! Nothing here sees an answer or a rate: what goes in are the clocks of processes and of the machine's host, so that no criterion
//! can look at the figure that it guards.

use super::shares;
use model::heat::{Counts, Void};

/// A heat makes up for disturbed cycles until it has run so many times as many as it wants to count.
pub const PATIENCE: usize = 5;

/// More than this share of a piece, and it is disturbed.
const SHARE: f64 = 0.03;

/// The load generator was held up for more than this share of a window: a 99th percentile could be its own.
const HELD_UP: f64 = 0.01;

/// What was beside the members of a heat for about 100 ms of a turn. A turn that lasts longer has several pieces, so that all are
/// judged alike whatever their servers' speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// How long it was.
    pub wall_ns: u64,
    /// CPU time of other processes and of drome's threads beside the engine; unknown: not judged.
    pub others_ns: Option<u64>,
    /// What the machine's host took of the cores that are used. The kernel tells in ticks of 10 ms, so that any tick disturbs a
    /// piece of 100 ms. Unknown: not judged.
    pub stolen_ns: Option<u64>,
}

/// A member's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The member, by index.
    pub member: usize,
    /// What disturbed it.
    pub void: Option<Void>,
}

/// What disturbed a turn, by its pieces.
pub fn disturbed(pieces: &[Piece]) -> Option<Void> {
    pieces.iter().find_map(|piece| {
        let is_much = |ns: &u64| *ns as f64 > SHARE * piece.wall_ns as f64;
        let others = piece.others_ns.filter(is_much).map(|_| Void::Others);
        others.or_else(|| piece.stolen_ns.filter(is_much).map(|_| Void::Host))
    })
}

/// Whether the load generator was held up in a window of open load, by how long its own clocks stood still in it: what it sends
/// late then is late by its own fault. Unknown: not judged.
pub fn held_up(held_up_ns: Option<u64>, window_ns: u64) -> Option<Void> {
    held_up_ns.filter(|ns| *ns as f64 > HELD_UP * window_ns as f64).map(|_| Void::HeldUp)
}

/// Whether nobody was disturbed in a cycle: it counts only whole.
pub fn is_quiet(cycle: &[Turn]) -> bool {
    cycle.iter().all(|turn| turn.void.is_none())
}

/// Whether another cycle is owed in this cell, by those that were run so far. `most`: see [`super::budget::most_cycles`].
pub fn is_owed(wanted: usize, most: usize, cycles: &[Vec<Turn>]) -> bool {
    quiet(cycles) < wanted && cycles.len() < most
}

/// Which cycles of a heat count in a cell, decided once for all of its members, when no more is owed.
pub fn counts(members: &[String], wanted: usize, cycles: &[Vec<Turn>]) -> Counts {
    if quiet(cycles) < wanted {
        return Counts::NeverQuiet;
    }
    match shares::differing(members.len(), cycles) {
        Some(member) => Counts::SharesDiffer(members[member].clone()),
        None => Counts::Quiet,
    }
}

/// The cycles that count, by index.
pub fn counted(counts: &Counts, cycles: &[Vec<Turn>]) -> Vec<usize> {
    let all = 0..cycles.len();
    match counts {
        Counts::Quiet => all.filter(|nth| is_quiet(&cycles[*nth])).collect(),
        Counts::NeverQuiet | Counts::SharesDiffer(_) => all.collect(),
    }
}

/// A member's turns, and those of them in which it was disturbed.
pub fn share(member: usize, cycles: &[Vec<Turn>]) -> (u64, u64) {
    let turns = cycles.iter().flatten().filter(|turn| turn.member == member);
    turns.fold((0, 0), |(all, disturbed), turn| (all + 1, disturbed + u64::from(turn.void.is_some())))
}

fn quiet(cycles: &[Vec<Turn>]) -> usize {
    cycles.iter().filter(|cycle| is_quiet(cycle)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::random;

    const MS: u64 = 1_000_000;

    fn piece(others_ms: f64, stolen_ms: u64) -> Piece {
        let ran = (others_ms * MS as f64) as u64;
        Piece { wall_ns: 100 * MS, others_ns: Some(ran), stolen_ns: Some(stolen_ms * MS) }
    }

    #[test]
    fn a_turn_is_disturbed_by_any_of_its_pieces() {
        assert_eq!(disturbed(&[piece(3.0, 0), piece(2.9, 3)]), None, "three per cent are allowed");
        assert_eq!(disturbed(&[piece(0.0, 0), piece(3.1, 0)]), Some(Void::Others));
        assert_eq!(disturbed(&[piece(0.0, 10)]), Some(Void::Host));
        assert_eq!(disturbed(&[]), None);
        let unknown = Piece { wall_ns: 100 * MS, others_ns: None, stolen_ns: None };
        assert_eq!(disturbed(&[unknown]), None);
        // A burst is not thinned out by the length of a slow server's turn.
        assert_eq!(disturbed(&[[piece(0.0, 0); 7], [piece(5.0, 0); 7]].concat()), Some(Void::Others));
    }

    #[test]
    fn a_window_in_which_the_load_generator_was_held_up_is_disturbed() {
        assert_eq!(held_up(Some(11 * MS), 1_000 * MS), Some(Void::HeldUp));
        assert_eq!(
            (held_up(Some(10 * MS), 1_000 * MS), held_up(None, MS), held_up(Some(0), 0)),
            (None, None, None)
        );
    }

    /// So many cycles of three, each disturbed somewhere with this probability.
    fn cycles(n: usize, disturbed: f64, seed: u64) -> Vec<Vec<Turn>> {
        let cycle = |nth: usize| {
            let hit = random::uniform(random::derive(&[seed, 1]), nth as u64) <= disturbed;
            let at = random::shuffled(3, random::derive(&[seed, nth as u64]));
            let turn = |(place, member): (usize, usize)| Turn {
                member,
                void: (hit && place == 0).then_some(Void::Others),
            };
            at.into_iter().enumerate().map(turn).collect()
        };
        (0..n).map(cycle).collect()
    }

    /// Walks a cell as the lab does.
    fn walk(wanted: usize, share: f64, seed: u64) -> (Vec<Vec<Turn>>, Counts) {
        let all = cycles(wanted * PATIENCE + 1, share, seed);
        let mut n = 0;
        while is_owed(wanted, wanted * PATIENCE, &all[..n]) {
            n += 1;
        }
        let names = ["a", "b", "c"].map(str::to_owned);
        (all[..n].to_vec(), counts(&names, wanted, &all[..n]))
    }

    #[test]
    fn what_was_disturbed_is_made_up_for_as_long_as_there_is_a_quiet_moment() {
        let (all, counts) = walk(20, 0.0, 1);
        assert_eq!((all.len(), &counts, counted(&counts, &all).len()), (20, &Counts::Quiet, 20));
        let mut sum = 0;
        for seed in 0..20 {
            let (all, counts) = walk(20, 0.6, seed);
            assert!((22..=100).contains(&all.len()), "{}", all.len());
            sum += all.len();
            let those = counted(&counts, &all);
            match counts {
                Counts::Quiet => assert!(those.len() == 20 && those.iter().all(|nth| is_quiet(&all[*nth]))),
                _ => assert_eq!(those.len(), all.len()),
            }
        }
        assert!((40..60).contains(&(sum / 20)), "two of five cycles are quiet: {}", sum / 20);
    }

    #[test]
    fn where_no_moment_is_quiet_everything_counts() {
        for share in [0.95, 1.0] {
            let (all, counts) = walk(20, share, 3);
            assert_eq!((all.len(), &counts), (100, &Counts::NeverQuiet));
            assert_eq!(counted(&counts, &all).len(), 100);
        }
    }

    #[test]
    fn a_member_that_draws_others_makes_everything_count() {
        let mut all = cycles(60, 0.0, 5);
        for cycle in all.iter_mut().take(25) {
            for turn in cycle.iter_mut().filter(|turn| turn.member == 1) {
                turn.void = Some(Void::Others);
            }
        }
        let names = ["a", "b", "c"].map(str::to_owned);
        let counts = counts(&names, 20, &all);
        assert_eq!(counts, Counts::SharesDiffer("b".to_owned()));
        assert_eq!(counted(&counts, &all).len(), 60);
        assert_eq!((share(1, &all), share(0, &all)), ((60, 25), (60, 0)));
    }
}
