//! Wilcoxon's signed ranks inverted: the centre of symmetric values (Hodges and Lehmann 1963), and the bounds between
//! which it lies.
//!
//! Why these and not others: in a block every contender has its trial at a moment that the shuffle chose, so
//! whatever the machine did to the two trials of a pair, it might as well have done the other way round. The
//! difference is symmetric about the truth by the design, however heavy its tails, however the machine drifts or
//! changes its mode; and for symmetric values the coverage of these bounds is known exactly. `stats/examples/simulate`
//! compares them with the alternatives.

/// The centre: the median of the means of all pairs of values, each with itself too. `None` when empty.
pub fn centre(values: &[f64]) -> Option<f64> {
    crate::median(&walsh(values))
}

/// The bounds that hold the centre with this confidence; `None` where there are too few values. Between two ranks, whose coverage
/// is known, the bound is interpolated, since with few values they lie far apart.
pub fn interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let tail = (1.0 - confidence) / 2.0;
    let chances = cumulative(values.len());
    let above = chances.iter().position(|chance| *chance > tail)?;
    let k = above.checked_sub(1)?;
    let mut means = walsh(values);
    means.sort_by(f64::total_cmp);
    let from_top = |k: usize| means[means.len() - 1 - k];
    let share = (tail - chances[k]) / (chances[above] - chances[k]);
    let between = |a: f64, b: f64| if a == b { a } else { a + share * (b - a) };
    Some((between(means[k], means[above]), between(from_top(k), from_top(above))))
}

/// The means of all pairs of values, each with itself too.
fn walsh(values: &[f64]) -> Vec<f64> {
    let pairs = values.iter().enumerate().flat_map(|(i, a)| values[i..].iter().map(move |b| (a, b)));
    pairs.map(|(a, b)| f64::midpoint(*a, *b)).collect()
}

/// The probability of each sum of positive ranks, or a smaller one, where both signs are equally likely.
fn cumulative(n: usize) -> Vec<f64> {
    let mut chances = vec![0.0; n * (n + 1) / 2 + 1];
    chances[0] = 0.5_f64.powi(n as i32);
    for rank in 1..=n {
        for sum in (rank..chances.len()).rev() {
            chances[sum] += chances[sum - rank];
        }
    }
    let mut sum = 0.0;
    for chance in &mut chances {
        sum += *chance;
        *chance = sum;
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_chances_agree_with_a_table() {
        // Wilcoxon's table: the largest sums with at most 2.5 % on one side.
        let critical = |n| cumulative(n).iter().position(|chance| *chance > 0.025).unwrap().checked_sub(1);
        assert_eq!(
            [5, 6, 7, 8, 9, 10, 11, 12].map(critical),
            [None, Some(0), Some(2), Some(3), Some(5), Some(8), Some(10), Some(13)]
        );
        assert!((cumulative(12).last().unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn five_values_can_not_say_with_95_percent() {
        assert_eq!(interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95), None);
        assert!(interval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).is_some());
        assert_eq!((interval(&[], 0.95), centre(&[])), (None, None));
    }

    #[test]
    fn equal_values_leave_no_doubt() {
        assert_eq!((centre(&[7.0; 6]), interval(&[7.0; 6], 0.95)), (Some(7.0), Some((7.0, 7.0))));
    }

    proptest! {
        #[test]
        fn bounds_hold_the_centre_and_move_with_the_values(values in prop::collection::vec(-1e3..1e3_f64, 6..20), shift in -1e3..1e3_f64) {
            let (low, high) = interval(&values, 0.95).unwrap();
            let middle = centre(&values).unwrap();
            prop_assert!(low <= middle && middle <= high);
            let moved: Vec<f64> = values.iter().map(|v| v + shift).collect();
            let (moved_low, moved_high) = interval(&moved, 0.95).unwrap();
            prop_assert!((moved_low - low - shift).abs() < 1e-6 && (moved_high - high - shift).abs() < 1e-6);
        }

        #[test]
        fn less_confidence_is_narrower(values in prop::collection::vec(-1e3..1e3_f64, 8..20)) {
            let (wide, narrow) = (interval(&values, 0.95).unwrap(), interval(&values, 0.8).unwrap());
            prop_assert!(wide.0 <= narrow.0 && narrow.1 <= wide.1);
        }
    }
}
