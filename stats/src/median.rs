//! The median of a few values.

/// The median; the mean of the middle two for an even count. `None` when empty.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    let n = values.len();
    if n == 0 {
        return None;
    }
    let (below, middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = *middle;
    if n % 2 == 1 {
        return Some(middle);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, middle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_median_is_that_of_the_sorted_list(values in prop::collection::vec(-1e9..1e9_f64, 1..60)) {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let n = sorted.len();
            let exact = if n % 2 == 1 { sorted[n / 2] } else { f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]) };
            prop_assert_eq!(median(&values), Some(exact));
        }
    }
}
