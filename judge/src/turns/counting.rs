//! Decides which turns of a cell count, for all that is computed from them: figures, sums and the check of the warm-up. Pure; depends only
//! on which turns were disturbed (see `disturbance.rs`).

use crate::turns::disturbance::{Turn, is_first, is_quiet, quiet};
use crate::turns::repeat_limit::least;
use crate::turns::shares;
use model::heat::{Counts, Void};

/// Decides, when no more cycles are owed, which cycles of a cell count: the same ones for all members of the heat.
pub fn counts(members: &[String], wanted: usize, cycles: &[Vec<Turn>]) -> Counts {
    if quiet(cycles) < least(wanted) {
        return Counts::NeverQuiet;
    }
    match shares::differing(members.len(), cycles) {
        Some(member) => Counts::SharesDiffer(members[member].clone()),
        None => Counts::Quiet,
    }
}

/// Whether a turn counts in a cycle that does. `is_first`: whether it is its member's first one in the cycle. `repeats_end_early`: whether
/// later ones end as soon as they are disturbed, so that undisturbed time is overrepresented in those that do not.
pub fn has(counts: &Counts, void: Option<Void>, is_first: bool, repeats_end_early: bool) -> bool {
    match counts {
        Counts::Quiet => void.is_none(),
        Counts::NeverQuiet | Counts::SharesDiffer(_) => is_first || !repeats_end_early,
    }
}

/// Whether each turn counts, cycle by cycle.
pub fn counted(counts: &Counts, cycles: &[Vec<Turn>], repeats_end_early: bool) -> Vec<Vec<bool>> {
    let of_cycle = |cycle: &Vec<Turn>| {
        let has_cycle = *counts != Counts::Quiet || is_quiet(cycle);
        let of_turn =
            |nth: usize| has_cycle && has(counts, cycle[nth].void, is_first(cycle, nth), repeats_end_early);
        (0..cycle.len()).map(of_turn).collect()
    };
    cycles.iter().map(of_cycle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::disturbance::share;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_member_that_draws_others_makes_everything_count() {
        let mut all =
            vec![[0, 1, 2].map(|member| Turn { member, wall_ns: 100 * MS, void: None }).to_vec(); 60];
        for cycle in all.iter_mut().take(25) {
            cycle[1].void = Some(Void::Others);
            cycle.push(Turn { member: 1, wall_ns: 100 * MS, void: None });
        }
        let names = ["a", "b", "c"].map(str::to_owned);
        let counts = counts(&names, 20, &all);
        assert_eq!(counts, Counts::SharesDiffer("b".to_owned()));
        let counted = counted(&counts, &all, false);
        assert!(counted.len() == 60 && counted.concat().iter().all(|counts| *counts));
        assert_eq!((share(1, &all), share(0, &all)), ((85, 25), (60, 0)));
    }
}
