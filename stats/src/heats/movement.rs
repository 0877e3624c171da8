//! How much contenders' figures move from one run to another beyond what the spread of their starts explains: the hub follows the machine
//! imperfectly, because each kind of work has its own bottleneck. A contender may be called changed only if it moved further than the
//! others did.

use super::contrast::Contrast;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// The share of the contenders that is used: those that moved least. The others may really have changed.
const UNMOVED: f64 = 0.75;

/// Fewer contenders than this say nothing about how much contenders move.
const FEWEST: usize = 6;

/// The degrees of freedom of the estimate, per contender: fewer than one, because a quarter is left out. By `examples/simulate_heats`, no
/// comparison of nine contenders then names one wrongly where none moves, and at most 4.2 % do where contenders move
/// (docs/simulation.md).
const FREEDOM: f64 = 0.7;

/// The variance of the movement, in squared logarithms, and its degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Movement {
    pub variance: f64,
    freedom: f64,
}

impl Movement {
    /// The movement that makes the spread of these changes as large as it is; zero if their errors explain it. `None`: too few to tell.
    ///
    /// The mean of `change² / (error² + variance)` over the smallest three quarters must be what it is for normal variables.
    pub fn of(changes: &[Contrast]) -> Option<Self> {
        if changes.len() < FEWEST {
            return None;
        }
        let expected = expected();
        let excess = |variance: f64| mean_of_least(changes, variance) - expected;
        let freedom = FREEDOM * changes.len() as f64;
        let (mut low, mut high) = (0.0, changes.iter().map(|c| c.difference.powi(2)).fold(0.0, f64::max));
        if excess(0.0) <= 0.0 {
            return Some(Self { variance: 0.0, freedom });
        }
        // The excess falls as the variance grows.
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            *(if excess(middle) > 0.0 { &mut low } else { &mut high }) = middle;
        }
        Some(Self { variance: high, freedom })
    }

    /// The movement of a contender that moves this many times as far as is usual.
    pub fn times(&self, share: f64) -> Self {
        Self { variance: self.variance * share * share, ..*self }
    }

    /// A change with this movement as a part of its error (Satterthwaite 1946).
    pub fn widens(&self, change: &Contrast) -> Contrast {
        let (own, moved) = (change.error.powi(2), self.variance);
        if moved == 0.0 {
            return *change;
        }
        let df = (own + moved).powi(2) / (own * own / change.df + moved * moved / self.freedom);
        Contrast { error: (own + moved).sqrt(), df: df.max(1.0), ..*change }
    }
}

/// The mean squared change, in units of error and movement, of the contenders that moved least.
fn mean_of_least(changes: &[Contrast], variance: f64) -> f64 {
    let square = |c: &Contrast| c.difference.powi(2) / (c.error.powi(2) + variance).max(f64::MIN_POSITIVE);
    let mut squares: Vec<f64> = changes.iter().map(square).collect();
    squares.sort_by(f64::total_cmp);
    squares.truncate((UNMOVED * squares.len() as f64).ceil() as usize);
    squares.iter().sum::<f64>() / squares.len() as f64
}

/// The expected value of that mean for normal variables. Multiplied by its variable, the density of a χ² distribution with one degree of
/// freedom is that with three, so the mean of the squares below a bound follows from the distribution function with three.
fn expected() -> f64 {
    let with = |freedom: f64| ChiSquared::new(freedom).ok();
    let bound = with(1.0).map_or(f64::NAN, |one| one.inverse_cdf(UNMOVED));
    with(3.0).map_or(f64::NAN, |three| three.cdf(bound)) / UNMOVED
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
        assert!((expected() - 0.368).abs() < 0.001, "{}", expected());
        for (spread, low, high) in [(0.01, 0.0, 0.005), (0.05, 0.04, 0.06)] {
            let movement = Movement::of(&changes((0..400).map(|nth| spread * normal(1, nth)))).unwrap();
            let sd = movement.variance.sqrt();
            assert!((low..=high).contains(&sd), "{spread}: {sd}");
        }
    }

    #[test]
    fn a_quarter_that_really_changed_is_no_movement() {
        let still = (0..30).map(|nth| 0.01 * normal(2, nth));
        let movement = Movement::of(&changes(still.chain([0.5; 6]))).unwrap();
        assert!(movement.variance.sqrt() < 0.01, "{movement:?}");
    }

    #[test]
    fn few_contenders_say_nothing_and_equal_ones_move_by_nothing() {
        assert_eq!(Movement::of(&changes([0.3; 5])), None);
        let none = Movement::of(&changes([0.0; 6])).unwrap();
        let change = Contrast { difference: 0.1, error: 0.01, df: 7.0 };
        assert_eq!((none.variance, none.widens(&change)), (0.0, change));
        let all = Movement::of(&changes([0.1; 6])).unwrap();
        let widened = all.widens(&change);
        assert!(widened.error > 0.1 && widened.df < 7.0 && widened.difference == 0.1, "{widened:?}");
    }
}
