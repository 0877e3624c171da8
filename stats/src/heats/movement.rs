//! How much contenders' figures move from one run to another without a cause of their own: the contender × run part of the variation. The hub
//! follows the machine imperfectly, because each kind of work has its own bottleneck. A contender may be called changed only if it moved
//! further than that.

use super::components::{RUN_FREEDOM, RUN_VARIANCE};
use super::contrast::Contrast;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The share of the contenders that is used: those that moved least. The others may really have changed.
const UNMOVED: f64 = 2.0 / 3.0;

/// The degrees of freedom of what the others show, per contender: fewer than one, because a third is left out. By `examples/simulate_heats`,
/// at most 5 % of comparisons then name a contender wrongly, however many are compared and however they move (docs/simulation.md).
const FREEDOM: f64 = 0.5;

/// The variance of the movement, in squared logarithms, and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Movement {
    pub variance: f64,
    freedom: f64,
}

impl Movement {
    /// What is known of movement: how much contenders moved in recorded pairs of runs ([`RUN_VARIANCE`]), and how much these did. The fewer they
    /// are, the more the recorded ones count.
    pub fn of(changes: &[Contrast]) -> Self {
        let own = Self::seen(changes);
        let freedom = RUN_FREEDOM + own.freedom;
        let variance = (RUN_FREEDOM * RUN_VARIANCE + own.freedom * own.variance) / freedom;
        Self { variance, freedom }
    }

    /// The movement that makes the spread of these changes as large as it is; zero if their errors explain it.
    ///
    /// The mean of `change² / (error² + variance)` over those that moved least must be what it is for normal variables.
    pub fn seen(changes: &[Contrast]) -> Self {
        let (count, least) = (changes.len(), of_least(changes.len()));
        let freedom = FREEDOM * count as f64;
        let excess = |variance: f64| mean_of_least(changes, variance, least) - expected(least, count);
        if count == 0 || excess(0.0) <= 0.0 {
            return Self { variance: 0.0, freedom };
        }
        // The excess falls as the variance grows.
        let largest = changes.iter().map(|c| c.difference.powi(2)).fold(0.0, f64::max);
        let (mut low, mut high) = (0.0, largest / expected(least, count));
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            *(if excess(middle) > 0.0 { &mut low } else { &mut high }) = middle;
        }
        Self { variance: high, freedom }
    }

    /// The movement of a contender that moves this many times as far as is usual, and has at `least` this variance.
    pub fn times(&self, share: f64, least: f64) -> Self {
        Self { variance: (self.variance * share * share).max(least), ..*self }
    }

    /// A change with this movement as a part of its error (Satterthwaite 1946).
    pub fn widens(&self, change: &Contrast) -> Contrast {
        let (own, moved) = (change.error.powi(2), self.variance);
        let df = (own + moved).powi(2) / (own * own / change.df + moved * moved / self.freedom);
        Contrast { error: (own + moved).sqrt(), df: df.max(1.0), ..*change }
    }
}

/// How many of so many contenders are taken not to have changed.
fn of_least(count: usize) -> usize {
    (UNMOVED * count as f64).ceil() as usize
}

/// The mean squared change, in units of error and movement, of the contenders that moved least.
fn mean_of_least(changes: &[Contrast], variance: f64, least: usize) -> f64 {
    let square = |c: &Contrast| c.difference.powi(2) / (c.error.powi(2) + variance).max(f64::MIN_POSITIVE);
    let mut squares: Vec<f64> = changes.iter().map(square).collect();
    squares.sort_by(f64::total_cmp);
    squares.truncate(least);
    squares.iter().sum::<f64>() / squares.len().max(1) as f64
}

/// The expected value of that mean for normal variables. Multiplied by its variable, the density of a χ² distribution with one degree of
/// freedom is that with three, so the mean of the squares below a bound follows from the distribution function with three.
fn expected(least: usize, count: usize) -> f64 {
    if least >= count {
        return 1.0;
    }
    let share = least as f64 / count as f64;
    let with = |freedom: f64| ChiSquared::new(freedom).ok();
    let bound = with(1.0).map_or(f64::NAN, |one| one.inverse_cdf(share));
    with(3.0).map_or(f64::NAN, |three| three.cdf(bound)) / share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    /// Changes with an error of 1 %, and these differences.
    fn changes(differences: impl IntoIterator<Item = f64>) -> Vec<Contrast> {
        differences.into_iter().map(|difference| Contrast { difference, error: 0.01, df: 20.0 }).collect()
    }

    /// Nearly normal: the sum of twelve uniform variables.
    fn normal(seed: u64, nth: u64) -> f64 {
        (0..12).map(|k| uniform(seed, 12 * nth + k)).sum::<f64>() - 6.0
    }

    #[test]
    fn what_errors_explain_is_no_movement_and_the_rest_is_found() {
        assert!((expected(300, 400) - 0.368).abs() < 0.001 && expected(1, 1) == 1.0);
        for (spread, low, high) in [(0.01, 0.0, 0.005), (0.05, 0.04, 0.06)] {
            let sd = Movement::seen(&changes((0..400).map(|nth| spread * normal(1, nth)))).variance.sqrt();
            assert!((low..=high).contains(&sd), "{spread}: {sd}");
        }
    }

    #[test]
    fn a_sixth_that_really_changed_is_no_movement() {
        let still = (0..30).map(|nth| 0.01 * normal(2, nth));
        let movement = Movement::seen(&changes(still.chain([0.5; 6])));
        assert!(movement.variance.sqrt() < 0.01, "{movement:?}");
    }

    #[test]
    fn the_fewer_contenders_there_are_the_more_the_recorded_runs_count() {
        let none = Movement::of(&[]);
        assert_eq!((none.variance, none.freedom), (RUN_VARIANCE, RUN_FREEDOM));
        let of = |count: usize, moved: f64| Movement::of(&changes(vec![moved; count]));
        let (few, many) = (of(2, 0.0), of(40, 0.0));
        assert!(
            few.variance < RUN_VARIANCE && many.variance < few.variance / 5.0 && few.freedom < many.freedom
        );
        assert!(of(1, 0.2).variance > 4.0 * RUN_VARIANCE, "even one shows that contenders move");
    }

    #[test]
    fn an_error_with_movement_is_larger_and_never_better_known_than_its_parts() {
        let change = Contrast { difference: 0.1, error: 0.01, df: 7.0 };
        let widened = Movement::of(&changes([0.1; 6])).widens(&change);
        assert!(widened.error > 0.05 && widened.df < 7.0 && widened.difference == 0.1, "{widened:?}");
        let still = Movement { variance: 0.0, freedom: 3.0 };
        assert_eq!(still.widens(&change), change);
        assert_eq!(still.times(2.0, 0.01).variance, 0.01);
    }
}
