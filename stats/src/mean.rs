//! Means, and the usual size of deviations.

/// The arithmetic mean; `None` without a value.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The root mean square; `None` without a value.
pub fn root_mean_square(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let add = |(sum, n): (f64, f64), value: f64| (sum + value * value, n + 1.0);
    let (sum, n) = values.into_iter().fold((0.0, 0.0), add);
    (n > 0.0).then(|| (sum / n).sqrt())
}

/// The standard deviation; `None` for fewer than three values, which are too few for one.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let (n, mean) = (values.len() as f64, mean(values).filter(|_| values.len() >= 3)?);
    Some((values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_deviations_count_more() {
        assert_eq!(root_mean_square([3.0, -4.0, 0.0, 0.0]), Some(2.5));
        assert_eq!(root_mean_square([]), None);
    }

    #[test]
    fn two_values_are_too_few_for_a_deviation() {
        assert_eq!((deviation(&[]), deviation(&[1.0, 2.0])), (None, None));
        assert_eq!(deviation(&[1.0, 2.0, 3.0]), Some(1.0));
    }
}
