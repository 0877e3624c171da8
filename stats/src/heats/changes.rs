//! Compares two runs: each contender's ratio to the base (the hub or the reference) of its own run, then and now.

use super::components::RUN_SHARE;
use super::contrast::Contrast;
use super::fit::Fit;
use super::movement::Movement;
use super::relation::Relation;
use crate::estimate::{CHANCE, Estimate};
use crate::studentized_range::Critical;
use crate::{mean, root_mean_square};

/// The change of one contender's ratio to the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The ratio now divided by the ratio then.
    pub ratio: f64,
    /// The 95 % interval that holds for all comparisons together (Bonferroni); it decides.
    pub sure: (f64, f64),
    /// Now against then: better or worse where the deciding interval excludes 1 and the change is at least 1 %. Never equal: how far contenders
    /// move from run to run is too little known.
    pub relation: Relation,
}

/// The changes of all contenders of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// For each pair that was asked for, its change. `None` for one whose ratio is not known in both, or that is its run's base.
    pub all: Vec<Option<Change>>,
    /// How much contenders changed from run to run beyond what the spread of their starts explains: the standard deviation of logarithms.
    /// Every contender's interval includes it, estimated from the other contenders. `None`: too few contenders to tell.
    pub movement: Option<f64>,
}

/// A contender of both runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InBoth {
    /// Its index in the run before.
    pub before: usize,
    /// Its index in the run after.
    pub after: usize,
    /// How much its turns vary within a start ([`StartRate::turn_deviation`](super::StartRate::turn_deviation)); `None`: as much as is
    /// usual.
    pub turn_deviation: Option<f64>,
}

/// A contender whose turns vary little is taken to move from run to run by at least this share of what is usual, and one whose turns vary
/// much by at most its inverse.
const LEAST_SHARE: f64 = 0.5;

/// Of fewer contenders, the movement is not told: it is too little known.
const FEWEST: usize = 6;

/// Compares contenders of two runs. `bases`: the index of the base, to which ratios refer, in the run before and in the run after.
/// `comparisons`: the number of comparisons made together, in this cell and others; if more are known here, theirs counts.
///
/// A contender that follows the machine's speed more closely within a run also moves further from one run to the next, because the machine
/// differs. Movement is taken to be in proportion to the square of its turns' deviation, because a part of that is its own. (Of the ten pairs of five runs of
/// `raspberry-pi` on a machine with unseen neighbours, three named contenders that had not changed where all were taken to move alike or in
/// proportion to that deviation, and one by the square.)
pub fn changes(
    before: &Fit,
    after: &Fit,
    bases: (usize, usize),
    both: &[InBoth],
    comparisons: usize,
) -> Changes {
    let all: Vec<Option<Contrast>> = both
        .iter()
        .map(|one| Some(after.contrast(one.after, bases.1)?.minus(&before.contrast(one.before, bases.0)?)))
        .collect();
    let shares = shares(both);
    let compared = all.iter().flatten().count().max(comparisons).max(1) as f64;
    let sure = Critical::student(CHANCE / 2.0 / compared);
    let change = |contrast: Contrast| Change {
        ratio: contrast.difference.exp(),
        sure: contrast.interval(&sure),
        relation: Relation::of(&contrast, after.best(), &sure, None),
    };
    // As if all moved as far as is usual.
    let usual: Vec<Option<Contrast>> =
        all.iter().zip(&shares).map(|(contrast, share)| Some((*contrast)?.divided_by(*share))).collect();
    // Its own movement is no reason to doubt a contender's change.
    let widened = |(one, contrast): (usize, &Option<Contrast>)| {
        let others = usual.iter().enumerate().filter(|(other, _)| *other != one);
        let others: Vec<Contrast> = others.filter_map(|(_, contrast)| *contrast).collect();
        let contrast = (*contrast)?;
        let InBoth { before: then, after: now, .. } = both[one];
        let between_starts =
            before.variance_of_starts(then, bases.0) + after.variance_of_starts(now, bases.1);
        let moved = Movement::of(&others).times(shares[one], RUN_SHARE * between_starts);
        Some(moved.widens(&contrast))
    };
    let known: Vec<Contrast> = usual.iter().flatten().copied().collect();
    Changes {
        movement: (known.len() >= FEWEST).then(|| Movement::seen(&known).variance.sqrt()),
        all: all.iter().enumerate().map(widened).map(|contrast| contrast.map(change)).collect(),
    }
}

/// How far independent logarithms moved: the ratio of their means now and then, with the 95 % interval of a single comparison (Welch 1947);
/// without one where either has fewer than two values. `None` where either is empty.
pub fn shift(now: &[f64], then: &[f64]) -> Option<Estimate> {
    let ratio = (mean(now)? - mean(then)?).exp();
    let single = Critical::student(CHANCE / 2.0);
    let contrast = Contrast::of_mean(now).zip(Contrast::of_mean(then)).map(|(now, then)| now.minus(&then));
    Some(Estimate { median: ratio, interval: contrast.map(|contrast| contrast.interval(&single)) })
}

/// How far each contender is expected to move, as a share of what is usual.
fn shares(both: &[InBoth]) -> Vec<f64> {
    let usual =
        root_mean_square(both.iter().filter_map(|one| one.turn_deviation)).filter(|usual| *usual > 0.0);
    let share =
        |one: &InBoth| Some((one.turn_deviation? / usual?).powi(2).clamp(LEAST_SHARE, 1.0 / LEAST_SHARE));
    both.iter().map(|one| share(one).unwrap_or(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    #[test]
    fn too_few_values_have_no_bounds() {
        assert_eq!((shift(&[], &[1.0]), shift(&[1.0], &[])), (None, None));
        assert_eq!(
            shift(&[2.0], &[2.0, 2.1]),
            Some(Estimate { median: (2.0_f64 - 2.05).exp(), interval: None })
        );
        let same = shift(&[3.0; 6], &[3.0; 6]).unwrap();
        assert_eq!((same.median, same.interval), (1.0, Some((1.0, 1.0))));
    }

    #[test]
    fn the_bounds_of_a_shift_cover_the_truth_as_often_as_they_say() {
        for (m, n) in [(3, 3), (6, 8), (12, 10), (4, 25)] {
            let runs = 2_000;
            let gauss = |seed: u64, k: u64| (0..12).map(|i| uniform(seed, k * 12 + i)).sum::<f64>() - 6.0;
            let is_covered = |run: &u64| {
                let now: Vec<f64> = (0..m).map(|k| 0.05 + 0.01 * gauss(run * 2, k)).collect();
                let then: Vec<f64> = (0..n).map(|k| 0.01 * gauss(run * 2 + 1, k)).collect();
                let (low, high) = shift(&now, &then).unwrap().interval.unwrap();
                low.ln() <= 0.05 && 0.05 <= high.ln()
            };
            let percent = (0..runs).filter(is_covered).count() as f64 * 100.0 / runs as f64;
            // A little more often: the bounds allow for what a measurement itself may cause.
            assert!((94.0..=99.5).contains(&percent), "{m} and {n} values: {percent} %");
        }
    }
}
