//! Compares two runs: each contender's ratio to the base (the hub or the reference) of its own run, then and now.

use super::components::RUN_SHARE;
use super::contrast::Contrast;
use super::fit::{Fit, MEANINGLESS};
use super::movement::Movement;
use super::studentized_range::Critical;
use crate::estimate::{CONFIDENCE, SYSTEMATIC};
use crate::root_mean_square;

/// The change of one contender's ratio to the base.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The ratio now divided by the ratio then.
    pub ratio: f64,
    /// The interval that holds the true change of this contender in 95 % of comparisons.
    pub interval: (f64, f64),
    /// The interval of the same kind that holds for all comparisons together (Bonferroni); it decides.
    pub sure: (f64, f64),
    /// Whether the deciding interval excludes 1, and the change is at least 1 %.
    pub is_change: bool,
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
    /// How much its turns vary within a start ([`StartFigure::turn_deviation`](super::StartFigure::turn_deviation)); `None`: as much as is
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
    let (single, sure) = (Critical::of(2, 1.0 - CONFIDENCE), Critical::of(2, (1.0 - CONFIDENCE) / compared));
    let change = |contrast: Contrast| {
        let difference = contrast.difference;
        let half =
            |by: &Critical| by.of_difference(contrast.df) * contrast.error + SYSTEMATIC * difference.abs();
        let around = |half: f64| ((difference - half).exp(), (difference + half).exp());
        let is_change = difference.abs() > half(&sure) && difference.abs() >= MEANINGLESS.ln_1p();
        Change {
            ratio: difference.exp(),
            interval: around(half(&single)),
            sure: around(half(&sure)),
            is_change,
        }
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

/// How far each contender is expected to move, as a share of what is usual.
fn shares(both: &[InBoth]) -> Vec<f64> {
    let usual =
        root_mean_square(both.iter().filter_map(|one| one.turn_deviation)).filter(|usual| *usual > 0.0);
    let share =
        |one: &InBoth| Some((one.turn_deviation? / usual?).powi(2).clamp(LEAST_SHARE, 1.0 / LEAST_SHARE));
    both.iter().map(|one| share(one).unwrap_or(1.0)).collect()
}
