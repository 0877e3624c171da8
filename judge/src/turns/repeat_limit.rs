//! Decides how long a cell makes up for disturbed turns. Pure: by the clocks of turns and by what was disturbed, without any answer.

use crate::turns::disturbance::{Turn, firsts, quiet};
use std::time::Duration;

/// The longest time of a cell, as a multiple of that of the cycles that it wants to count.
pub const TIME_FACTOR: usize = 5;

/// One and a half standard errors: about one in fifteen cells in which enough quiet turns are just possible is given up wrongly.
const Z: f64 = 1.5;

/// The number of quiet cycles with which the others need not count: a third of those that are wanted. A few quiet turns tell more than many
/// that were disturbed: beside a program that took half of the servers' core in bursts, the ratios of equal servers within a heat varied by
/// 1 % where only quiet turns counted, and by 4 % where all did (docs/decisions.md).
pub fn least(wanted: usize) -> usize {
    wanted.div_ceil(3)
}

/// How long disturbed turns are repeated: what a cell wants, and what it may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatLimit {
    /// The number of quiet cycles that are to count.
    pub wanted: usize,
    /// The most time that the cell may take, as a number of cycles; see [`most_cycles`].
    pub most: usize,
}

impl RepeatLimit {
    /// Whether another cycle is owed. The wanted number always is; more are, as long as they may help.
    pub fn is_owed(&self, cycles: &[Vec<Turn>]) -> bool {
        cycles.len() < self.wanted
            || (quiet(cycles) < self.wanted
                && cycles.len() < self.most
                && self.left_ns(cycles) > 0.0
                && !self.is_in_vain(cycles))
    }

    /// Whether a disturbed turn may be made up for: only while enough time is left to begin the wanted number of cycles.
    pub fn may_make_up(&self, cycles: &[Vec<Turn>]) -> bool {
        let made_up_ns = total_ns(cycles.iter().flatten()) - total_ns(cycles.iter().flat_map(|c| firsts(c)));
        let allowed_ns = self.most.saturating_sub(self.wanted) as f64 * cycle_ns(cycles);
        made_up_ns < allowed_ns && !self.is_in_vain(cycles)
    }

    /// The rest of the cell's time.
    fn left_ns(&self, cycles: &[Vec<Turn>]) -> f64 {
        self.most as f64 * cycle_ns(cycles) - total_ns(cycles.iter().flatten())
    }

    /// Whether the missing quiet cycles would certainly take longer than the rest of the time, by each member's share of quiet turns: those
    /// up to the least number that is enough and, once there are so many, those that are wanted. A server whose turns last 2 s has hardly any
    /// quiet one where other programs run for a moment every second, and would use up the time of all members.
    fn is_in_vain(&self, cycles: &[Vec<Turn>]) -> bool {
        let (quiet_cycles, least) = (quiet(cycles), least(self.wanted));
        let next = if quiet_cycles < least { least } else { self.wanted };
        let missing = next.saturating_sub(quiet_cycles) as f64;
        let members = cycles.iter().flatten().map(|turn| turn.member + 1).max().unwrap_or(0);
        let until_quiet_ns = |member: usize| {
            let turns = || cycles.iter().flatten().filter(|turn| turn.member == member);
            let (all, quiet) = (turns().count(), turns().filter(|turn| turn.void.is_none()).count());
            if all == 0 { 0.0 } else { total_ns(turns()) / all as f64 / at_most(quiet, all) }
        };
        missing * (0..members).map(until_quiet_ns).sum::<f64>() > self.left_ns(cycles)
    }
}

/// The maximum number of cycles that a cell may take, where `cycle` is the time of one and `left` the time that is left: five times as many
/// as it wants, unless that would exceed the budget; never fewer than it wants.
pub fn most_cycles(wanted: usize, cycle: Duration, left: Duration) -> usize {
    let in_time = left.as_nanos().checked_div(cycle.as_nanos()).unwrap_or(u128::MAX);
    let most = wanted.saturating_mul(TIME_FACTOR);
    usize::try_from(in_time).unwrap_or(usize::MAX).clamp(wanted, most.max(wanted))
}

/// The time of a cycle in which nothing is made up for.
fn cycle_ns(cycles: &[Vec<Turn>]) -> f64 {
    total_ns(cycles.iter().flat_map(|cycle| firsts(cycle))) / cycles.len().max(1) as f64
}

