//! The centre of symmetric values (Hodges and Lehmann 1963): hardly less exact than their mean for normal noise, and not moved by a few that
//! are far off.

/// The centre: the median of the means of all pairs of values, each with itself too. `None` when empty.
pub fn centre(values: &[f64]) -> Option<f64> {
    let pairs = values.iter().enumerate().flat_map(|(i, a)| values[i..].iter().map(move |b| (a, b)));
    let means: Vec<f64> = pairs.map(|(a, b)| f64::midpoint(*a, *b)).collect();
    crate::median(&means)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_that_is_far_off_moves_it_little() {
        assert_eq!((centre(&[]), centre(&[7.0; 6])), (None, Some(7.0)));
        assert_eq!(centre(&[1.0, 2.0, 3.0]), Some(2.0));
        assert_eq!(centre(&[1.0, 2.0, 3.0, 1e9]), Some(2.75));
    }

    proptest! {
        #[test]
        fn it_moves_with_the_values(values in prop::collection::vec(-1e3..1e3_f64, 6..20), shift in -1e3..1e3_f64) {
            let moved: Vec<f64> = values.iter().map(|v| v + shift).collect();
            prop_assert!((centre(&moved).unwrap() - centre(&values).unwrap() - shift).abs() < 1e-6);
        }
    }
}
