//! Decides which cycles of a cell count. Pure; depends only on which turns were disturbed (see `disturbance.rs`).

use crate::turns::disturbance::{Turn, is_quiet, quiet};
use crate::turns::repeat_limit::least;
use crate::turns::shares;
use model::heat::Counts;

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

/// The cycles that count, by index; of their turns, those count for which [`Counts::has`] is true.
pub fn counted(counts: &Counts, cycles: &[Vec<Turn>]) -> Vec<usize> {
    let all = 0..cycles.len();
    match counts {
        Counts::Quiet => all.filter(|nth| is_quiet(&cycles[*nth])).collect(),
        Counts::NeverQuiet | Counts::SharesDiffer(_) => all.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::disturbance::share;
    use model::heat::Void;

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
        assert_eq!(counted(&counts, &all).len(), 60);
        assert_eq!((share(1, &all), share(0, &all)), ((85, 25), (60, 0)));
    }
}
