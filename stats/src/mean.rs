//! The root of the mean square: the usual size of deviations.

/// The root mean square; `None` without a value.
pub fn root_mean_square(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let add = |(sum, n): (f64, f64), value: f64| (sum + value * value, n + 1.0);
    let (sum, n) = values.into_iter().fold((0.0, 0.0), add);
    (n > 0.0).then(|| (sum / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_deviations_count_more() {
        assert_eq!(root_mean_square([3.0, -4.0, 0.0, 0.0]), Some(2.5));
        assert_eq!(root_mean_square([]), None);
    }
}