fn total_ns<'t>(turns: impl Iterator<Item = &'t Turn>) -> f64 {
    turns.map(|turn| turn.wall_ns as f64).sum()
}

/// The largest share that is compatible with `some` of `all`: the upper end of Wilson's interval (1927).
fn at_most(some: usize, all: usize) -> f64 {
    let (k, n) = (some as f64, all as f64);
    (k + Z * Z / 2.0 + Z * (k * (n - k) / n + Z * Z / 4.0).sqrt()) / (n + Z * Z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::counting::{self, counts};
    use crate::turns::disturbance::{TRIES, again, share};
    use model::heat::{Counts, Void};
    use stats::random;

    const MS: u64 = 1_000_000;
    const SECOND: Duration = Duration::from_secs(1);

    /// Three members, of which the last one may differ from the others.
    #[derive(Clone, Copy)]
    struct Cell {
        limit: RepeatLimit,
        /// The probability that a turn is disturbed: of the first two members, and of the last one.
        shares: [f64; 2],
        /// The length of a turn of the last member; those of the others last 100 ms.
        last_ms: u64,
    }

    fn cell(shares: [f64; 2]) -> Cell {
        Cell { limit: RepeatLimit { wanted: 20, most: 20 * TIME_FACTOR }, shares, last_ms: 100 }
    }

    /// Walks it as the lab does.
    fn walk(cell: Cell, seed: u64) -> (Vec<Vec<Turn>>, Counts) {
        let (mut all, mut nth): (Vec<Vec<Turn>>, u64) = (Vec::new(), 0);
        while cell.limit.is_owed(&all) {
            let mut due = random::shuffled(3, random::derive(&[seed, all.len() as u64]));
            all.push(Vec::new());
            while !due.is_empty() {
                for member in due {
                    nth += 1;
                    let share = cell.shares[usize::from(member == 2)];
                    let is_hit = share > 0.0 && random::uniform(random::derive(&[seed, 1]), nth) <= share;
                    let wall_ns = MS * if member == 2 { cell.last_ms } else { 100 };
                    let void = is_hit.then_some(Void::Others);
                    all.last_mut().unwrap().push(Turn { member, wall_ns, void });
                }
                let may = cell.limit.may_make_up(&all);
                due = if may { again(all.last().unwrap()) } else { Vec::new() };
            }
        }
        let counts = counts(&["a", "b", "c"].map(str::to_owned), cell.limit.wanted, &all);
        (all, counts)
    }

    /// The cycles that count, by index.
    fn counted(counts: &Counts, cycles: &[Vec<Turn>]) -> Vec<usize> {
        let counted = counting::counted(counts, cycles, false);
        (0..cycles.len()).filter(|nth| counted[*nth].contains(&true)).collect()
    }

    fn turns(cycles: &[Vec<Turn>]) -> usize {
        cycles.iter().map(Vec::len).sum()
    }

    #[test]
    fn a_turn_that_was_disturbed_is_made_up_for_and_not_those_of_the_others() {
        let (all, counts) = walk(cell([0.0; 2]), 1);
        assert_eq!((all.len(), turns(&all), counts), (20, 60, Counts::Quiet));
        let mut sum = 0;
        for seed in 0..20 {
            let (all, counts) = walk(cell([0.5; 2]), seed);
            sum += turns(&all);
            let counted = counted(&counts, &all);
            assert!(counted.len() == 20 && all.len() <= 22, "{counts:?} of {}", all.len());
            for cycle in counted {
                let quiet = all[cycle].iter().filter(|turn| turn.void.is_none()).count();
                assert_eq!(quiet, 3, "nobody has a second quiet turn");
            }
        }
        assert!((110..130).contains(&(sum / 20)), "every other turn is quiet: {}", sum / 20);
    }

    #[test]
    fn where_enough_quiet_turns_are_out_of_reach_everything_counts_and_that_is_seen_soon() {
        for (share, most) in [(0.97, 180), (1.0, 120)] {
            let (all, counts) = walk(cell([share; 2]), 3);
            assert!(counts == Counts::NeverQuiet && all.len() == 20, "{counts:?}");
            assert!(turns(&all) <= most, "of 300 that it may take: {}", turns(&all));
            assert_eq!(counted(&counts, &all).len(), all.len());
        }
    }

    #[test]
    fn one_whose_turns_are_long_and_hardly_ever_quiet_does_not_take_the_time_of_all() {
        let slow = Cell { last_ms: 2_000, ..cell([0.1, 0.99]) };
        for seed in 0..20 {
            let (all, counts) = walk(slow, seed);
            assert_eq!((counts, all.len()), (Counts::NeverQuiet, 20));
            let took_ms: u64 = all.iter().flatten().map(|turn| turn.wall_ns / MS).sum();
            // Its twenty turns take 40 s; five times that is what it may take.
            assert!(took_ms < 160_000, "{took_ms} ms");
        }
        // Where that helps, it is given the time.
        for seed in 0..20 {
            let (all, counts) = walk(Cell { shares: [0.1, 0.5], ..slow }, seed);
            assert!(matches!(counts, Counts::Quiet | Counts::SharesDiffer(_)), "{counts:?} of {}", all.len());
        }
    }

    #[test]
    fn quiet_turns_that_are_within_reach_are_hardly_ever_given_up() {
        // Six of ten are disturbed: two and a half turns for each that counts, where there is time for five.
        let is_given_up = |seed: &u64| walk(cell([0.6; 2]), *seed).1 == Counts::NeverQuiet;
        let given_up = (0..200).filter(is_given_up).count();
        assert!(given_up <= 10, "{given_up} of 200");
    }

    #[test]
    fn quiet_cycles_count_where_a_third_of_those_that_are_wanted_could_be_had() {
        // One turn in five is quiet: five turns for each that counts, and there is time for just as many.
        let few = Cell { limit: RepeatLimit { wanted: 5, most: 5 * TIME_FACTOR }, ..cell([0.8; 2]) };
        let quiet = |seed: u64| {
            let (all, counts) = walk(few, seed);
            (counts == Counts::Quiet).then(|| counted(&counts, &all).len())
        };
        let cycles: Vec<usize> = (0..200).filter_map(quiet).collect();
        assert!(cycles.iter().all(|n| (2..=5).contains(n)), "{cycles:?}");
        let short = cycles.iter().filter(|n| **n < 5).count();
        assert!(cycles.len() >= 180 && short >= 20, "{} of 200, {short} with fewer than 5", cycles.len());
    }

    #[test]
    fn where_there_is_no_time_to_make_up_everybody_has_the_turns_that_are_wanted() {
        for most in [20, 25, 40] {
            let hurried = Cell { limit: RepeatLimit { wanted: 20, most }, ..cell([1.0; 2]) };
            let (all, counts) = walk(hurried, 3);
            assert!(all.len() >= 20 && turns(&all) <= 3 * most + 3, "{} in {}", turns(&all), all.len());
            assert!(counts == Counts::NeverQuiet && (0..3).all(|member| share(member, &all).0 >= 20));
        }
    }

    #[test]
    fn one_that_draws_others_in_all_its_turns_does_not_take_the_time_of_all() {
        let (all, counts) = walk(cell([0.0, 1.0]), 3);
        assert_eq!((counts, all.len()), (Counts::NeverQuiet, 20));
        assert!(turns(&all) <= 60 + 6 * TRIES, "{} turns", turns(&all));
        assert!(again(&all[0]).is_empty() && all[0].len() == 2 + TRIES);
    }

    #[test]
    fn making_up_ends_at_five_times_the_cycles_or_where_the_budget_does() {
        let most = |left| most_cycles(20, SECOND, left);
        assert_eq!((most(900 * SECOND), most(37 * SECOND), most(3 * SECOND)), (100, 37, 20));
        assert_eq!((most_cycles(0, SECOND, SECOND), most_cycles(5, Duration::ZERO, SECOND)), (0, 25));
    }

    #[test]
    fn the_largest_share_of_none_and_of_all() {
        // By hand: z² / (n + z²), and 1.
        assert!((at_most(0, 20) - 2.25 / 22.25).abs() < 1e-12 && (at_most(7, 7) - 1.0).abs() < 1e-12);
        assert!(at_most(10, 20) > 0.64 && at_most(10, 20) < 0.68);
    }
}
