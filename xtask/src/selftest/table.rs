//! What the races came to, as a Markdown table.

use super::parts::Part;
use super::races::{Outcome, Said};

pub const HEAD: &str = "\
| difference made | races | first faster | second faster | equal within 2 % | not sure | interval has the truth | \
seconds, median (p90, most) | rounds, median | holds |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |";

/// Of so many races between equals one may be called different: 5 %, and chance.
const EQUALS_A_FALSE: usize = 10;

/// The longest that a decision may take, by the difference that was made.
const IN_TIME_S: [(f64, f64); 4] = [(0.10, 10.0), (0.03, 15.0), (0.01, 90.0), (0.0, 20.0)];

/// A row of the table.
pub fn row(part: &Part, outcomes: &[Outcome]) -> String {
    let said = |what: Said| outcomes.iter().filter(|outcome| outcome.said == what).count();
    let has = outcomes.iter().filter(|outcome| outcome.covers == Some(true)).count();
    let seconds = sorted(outcomes.iter().map(|outcome| outcome.elapsed_s));
    let blocks = sorted(outcomes.iter().map(|outcome| outcome.blocks as f64));
    format!(
        "| {} | {} | {} | {} | {} | {} | {has} | {:.0} ({:.0}, {:.0}) | {:.0} | {} |",
        part.name,
        outcomes.len(),
        said(Said::First),
        said(Said::Second),
        said(Said::Equal),
        said(Said::Nothing),
        at(&seconds, 0.5),
        at(&seconds, 0.9),
        at(&seconds, 1.0),
        at(&blocks, 0.5),
        wrong(part, outcomes).unwrap_or_else(|| "yes".to_owned()),
    )
}

/// What does not hold.
fn wrong(part: &Part, outcomes: &[Outcome]) -> Option<String> {
    let said = |what: Said| outcomes.iter().filter(|outcome| outcome.said == what).count();
    let (first, second) = (said(Said::First), said(Said::Second));
    if part.cost == 0.0 {
        let allowed = outcomes.len().div_ceil(EQUALS_A_FALSE);
        let found = first + second;
        if found > allowed {
            return Some(format!("**no: {found} false, {allowed} allowed**"));
        }
    } else if second > 0 {
        return Some(format!("**no: {second} the wrong way round**"));
    }
    if part.cost >= 0.10 && first < outcomes.len() {
        return Some(format!("**no: {} not found**", outcomes.len() - first));
    }
    let (_, longest_s) = IN_TIME_S.iter().find(|(cost, _)| *cost == part.cost)?;
    let median_s = at(&sorted(outcomes.iter().map(|outcome| outcome.elapsed_s)), 0.5);
    (median_s > *longest_s).then(|| format!("**no: takes more than {longest_s:.0} s**"))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The nearest rank.
fn at(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn races(said: &[(Said, usize)], elapsed_s: f64) -> Vec<Outcome> {
        let one = |said| Outcome { said, covers: Some(true), elapsed_s, blocks: 3 };
        said.iter().flat_map(|(said, n)| std::iter::repeat_n(one(*said), *n)).collect()
    }

    fn part(cost: f64) -> Part {
        Part { name: "x", cost, races: 20 }
    }

    #[test]
    fn equals_that_are_called_different_too_often_are_wrong() {
        let few = races(&[(Said::Equal, 36), (Said::First, 2), (Said::Second, 2)], 15.0);
        assert_eq!(wrong(&part(0.0), &few), None);
        let many = races(&[(Said::Equal, 35), (Said::First, 3), (Said::Second, 2)], 40.0);
        assert_eq!(wrong(&part(0.0), &many).unwrap(), "**no: 5 false, 4 allowed**");
    }

    #[test]
    fn a_difference_may_be_missed_if_it_is_small_but_never_turned_round() {
        let missed = races(&[(Said::First, 12), (Said::Nothing, 8)], 15.0);
        assert_eq!(wrong(&part(0.02), &missed), None);
        assert!(wrong(&part(0.10), &missed).unwrap().contains("8 not found"));
        let turned = races(&[(Said::First, 19), (Said::Second, 1)], 15.0);
        assert!(wrong(&part(0.02), &turned).unwrap().contains("wrong way round"));
    }

    #[test]
    fn a_verdict_that_takes_too_long_is_named() {
        assert!(wrong(&part(0.10), &races(&[(Said::First, 20)], 11.0)).unwrap().contains("10 s"));
        assert!(wrong(&part(0.0), &races(&[(Said::Equal, 40)], 21.0)).unwrap().contains("20 s"));
        assert_eq!(wrong(&part(0.01), &races(&[(Said::First, 20)], 80.0)), None);
        let shown = row(&part(0.10), &races(&[(Said::First, 20)], 9.0));
        assert_eq!(shown, "| x | 20 | 20 | 0 | 0 | 0 | 20 | 9 (9, 9) | 3 | yes |");
    }
}
