//! The studentised range: how far apart the largest and the smallest of `k` equal means lie, in standard errors that are
//! themselves estimated. It says how large a difference must be when all pairs of `k` contenders are compared at once
//! (Tukey 1953). Two means are the special case of Student's t: q = √2 · t.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Step of the tables over the range and over the smallest value: the trapezoidal rule is exact to 1e-9 with it.
const STEP: f64 = 0.05;
/// The range of 1,000 normal values exceeds this in fewer than one case of 1e8.
const WIDEST: usize = 240;
/// Normal values are assumed to lie between −8 and 8.
const NORMAL: usize = 320;
/// Points of the integral over the standard error.
const POINTS: usize = 200;
/// Critical values are tabled at this many steps of 1/df, between infinitely many degrees of freedom and one.
const NODES: usize = 32;

/// Critical values of the studentised range for one number of means and one chance.
#[derive(Clone, Debug)]
pub struct Critical {
    /// ln q at df = `NODES`/i, i from 0.
    logs: Vec<f64>,
}

impl Critical {
    /// Tables for `means` means (at least two) and the probability, between 0 and 1, that equal means exceed the value. They are kept,
    /// because a live view asks for the same ones again and again.
    pub fn of(means: usize, chance: f64) -> Arc<Self> {
        static KNOWN: Mutex<BTreeMap<(usize, u64), Arc<Critical>>> = Mutex::new(BTreeMap::new());
        let (means, chance) = (means.max(2), chance.clamp(1e-9, 0.999));
        let key = (means, chance.to_bits());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&key) {
            return found.clone();
        }
        let made = Arc::new(Self::new(means, chance));
        known().insert(key, made.clone());
        made
    }

    /// Student's t, which is the studentised range of two means: [`Critical::of_difference`] is exceeded on one side with this chance.
    pub fn student(one_sided: f64) -> Arc<Self> {
        Self::of(2, 2.0 * one_sided)
    }

    fn new(means: usize, chance: f64) -> Self {
        let range = Range::new(means);
        let df = |i: usize| if i == 0 { 1e6 } else { NODES as f64 / i as f64 };
        Self { logs: (0..=NODES).map(|i| range.quantile(chance, df(i)).ln()).collect() }
    }

    /// The critical value; fewer than one degree of freedom count as one.
    pub fn at(&self, df: f64) -> f64 {
        let at = NODES as f64 / df.max(1.0);
        cubic(&self.logs, at).exp()
    }

    /// The multiple of a difference's standard error: `at` is in units of one mean's.
    pub fn of_difference(&self, df: f64) -> f64 {
        self.at(df) / std::f64::consts::SQRT_2
    }
}

/// The probability that the range of `k` standard normal values is at most i · `STEP`.
struct Range {
    at_most: Vec<f64>,
}

impl Range {
    fn new(means: usize) -> Self {
        let normal = Normal::standard();
        let place = |i: usize| i as f64 * STEP - 8.0;
        let below: Vec<f64> = (0..=NORMAL + WIDEST).map(|i| normal.cdf(place(i))).collect();
        let density = |i: usize| (-0.5 * place(i).powi(2)).exp() / std::f64::consts::TAU.sqrt();
        let densities: Vec<f64> = (0..=NORMAL).map(density).collect();
        // The smallest value lies at z, all others between z and z + range.
        let chance = |w: usize| -> f64 {
            let at = |z: usize| densities[z] * (below[z + w] - below[z]).powi(means as i32 - 1);
            (means as f64 * STEP * (0..=NORMAL).map(at).sum::<f64>()).min(1.0)
        };
        Self { at_most: (0..=WIDEST).map(chance).collect() }
    }

    fn exceeds(&self, range: f64) -> f64 {
        let at = range / STEP;
        if at >= WIDEST as f64 { 0.0 } else { 1.0 - cubic(&self.at_most, at).clamp(0.0, 1.0) }
    }

