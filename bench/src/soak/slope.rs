//! The growth of a quantity from sample to sample, and its standard error. Pure.
//!
//! Samples of a process are not independent: memory is taken in steps and kept. So a line is fitted to the means of
//! batches (batch means: Law and Kelton, Simulation Modeling and Analysis, chapter 9). Its error is widened by the
//! remaining correlation of neighbouring batches, as for an autoregressive process of first order.

/// Number of batches. More batches would be shorter, and less independent.
const BATCHES: usize = 12;

/// Critical value of Student's t distribution with `BATCHES` - 2 degrees of freedom, two-sided, at 0.1 %. A single
/// step, wherever it is, stays below it; two steps do not.
const CRITICAL_T: f64 = 4.587;

/// A fitted line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    pub per_sample: f64,
    /// Standard error.
    pub error: f64,
}

impl Slope {
    /// Fits a line; `None` if there are too few values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let size = values.len() / BATCHES;
        if size == 0 {
            return None;
        }
        // The oldest values are left out if they don't fill a batch.
        let rest = &values[values.len() - size * BATCHES..];
        let means: Vec<f64> =
            rest.chunks(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
        let centre = (BATCHES - 1) as f64 / 2.0;
        let mean = means.iter().sum::<f64>() / BATCHES as f64;
        let at = |k: usize| k as f64 - centre;
        let squares: f64 = (0..BATCHES).map(|k| at(k).powi(2)).sum();
        let slope = means.iter().enumerate().map(|(k, y)| at(k) * (y - mean)).sum::<f64>() / squares;
        let off: Vec<f64> = means.iter().enumerate().map(|(k, y)| y - mean - slope * at(k)).collect();
        let of_off: f64 = off.iter().map(|e| e * e).sum();
        let common: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // The correlation of neighbours. It is limited because the fit removes some of it and makes it uncertain.
        let r = if of_off > 0.0 { (common / of_off).clamp(0.0, 0.9) } else { 0.0 };
        let error = (of_off / (BATCHES - 2) as f64 / squares * (1.0 + r) / (1.0 - r)).sqrt();
        Some(Self { per_sample: slope / size as f64, error: error / size as f64 })
    }

    /// Whether the quantity may be constant.
    pub fn is_zero(self) -> bool {
        self.per_sample.abs() <= CRITICAL_T * self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Between -1 and 1, always the same.
    fn noise(n: u64) -> f64 {
        let mut x = n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) as f64 / u64::MAX as f64).mul_add(2.0, -1.0)
    }

    /// In how many of the series a slope is found.
    fn found(series: u64, value: impl Fn(u64, &mut f64, f64) -> f64) -> usize {
        let is_found = |seed: &u64| {
            let mut state = 0.0;
            let values: Vec<f64> =
                (0..1200).map(|k| value(k, &mut state, noise(seed * 100_000 + k))).collect();
            !Slope::of(&values).unwrap().is_zero()
        };
        (0..series).filter(is_found).count()
    }

    #[test]
    fn a_constant_has_no_slope() {
        assert!(Slope::of(&[7.0; 40]).unwrap().is_zero());
        assert_eq!(Slope::of(&[1.0; 11]), None);
    }

    #[test]
    fn noise_is_no_slope_even_where_neighbours_are_alike() {
        assert!(found(500, |_, _, e| 1000.0 + e) <= 5, "independent");
        let alike = |_: u64, state: &mut f64, e: f64| {
            *state = 0.95 * *state + e;
            1000.0 + *state
        };
        assert!(found(500, alike) <= 10, "neighbours alike");
    }

    #[test]
    fn a_step_that_stays_is_no_slope() {
        for at in [100, 300, 500, 600, 700, 900] {
            let values: Vec<f64> = (0..1200).map(|k| if k < at { 1000.0 } else { 1064.0 }).collect();
            assert!(Slope::of(&values).unwrap().is_zero(), "{at}: {:?}", Slope::of(&values));
        }
    }

    #[test]
    fn a_leak_is_found() {
        // A hundredth of the noise a sample, and one that takes memory in steps of 64 now and then.
        assert_eq!(found(100, |k, _, e| 1000.0 + e + k as f64 / 100.0), 100);
        for every in [100, 200, 400] {
            assert_eq!(found(1, |k, _, _| 1000.0 + (k / every * 64) as f64), 1, "{every}");
        }
        assert_eq!(found(1, |k, _, _| 1000.0 + k as f64), 1);
    }
}
