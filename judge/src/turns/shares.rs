//! Tests whether the members of a heat were disturbed equally often. If a member makes other programs run in its turns (a logger that
//! it wakes, a helper that it starts), leaving out its disturbed turns would leave out only its bad moments. Pure; exact.
//!
//! The order of the first turns within a cycle is shuffled (those that make up for disturbed ones come after). So if disturbance does not
//! depend on whose turn it is, each disturbed turn of a cycle is equally likely to be any member's, however long the bursts are and
//! whenever they come: a member's number of disturbed turns is a sum of independent trials, one a cycle, of probability (disturbed turns
//! in the cycle) / (turns in the cycle). That is the Poisson binomial distribution, which is computed exactly.
//!
//! What a member of the heat does in the turns of others is not tested: it is known who did it, and it never disturbs its own turns.

use crate::turns::disturbance::{Turn, firsts};
use model::heat::Void;

/// The largest probability of finding a difference between members that do not differ.
const LEVEL: f64 = 0.01;

/// Finds the member whose share of disturbed turns differs from the others' by more than chance; of several, the most unlikely one.
/// Two-sided, Bonferroni over the members.
pub fn differing(members: usize, cycles: &[Vec<Turn>]) -> Option<usize> {
    let p = |member| (member, p_value(member, cycles));
    let (member, p) = (0..members).map(p).min_by(|a, b| a.1.total_cmp(&b.1))?;
    (p * members as f64 <= LEVEL).then_some(member)
}

/// The probability of a share as far from the expected one as this member's, in both directions.
fn p_value(member: usize, cycles: &[Vec<Turn>]) -> f64 {
    let of_member = cycles.iter().filter(|cycle| cycle.iter().any(|turn| turn.member == member));
    let (mut probability, mut seen) = (vec![1.0], 0);
    for cycle in of_member {
        let disturbed = || firsts(cycle).filter(|turn| turn.void.is_some_and(|void| void != Void::Members));
        probability = with_one_more(&probability, disturbed().count() as f64 / firsts(cycle).count() as f64);
        seen += disturbed().filter(|turn| turn.member == member).count();
    }
    let at_most: f64 = probability.iter().take(seen + 1).sum();
    let at_least: f64 = probability.iter().skip(seen).sum();
    (2.0 * at_most.min(at_least)).min(1.0)
}

/// The probabilities of 0, 1, 2, … successes after one more trial.
fn with_one_more(probability: &[f64], success: f64) -> Vec<f64> {
    let before = |n: usize| probability.get(n).copied().unwrap_or(0.0);
    let at = |n: usize| before(n) * (1.0 - success) + n.checked_sub(1).map_or(0.0, before) * success;
    (0..=probability.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::orders::orders;
    use stats::random;

    /// Cycles of seven in which bursts of others come and go. Member 3 has `drawn` of its turns disturbed besides.
    fn heat(cycles: usize, drawn: f64, seed: u64) -> Vec<Vec<Turn>> {
        let chance =
            |kind: u64, nth: u64, share: f64| random::uniform(random::derive(&[seed, kind]), nth) <= share;
        let (mut nth, mut is_burst) = (0, false);
        let mut turn = |member: usize| {
            nth += 1;
            // Bursts of three turns on average, in a tenth of the time.
            is_burst = if is_burst { !chance(1, nth, 1.0 / 3.0) } else { chance(2, nth, 1.0 / 27.0) };
            let is_disturbed = is_burst || (member == 3 && chance(3, nth, drawn));
            Turn { member, wall_ns: 100_000_000, void: is_disturbed.then_some(Void::Others) }
        };
        orders(7, cycles, seed)
            .iter()
            .map(|order| order.iter().map(|member| turn(*member)).collect())
            .collect()
    }

    #[test]
    fn a_member_in_whose_turns_another_one_works_does_not_differ() {
        let cycle = |void| {
            let turn = |member, void| Turn { member, wall_ns: 100_000_000, void };
            vec![turn(0, None), turn(1, Some(void))]
        };
        let of = |void| differing(2, &vec![cycle(void); 20]);
        assert_eq!((of(Void::Members), of(Void::Others).is_some()), (None, true));
    }

    #[test]
    fn equal_shares_differ_no_more_often_than_the_level_says() {
        let heats = 1_000;
        let wrong = (0..heats).filter(|seed| differing(7, &heat(30, 0.0, *seed)).is_some()).count();
        assert!(wrong as f64 <= 2.0 * LEVEL * heats as f64, "{wrong} of {heats}");
    }

    #[test]
    fn one_that_draws_others_is_found() {
        let found = (0..100).filter(|seed| differing(7, &heat(60, 0.3, *seed)) == Some(3)).count();
        assert!(found >= 90, "{found} of 100");
    }

    #[test]
    fn the_probabilities_are_those_of_counting_by_hand() {
        // Two members; both cycles are disturbed for one of two turns, and both times for member 0: one of four ways.
        let cycle = |void| {
            [void, None]
                .into_iter()
                .enumerate()
                .map(|(member, void)| Turn { member, wall_ns: 100_000_000, void })
                .collect::<Vec<_>>()
        };
        let both = [cycle(Some(Void::Host)), cycle(Some(Void::Host))];
        assert!((p_value(0, &both) - 0.5).abs() < 1e-12 && (p_value(1, &both) - 0.5).abs() < 1e-12);
        assert!((p_value(0, &[cycle(None)]) - 1.0).abs() < 1e-12, "nothing was disturbed");
        assert_eq!((differing(0, &[]), differing(2, &[]), differing(2, &[vec![]])), (None, None, None));
        // Ten of ten: 2 / 1024.
        let ten = vec![cycle(Some(Void::Others)); 10];
        assert!((p_value(0, &ten) - 2.0 / 1024.0).abs() < 1e-12);
        assert_eq!(differing(2, &ten), Some(0));
    }
}
