//! The delays of answers: a pure function of the seed and of the answer's number.

use net::clock;
use stats::random::{derive, uniform};
use std::time::Duration;

/// Distinguishes the stream of delays from every other one of the same seed.
const STREAM: u64 = 1;

/// The distribution of delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Always the same delay.
    Constant(Duration),
    /// Exponential, with this mean.
    Exponential(Duration),
    /// Uniform between these two.
    Uniform(Duration, Duration),
    /// Normal, with this mean and standard deviation; negative values count as 0.
    Normal(Duration, Duration),
    /// Log-normal, with this mean and standard deviation of the delay itself, not of its logarithm.
    LogNormal(Duration, Duration),
}

impl Delay {
    /// The delay of answer `number`.
    pub fn ns(&self, seed: u64, number: u64) -> u64 {
        let seed = derive(&[seed, STREAM]);
        let ns = match *self {
            Self::Constant(delay) => return clock::ns_of(delay),
            Self::Exponential(mean) => -float_ns(mean) * uniform(seed, number).ln(),
            Self::Uniform(least, most) => {
                float_ns(least) + (float_ns(most) - float_ns(least)) * uniform(seed, number)
            }
            Self::Normal(mean, sd) => float_ns(mean) + float_ns(sd) * standard_normal(seed, number),
            Self::LogNormal(mean, sd) => {
                // The moments of a log-normal, solved for those of its logarithm.
                let variance = (float_ns(sd) / float_ns(mean)).powi(2).ln_1p();
                let exponent = variance.sqrt() * standard_normal(seed, number) - variance / 2.0;
                float_ns(mean) * exponent.exp()
            }
        };
        ns.round() as u64 // Saturates: below 0 becomes 0.
    }
}

fn float_ns(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

/// Box and Muller, "A note on the generation of random normal deviates", 1958.
fn standard_normal(seed: u64, number: u64) -> f64 {
    let (one, other) = (uniform(seed, 2 * number), uniform(seed, 2 * number + 1));
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u64 = 100_000;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    /// All delays of a seed, in milliseconds.
    fn delays(delay: Delay, seed: u64) -> Vec<f64> {
        (0..N).map(|number| delay.ns(seed, number) as f64 / 1e6).collect()
    }

    fn mean_and_sd(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    }

    fn share_below(values: &[f64], bound: f64) -> f64 {
        values.iter().filter(|v| **v < bound).count() as f64 / values.len() as f64
    }

    #[test]
    fn means_and_spreads_are_those_of_the_distributions() {
        let cases = [
            (Delay::Constant(ms(5)), 5.0, 0.0),
            (Delay::Exponential(ms(5)), 5.0, 5.0),
            (Delay::Uniform(ms(1), ms(9)), 5.0, 8.0 / 12_f64.sqrt()),
            (Delay::Normal(ms(5), ms(1)), 5.0, 1.0),
            (Delay::LogNormal(ms(5), ms(2)), 5.0, 2.0),
        ];
        for (delay, mean, sd) in cases {
            for seed in [0, 1, 99] {
                let found = mean_and_sd(&delays(delay, seed));
                // Five standard errors of either are less than this.
                let is_near = |a: f64, b: f64| (a - b).abs() <= 0.03 * b;
                assert!(is_near(found.0, mean) && is_near(found.1, sd), "{delay:?}, {seed}: {found:?}");
            }
        }
    }

    #[test]
    fn their_shapes_are_those_of_the_distributions() {
        let is_near = |a: f64, b: f64| (a - b).abs() < 0.01;
        // The median of an exponential is ln 2 of its mean, that of a log-normal exp(mu).
        assert!(is_near(share_below(&delays(Delay::Exponential(ms(5)), 3), 5.0 * 2_f64.ln()), 0.5));
        assert!(is_near(share_below(&delays(Delay::LogNormal(ms(5), ms(2)), 3), 5.0 / 1.16_f64.sqrt()), 0.5));
        assert!(is_near(share_below(&delays(Delay::Uniform(ms(1), ms(9)), 3), 3.0), 0.25));
        let normal = delays(Delay::Normal(ms(5), ms(1)), 3);
        assert!(is_near(share_below(&normal, 4.0), 0.1587) && is_near(share_below(&normal, 5.0), 0.5));
    }

    #[test]
    fn none_is_below_zero_or_outside_of_its_bounds() {
        let normal = delays(Delay::Normal(ms(1), ms(2)), 5);
        assert!(normal.contains(&0.0), "what would be below 0 is 0");
        assert!(delays(Delay::Uniform(ms(1), ms(9)), 5).iter().all(|d| (1.0..=9.0).contains(d)));
    }

    #[test]
    fn a_delay_depends_on_seed_and_number_only() {
        let delay = Delay::Exponential(ms(5));
        assert_eq!(delays(delay, 7), delays(delay, 7));
        let (one, other) = (delays(delay, 7), delays(delay, 8));
        let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
        assert!(same < 10, "{same} of {N} are the same under another seed");
    }
}