    /// The value that the studentised range exceeds with this chance: the chance is an integral over the logarithm v of
    /// the estimated standard error, whose density is 2 (df/2)^(df/2) / Γ(df/2) · exp(df·v − df·e^2v/2).
    fn quantile(&self, chance: f64, df: f64) -> f64 {
        let spread = 7.0 / (2.0 * df).sqrt();
        let (low, high) = (-spread - 26.0 / df, spread);
        let step = (high - low) / POINTS as f64;
        let constant = std::f64::consts::LN_2 + df / 2.0 * (df / 2.0).ln() - ln_gamma(df / 2.0);
        let point = |i: usize| {
            let v = low + step * i as f64;
            (v.exp(), step * (constant + df * v - df * (2.0 * v).exp() / 2.0).exp())
        };
        let points: Vec<(f64, f64)> = (0..=POINTS).map(point).collect();
        let excess = |q: f64| points.iter().map(|(s, weight)| weight * self.exceeds(q * s)).sum::<f64>();
        // The chance falls with q: halve the range of ln q that holds the answer.
        let (mut low, mut high) = (-7.0_f64, 25.0_f64);
        for _ in 0..45 {
            let middle = f64::midpoint(low, high);
            if excess(middle.exp()) > chance { low = middle } else { high = middle }
        }
        f64::midpoint(low, high).exp()
    }
}

/// Lagrange's cubic through the four values around a place.
fn cubic(values: &[f64], at: f64) -> f64 {
    let first = (at.floor() as usize).saturating_sub(1).min(values.len() - 4);
    let place = at - first as f64;
    let (one, two, three) = (place - 1.0, place - 2.0, place - 3.0);
    let shares = [
        -one * two * three / 6.0,
        place * two * three / 2.0,
        -place * one * three / 2.0,
        place * one * two / 6.0,
    ];
    values[first..].iter().zip(shares).map(|(value, share)| value * share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::StudentsT;

    #[test]
    fn critical_values_agree_with_published_tables() {
        // Harter, Annals of Mathematical Statistics 31, 1960: (means, df, q at 5 %, q at 1 %).
        let table = [
            (2, 5.0, 3.635, 5.702),
            (2, 20.0, 2.950, 4.024),
            (3, 5.0, 4.602, 6.976),
            (3, 10.0, 3.877, 5.270),
            (3, 20.0, 3.578, 4.639),
            (4, 12.0, 4.199, 5.502),
            (5, 10.0, 4.654, 6.136),
            (6, 30.0, 4.301, 5.242),
            (10, 10.0, 5.599, 7.213),
            (10, 60.0, 4.646, 5.447),
            (20, 20.0, 5.714, 6.823),
            (3, 1e9, 3.314, 4.120),
            (10, 1e9, 4.474, 5.157),
            (20, 1e9, 5.012, 5.645),
        ];
        for (means, df, five, one) in table {
            for (chance, q) in [(0.05, five), (0.01, one)] {
                let got = Critical::of(means, chance).at(df);
                assert!((got - q).abs() < 0.002, "{means} means, {df} df, {chance}: {got}, not {q}");
            }
        }
    }

    #[test]
    fn two_means_are_students_t() {
        for df in [1.0, 1.7, 2.6, 3.5, 8.3, 21.0, 400.0] {
            for chance in [0.05, 0.0125, 0.001] {
                let t = StudentsT::new(0.0, 1.0, df).unwrap().inverse_cdf(1.0 - chance / 2.0);
                let got = Critical::student(chance / 2.0).of_difference(df);
                assert!((got / t - 1.0).abs() < 2e-3, "{df} df, {chance}: {got}, not {t}");
            }
        }
    }

    #[test]
    fn no_question_panics() {
        for (means, chance, df) in
            [(0, 0.05, 0.0), (1, 2.0, -1.0), (500, 0.0, f64::INFINITY), (51, f64::NAN, f64::NAN)]
        {
            let _ = Critical::of(means, chance).at(df);
        }
    }
}
