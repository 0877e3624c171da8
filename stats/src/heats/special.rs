//! The trigamma function and its inverse, which are needed to estimate how much variances differ.

/// The trigamma function of a positive number: the recurrence up to 10, then its asymptotic series (Abramowitz and Stegun
/// 6.4.6, 6.4.12).
pub(super) fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let (one, two) = (1.0 / x, 1.0 / (x * x));
    sum + one + two / 2.0 + one * two * (1.0 / 6.0 - two * (1.0 / 30.0 - two * (1.0 / 42.0 - two / 30.0)))
}

/// The number whose trigamma is this positive value, by bisection over its logarithm: trigamma is decreasing.
pub(super) fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (-12.0_f64, 12.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if trigamma(middle.exp()) > value { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_exact_values() {
        let squared = std::f64::consts::PI.powi(2);
        for (x, exact) in [(1.0, squared / 6.0), (0.5, squared / 2.0), (2.0, squared / 6.0 - 1.0)] {
            assert!((trigamma(x) - exact).abs() < 1e-9);
            assert!((inverse_trigamma(exact) - x).abs() < 1e-6);
        }
    }
}
