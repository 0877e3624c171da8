//! The mapping from values to positions on an axis.

/// An axis is logarithmic if the ratio of the largest to the smallest value is above this.
const WIDE: f64 = 20.0;

/// The bounds of any axis: nobody measures values beyond them, and their ratios overflow.
const LEAST: f64 = 1e-12;
const MOST: f64 = 1e18;

/// An axis that maps values from `low` to `high` to positions between `from` and `to`, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    is_log: bool,
}

impl Scale {
    /// An axis that begins at 0, or a logarithmic one if the range of the values is wide.
    pub fn for_sizes(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let (least, most) = range(values.clone().filter(|v| *v > 0.0));
        if least > 0.0 && most / least > WIDE {
            return Self::log(values, from, to);
        }
        let high = if most > 0.0 { most * 1.02 } else { 1.0 };
        Self { low: 0.0, high, from, to, is_log: false }
    }

    /// A logarithmic axis around all positive values.
    pub fn log(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (least, most) = range(values.filter(|v| *v > 0.0));
        let (least, most) = if least > 0.0 && least.is_finite() { (least, most) } else { (1.0, 10.0) };
        // There is some room on both sides, and equal values lie in the middle.
        let room = (most / least).powf(0.04).max(1.1);
        Self { low: least / room, high: most * room, from, to, is_log: true }
    }

    /// A linear axis with exactly these ends.
    pub fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, from, to, is_log: false }
    }

    /// The position of a value; values beyond the ends lie at the ends.
    pub fn at(&self, value: f64) -> f64 {
        let share = if self.is_log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.from + share * (self.to - self.from)
    }

    /// The title of the axis, which says whether it is logarithmic.
    pub fn titled(&self, title: &str) -> String {
        if self.is_log { format!("{title} (logarithmic)") } else { title.to_owned() }
    }

    /// Whether the axis is logarithmic.
    pub fn is_log(&self) -> bool {
        self.is_log
    }

    /// Round values along the axis whose labels do not touch; `length` gives the width of a label in pixels.
    pub fn ticks(&self, length: impl Fn(f64) -> f64) -> Vec<f64> {
        let all = if self.is_log { self.log_ticks() } else { self.linear_ticks() };
        for values in all {
            let values: Vec<f64> = values.into_iter().map(round).collect();
            let ends = |v: f64| (self.at(v) - length(v) / 2.0 - 4.0, self.at(v) + length(v) / 2.0 + 4.0);
            let in_order = |pair: &[f64]| {
                let (a, b) = (ends(pair[0]), ends(pair[1]));
                a.1 <= b.0 || b.1 <= a.0
            };
            if values.windows(2).all(in_order) {
                return values;
            }
        }
        Vec::new()
    }

    /// From the closest to the widest spacing.
    fn linear_ticks(&self) -> Vec<Vec<f64>> {
        let power = 10_f64.powf(((self.high - self.low) / 20.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
        let along = |step: f64| {
            let first = (self.low / step).ceil() as i64;
            (first..first + 100).map(|k| k as f64 * step).take_while(|v| *v <= self.high).collect::<Vec<_>>()
        };
        steps.iter().map(|step| along(step * power)).filter(|values| values.len() <= 10).collect()
    }

    fn log_ticks(&self) -> Vec<Vec<f64>> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let along = |digits: &[f64], every: usize| {
            let powers = (first..=last).step_by(every);
            let values = powers.flat_map(|power| digits.iter().map(move |d| d * 10_f64.powi(power)));
            values.filter(|v| (self.low..=self.high).contains(v)).collect::<Vec<_>>()
        };
        let coarse = [(&[1.0, 2.0, 5.0][..], 1), (&[1.0, 3.0], 1), (&[1.0], 1), (&[1.0], 2), (&[1.0], 3)];
        let coarse = coarse.iter().map(|(digits, every)| along(digits, *every)).filter(|v| v.len() >= 2);
        // Less than a decade has no round powers; round steps serve as well.
        coarse.chain(self.linear_ticks()).collect()
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|v| v.is_finite());
    let bounded = finite.map(|v| v.clamp(-MOST, MOST)).map(|v| if v > 0.0 { v.max(LEAST) } else { v });
    bounded.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// A tick's value without the rounding error of its computation: 0.3 instead of 0.30000000000000004.
fn round(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_begin_at_nothing_unless_they_are_far_apart() {
        let near = Scale::for_sizes([50.0, 100.0].into_iter(), 0.0, 100.0);
        assert!(!near.is_log() && near.at(0.0) == 0.0 && (near.at(100.0) - 98.0).abs() < 0.1);
        let far = Scale::for_sizes([1.0, 1000.0].into_iter(), 0.0, 100.0);
        assert!(far.is_log() && far.at(1.0) > 0.0 && far.at(1000.0) < 100.0);
        assert!((far.at(1000.0_f64.sqrt()) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_to_draw_is_drawn_as_nothing() {
        for values in [vec![], vec![0.0], vec![f64::NAN], vec![f64::INFINITY]] {
            let scale = Scale::for_sizes(values.iter().copied(), 10.0, 20.0);
            assert!((10.0..=20.0).contains(&scale.at(f64::NAN)), "{values:?}");
            assert!((10.0..=20.0).contains(&scale.at(3.0)), "{values:?}");
            assert!((10.0..=20.0).contains(&Scale::log(values.iter().copied(), 10.0, 20.0).at(0.0)));
        }
    }

    #[test]
    fn ticks_are_what_their_digits_say() {
        let log = Scale::log([0.01, 1.0].into_iter(), 0.0, 600.0);
        assert!(log.ticks(|_| 110.0).contains(&0.3), "{:?}", log.ticks(|_| 110.0));
        let tenths = Scale::linear(0.0, 0.7, 0.0, 600.0);
        assert!(tenths.ticks(|_| 30.0).contains(&0.3), "{:?}", tenths.ticks(|_| 30.0));
    }

    #[test]
    fn ticks_are_round_and_their_labels_do_not_touch() {
        let scale = Scale::linear(0.0, 37_000.0, 0.0, 600.0);
        assert_eq!(scale.ticks(|_| 50.0), [0.0, 5e3, 1e4, 1.5e4, 2e4, 2.5e4, 3e4, 3.5e4]);
        assert_eq!(scale.ticks(|_| 170.0), [0.0, 2e4]);
        let log = Scale::log([1.0, 10_000.0].into_iter(), 0.0, 600.0);
        assert_eq!(log.ticks(|_| 90.0), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        let close = Scale::log([0.98, 1.02].into_iter(), 0.0, 600.0);
        assert!(close.ticks(|_| 30.0).len() >= 2, "{:?}", close.ticks(|_| 30.0));
    }
}
