//! The results of the races as a Markdown table.

use super::parts::Part;
use super::races::{Decision, Outcome};

pub const HEAD: &str = "\
| difference made | races | first faster | second faster | equal within 2 % | not sure | interval contains the true value | \
seconds, median (p90, most) | rounds, median | holds |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Of this many races between equals, one may find a difference: 5 % are expected, and chance may double that.
const EQUALS_PER_FALSE_DIFFERENCE: usize = 10;

/// The longest median time that a decision may take, by the difference.
const LONGEST_S: [(f64, f64); 4] = [(0.10, 15.0), (0.03, 30.0), (0.01, 90.0), (0.0, 60.0)];

/// A neighbour that takes half of the servers' time may make a race take this many times as long.
const BESIDE_NEIGHBOUR: f64 = 5.0;

/// Of a hundred intervals, this many may miss the truth: 5 are expected, and chance may double that.
const MISSES_PER_HUNDRED: usize = 10;

/// A row of the table.
pub fn row(part: &Part, outcomes: &[Outcome]) -> String {
    let number = |what: Decision| outcomes.iter().filter(|outcome| outcome.decision == what).count();
    let has = outcomes.iter().filter(|outcome| outcome.covers == Some(true)).count();
    let seconds = sorted(outcomes.iter().map(|outcome| outcome.elapsed_s));
    let rounds = sorted(outcomes.iter().map(|outcome| outcome.rounds as f64));
    format!(
        "| {} | {} | {} | {} | {} | {} | {has} | {:.0} ({:.0}, {:.0}) | {:.0} | {} |",
        part.name,
        outcomes.len(),
        number(Decision::First),
        number(Decision::Second),
        number(Decision::Equal),
        number(Decision::Undecided),
        at(&seconds, 0.5),
        at(&seconds, 0.9),
        at(&seconds, 1.0),
        at(&rounds, 0.5),
        wrong(part, outcomes).unwrap_or_else(|| "yes".to_owned()),
    )
}

/// What is wrong, if anything.
fn wrong(part: &Part, outcomes: &[Outcome]) -> Option<String> {
    let number = |what: Decision| outcomes.iter().filter(|outcome| outcome.decision == what).count();
    let (first, second) = (number(Decision::First), number(Decision::Second));
    if part.cost == 0.0 {
        let allowed = outcomes.len().div_ceil(EQUALS_PER_FALSE_DIFFERENCE);
        let found = first + second;
        if found > allowed {
            return Some(format!("**no: {found} false, {allowed} allowed**"));
        }
    } else if second > 0 {
        return Some(format!("**no: {second} the wrong way round**"));
    }
    let missed = outcomes.iter().filter(|outcome| outcome.covers == Some(false)).count();
    let allowed = (outcomes.len() * MISSES_PER_HUNDRED).div_ceil(100);
    if missed > allowed {
        return Some(format!("**no: {missed} intervals miss the truth, {allowed} allowed**"));
    }
    if part.cost >= 0.10 && first < outcomes.len() {
        return Some(format!("**no: {} not found**", outcomes.len() - first));
    }
    let (_, longest_s) = LONGEST_S.iter().find(|(cost, _)| *cost == part.cost)?;
    let longest_s = &(longest_s * if part.neighbour { BESIDE_NEIGHBOUR } else { 1.0 });
    let median_s = at(&sorted(outcomes.iter().map(|outcome| outcome.elapsed_s)), 0.5);
    (median_s > *longest_s).then(|| format!("**no: takes more than {longest_s:.0} s**"))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// A quantile, by the nearest rank.
fn at(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn races(decisions: &[(Decision, usize)], elapsed_s: f64) -> Vec<Outcome> {
        let one = |decision| Outcome { decision, covers: Some(true), elapsed_s, rounds: 3 };
        decisions.iter().flat_map(|(decision, n)| std::iter::repeat_n(one(*decision), *n)).collect()
    }

    fn part(cost: f64) -> Part {
        Part { name: "x", cost, races: 20, neighbour: false }
    }

    #[test]
    fn too_many_differences_between_equals_are_wrong() {
        let few = races(&[(Decision::Equal, 36), (Decision::First, 2), (Decision::Second, 2)], 15.0);
        assert_eq!(wrong(&part(0.0), &few), None);
        let many = races(&[(Decision::Equal, 35), (Decision::First, 3), (Decision::Second, 2)], 40.0);
        assert_eq!(wrong(&part(0.0), &many).unwrap(), "**no: 5 false, 4 allowed**");
    }

    #[test]
    fn a_small_difference_may_be_missed_but_never_reversed() {
        let missed = races(&[(Decision::First, 12), (Decision::Undecided, 8)], 15.0);
        assert_eq!(wrong(&part(0.02), &missed), None);
        assert!(wrong(&part(0.10), &missed).unwrap().contains("8 not found"));
        let turned = races(&[(Decision::First, 19), (Decision::Second, 1)], 15.0);
        assert!(wrong(&part(0.02), &turned).unwrap().contains("wrong way round"));
    }

    #[test]
    fn a_decision_that_takes_too_long_is_wrong() {
        assert!(wrong(&part(0.10), &races(&[(Decision::First, 20)], 16.0)).unwrap().contains("15 s"));
        assert!(wrong(&part(0.0), &races(&[(Decision::Equal, 40)], 61.0)).unwrap().contains("60 s"));
        assert_eq!(wrong(&part(0.01), &races(&[(Decision::First, 20)], 80.0)), None);
        let beside = Part { neighbour: true, ..part(0.0) };
        assert_eq!(wrong(&beside, &races(&[(Decision::Equal, 40)], 99.0)), None);
        let mut missing = races(&[(Decision::Equal, 40)], 9.0);
        missing.iter_mut().take(5).for_each(|outcome| outcome.covers = Some(false));
        assert!(wrong(&part(0.0), &missing).unwrap().contains("5 intervals miss the truth, 4 allowed"));
        let shown = row(&part(0.10), &races(&[(Decision::First, 20)], 9.0));
        assert_eq!(shown, "| x | 20 | 20 | 0 | 0 | 0 | 20 | 9 (9, 9) | 3 | yes |");
    }
}
