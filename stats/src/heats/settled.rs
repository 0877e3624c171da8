//! Decides whether a server is warm. "No trend found" is no evidence: on the curve of a server that is still being compiled, a trend test
//! over eight batches finds none at half of the final rate. So the change over the last third of the load so far is estimated
//! with its bounds, and a server that is compiled while it runs is warm when these show that the change is small.
//!
//! A native server that has been loaded for a moment counts as warm unless its change is shown: to show a change below 2 %
//! takes more slices (about fifty at 2 % noise) than its warm-up should last. The counted slices are judged by [`Warmth::checked`]; of that,
//! the lab uses whether a change is shown, because a start has too few of them to show that there is none.

use super::relation::SAME;
use crate::estimate::CHANCE;
use crate::line::Line;
use crate::studentized_range::Critical;

/// A server that is compiled while it runs is warm when the upper bound of its rate's rise over the window is below this. At 2 %, slices
/// with 3 % of noise, as they have on a shared machine, would not show it within a minute, and the server would have no rank; the curve of
/// Spring Boot rises by 16 % in ten seconds when it has been loaded for half a minute.
const LEAST_RISE: f64 = 0.03;
/// The window is divided into this many batches, so that a slice that resembles the one before does not count twice. With fewer samples, no
/// change is estimated.
const BATCHES: usize = 10;
/// The share of the first warm-up that a start needs if it has settled under another load.
const ONCE_MORE: f64 = 0.3;
/// The probability that a change is seen where there is none. A dozen members and cells are judged in each heat, a drifting machine makes
/// false alarms likelier, and each of them costs a new measurement of a whole cell.
pub(super) const CHANCE_OF_ALARM: f64 = 0.002;

/// The condition under which a server of a class counts as warm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmth {
    /// The load before which it is never warm, in seconds.
    pub least_load_s: f64,
    /// The least length of the window, in seconds; it is the last third of the load so far.
    pub least_window_s: f64,
    /// Whether the change must be shown to be small; otherwise it is enough that no larger one is shown.
    pub is_shown: bool,
}

impl Warmth {
    /// Compiled ahead: caches and connections are warm after a moment.
    pub const NATIVE: Self = Self { least_load_s: 0.2, least_window_s: 0.2, is_shown: false };
    /// Compiled while it runs. Ten seconds, because compilers pause between two steps.
    pub const JIT: Self = Self { least_load_s: 10.0, least_window_s: 10.0, is_shown: true };
    /// Processes are started, or memory grows until it is collected, as load comes.
    pub const GROWING: Self = Self { least_load_s: 2.0, least_window_s: 1.0, is_shown: false };

    /// The condition under another load for a start that has already settled under one: its processes exist, and its libraries are loaded
    /// and compiled; only code that is new to it is not.
    #[must_use]
    pub fn once_more(self) -> Self {
        let least = |s: f64| s.min((s * ONCE_MORE).max(Self::NATIVE.least_load_s));
        let (load, window) = (least(self.least_load_s), least(self.least_window_s));
        Self { least_load_s: load, least_window_s: window, ..self }
    }

    /// The condition for the slices that were counted: a small change must be shown, over all of them.
    #[must_use]
    pub fn checked(self) -> Self {
        Self { least_load_s: 0.0, least_window_s: f64::INFINITY, is_shown: true }
    }
}

/// One slice (or a part of one) of the warm-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How long this server has been loaded so far, in seconds; pauses and others' turns do not count.
    pub load_s: f64,
    /// The natural logarithm of its rate, relative to the hub's at that time ([`relative_to_hub`]).
    pub log_rate: f64,
}

/// What the samples show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settling {
    /// Whether it is warm enough to be measured.
    pub is_warm: bool,
    /// Whether it was loaded for long enough, and its rate rises by little over the window as far as can be told. That is enough for a
    /// server about which it is known otherwise that nothing is being compiled any more.
    pub is_level: bool,
    /// Whether a change beyond 2 % over the window is shown, so that more load is needed.
    pub is_changing: bool,
    /// The change over the window, as a logarithm, with its bounds (95 % on each side); `None` where too little is known.
    pub change: Option<(f64, f64, f64)>,
    /// How long the load has lasted, in seconds.
    pub load_s: f64,
}

/// Judges the samples so far, in order of time.
pub fn settling(samples: &[Sample], warmth: Warmth) -> Settling {
    let sound: Vec<Sample> =
        samples.iter().copied().filter(|s| s.load_s.is_finite() && s.log_rate.is_finite()).collect();
    let load_s = sound.last().map_or(0.0, |s| s.load_s);
    let window_s = (load_s / 3.0).max(warmth.least_window_s);
    let window: Vec<Sample> = sound.into_iter().filter(|s| s.load_s >= load_s - window_s).collect();
    let trend = trend(&window);
    let change = trend.map(|trend| trend.change(CHANCE));
    let is_small = change.is_some_and(|(_, _, high)| high < LEAST_RISE);
    let shown = trend.map(|trend| trend.change(CHANCE_OF_ALARM));
    let is_changing = shown.is_some_and(|(_, low, high)| low > SAME || high < -SAME);
    let is_long = load_s >= warmth.least_load_s;
    let is_warm = is_long && if warmth.is_shown { is_small } else { !is_changing };
    let is_level = is_long && !is_changing && change.is_some_and(|(rise, ..)| rise < LEAST_RISE);
    Settling { is_warm, is_level, is_changing, change, load_s }
}

/// Judges samples whose rates are known in two ways, relative to the hub's and as they are: by the one that scatters less around its line.
/// A machine that changes its speed spoils the second, a hub whose own rate scatters spoils the first.
pub fn settling_by_either(relative: &[Sample], alone: &[Sample], warmth: Warmth) -> Settling {
    let [relative, alone] = [relative, alone].map(|samples| settling(samples, warmth));
    let width = |found: &Settling| found.change.map_or(f64::INFINITY, |(_, low, high)| high - low);
    if width(&alone) < width(&relative) { alone } else { relative }
}

/// The change over the window by a straight line through its batches.
#[derive(Clone, Copy, Debug)]
struct Trend {
    /// The change, as a logarithm.
    change: f64,
    /// Its standard error, by the scatter of the batches around the line, curvature included.
    error: f64,
}

impl Trend {
    /// The change and its bounds, each of which is exceeded with this probability.
    fn change(self, chance: f64) -> (f64, f64, f64) {
        let half = Critical::student(chance).of_difference(BATCHES as f64 - 2.0) * self.error;
        (self.change, self.change - half, self.change + half)
    }
}

fn trend(window: &[Sample]) -> Option<Trend> {
    if window.len() < BATCHES {
        return None;
    }
    let batch = |i: usize| &window[i * window.len() / BATCHES..(i + 1) * window.len() / BATCHES];
    let mean = |values: &mut dyn Iterator<Item = f64>, n: usize| values.sum::<f64>() / n as f64;
    let points: Vec<(f64, f64)> = (0..BATCHES)
        .map(|i| {
            let (samples, n) = (batch(i), batch(i).len());
            (mean(&mut samples.iter().map(|s| s.load_s), n), mean(&mut samples.iter().map(|s| s.log_rate), n))
        })
        .collect();
    let line = Line::through(&points)?;
    let length = window[window.len() - 1].load_s - window[0].load_s;
    Some(Trend { change: line.slope * length, error: line.variance.sqrt() * length })
}

/// Rates of a server relative to the hub's slices before and after each, so that a machine that changes its speed does not look
/// like a server that warms up. Both are (moment in seconds, natural logarithm of the rate), in order of time; values between two slices of
/// the hub are interpolated. Rates stay as they are where the hub has no slice.
pub fn relative_to_hub(rates: &[(f64, f64)], hub: &[(f64, f64)]) -> Vec<f64> {
    let level = |at: f64| {
        let after = hub.partition_point(|h| h.0 < at);
        let (before, after) = (after.checked_sub(1).and_then(|i| hub.get(i)), hub.get(after));
        match (before, after) {
            (Some(b), Some(a)) if a.0 > b.0 => b.1 + (a.1 - b.1) * (at - b.0) / (a.0 - b.0),
            (Some(h), _) | (None, Some(h)) => h.1,
            (None, None) => 0.0,
        }
    };
    rates.iter().map(|(at, log)| log - level(*at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;
    use proptest::prelude::*;

    /// Slices of 100 ms up to this number of seconds of load, with noise of this deviation.
    fn course(seconds: f64, noise: f64, seed: u64, rate: impl Fn(f64) -> f64) -> Vec<Sample> {
        let gauss = |k: u64| (0..12).map(|i| uniform(seed, k * 12 + i)).sum::<f64>() - 6.0;
        let sample = |k: u64| {
            let load_s = (k + 1) as f64 / 10.0;
            Sample { load_s, log_rate: rate(load_s).ln() + noise * gauss(k) }
        };
        (0..(seconds * 10.0).round() as u64).map(sample).collect()
    }

    /// When it is first called warm, judged every second up to two minutes.
    fn warm_at(warmth: Warmth, noise: f64, seed: u64, rate: impl Fn(f64) -> f64) -> Option<u32> {
        (1..=120).find(|s| settling(&course(f64::from(*s), noise, seed, &rate), warmth).is_warm)
    }

    /// As measured: 2,000/s in the first second, 20,000 in the eleventh, 30,000 in the thirtieth, 48,000 in the sixtieth.
    fn spring_boot(s: f64) -> f64 {
        let points = [(0.5, 2e3), (10.5, 20e3), (29.5, 30e3), (59.5, 48e3), (90.0, 60e3), (100.0, 60e3)];
        let next = points.iter().position(|p| p.0 > s).unwrap_or(points.len() - 1).max(1);
        let ((x, y), (x2, y2)) = (points[next - 1], points[next]);
        if s >= x2 { y2 } else { y + (y2 - y) * ((s - x) / (x2 - x)).max(0.0) }
    }

    /// Netty as measured: a new level each second, the last from the sixth on.
    fn netty(s: f64) -> f64 {
        [18e3, 40e3, 50e3, 61e3, 87e3, 136e3][(s as usize).min(5)]
    }

    #[test]
    fn spring_boot_is_not_called_warm_while_it_is_still_being_compiled() {
        for seed in 0..20 {
            for noise in [0.0, 0.01, 0.03, 0.08] {
                let at = warm_at(Warmth::JIT, noise, seed, spring_boot);
                assert!(at.is_none_or(|s| s >= 90), "called warm after {at:?} s with {noise} of noise");
            }
        }
    }

    #[test]
    fn netty_is_called_warm_soon_after_it_is() {
        for seed in 0..20 {
            let at = warm_at(Warmth::JIT, 0.02, seed, netty).unwrap();
            assert!((14..=26).contains(&at), "after {at} s");
        }
    }

    #[test]
    fn a_level_rate_is_warm_at_once_if_native_and_after_ten_seconds_if_managed() {
        let flat = |_: f64| 1e5;
        for seed in 0..40 {
            assert_eq!(warm_at(Warmth::NATIVE, 0.03, seed, flat), Some(1));
            let managed = warm_at(Warmth::JIT, 0.02, seed, flat).unwrap();
            assert!((10..=30).contains(&managed), "after {managed} s");
        }
        assert!(!settling(&course(0.1, 0.02, 1, flat), Warmth::NATIVE).is_warm);
    }

    #[test]
    fn noise_that_hides_a_change_is_not_warmth() {
        let early = settling(&course(12.0, 0.3, 3, |_| 1e5), Warmth::JIT);
        assert!(!early.is_warm && !early.is_changing, "{early:?}");
    }

    #[test]
    fn a_native_server_that_still_rises_is_seen_and_so_is_one_that_falls() {
        for (rate, sign) in [(0.2, 1.0), (-0.2, -1.0)] {
            let found = settling(&course(6.0, 0.02, 1, |s| 1e5 * (1.0 + rate * s / 2.0)), Warmth::NATIVE);
            assert!(
                found.is_changing && !found.is_warm && found.change.unwrap().0 * sign > 0.05,
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_machine_of_two_speeds_does_not_look_like_warming_up() {
        // The hub's slices are 0.35 s before and after; the machine changes its speed every 21 s.
        let speed = |at: f64| if ((at / 21.0) as u32).is_multiple_of(2) { 0.0 } else { -0.25 };
        let noise = |seed: u64, k: u64| 0.05 * (uniform(seed, k) - 0.5);
        let rates: Vec<(f64, f64)> =
            (0..400).map(|k| (0.7 * k as f64, 11.0 + speed(0.7 * k as f64) + noise(1, k))).collect();
        let hub: Vec<(f64, f64)> = (0..400)
            .map(|k| 0.7 * f64::from(k) + 0.35)
            .enumerate()
            .map(|(k, at)| (at, 10.0 + speed(at) + noise(2, k as u64)))
            .collect();
        // Asked after every second of load.
        let is_ever_warm = |logs: &[f64]| {
            let sample = |(k, log): (usize, &f64)| Sample { load_s: 0.1 * (k + 1) as f64, log_rate: *log };
            let so_far = |n: usize| logs[..n].iter().enumerate().map(sample).collect::<Vec<_>>();
            (100..=400).step_by(10).any(|n| settling(&so_far(n), Warmth::JIT).is_warm)
        };
        let relative = relative_to_hub(&rates, &hub);
        let mean = relative.iter().sum::<f64>() / relative.len() as f64;
        assert!((mean - 1.0).abs() < 0.003, "{mean}");
        assert!(is_ever_warm(&relative));
        let alone: Vec<f64> = rates.iter().map(|r| r.1).collect();
        assert!(!is_ever_warm(&alone), "without the hub it can't be told");
        assert_eq!(relative_to_hub(&rates[..2], &[]), alone[..2]);
    }

    #[test]
    fn counted_slices_that_still_rise_are_found() {
        let check = |rise: f64, seed| {
            let samples = course(6.0, 0.02, seed, |s| 1e5 * (rise * s / 6.0).exp());
            settling(&samples, Warmth::NATIVE.checked())
        };
        let warm = |rise: f64| (0..100).filter(|seed| check(rise, *seed).is_warm).count();
        let changing = |rise: f64| (0..100).filter(|seed| check(rise, *seed).is_changing).count();
        assert!(warm(0.03) <= 5 && warm(0.10) == 0, "{} {}", warm(0.03), warm(0.10));
        assert!(changing(0.0) <= 2 && changing(0.10) >= 98, "{} {}", changing(0.0), changing(0.10));
    }

    #[test]
    fn slices_that_scatter_by_3_per_cent_show_within_half_a_minute_that_nothing_rises() {
        let at: Vec<u32> =
            (0..40).map(|seed| warm_at(Warmth::JIT, 0.03, seed, |_| 1e5).unwrap_or(120)).collect();
        let mut sorted = at.clone();
        sorted.sort_unstable();
        assert!(sorted[20] <= 15 && sorted[36] <= 35, "{sorted:?}");
        // One that still rises by a tenth in ten seconds is not taken for warm, and seldom for level.
        let rising = |seed| course(12.0, 0.03, seed, |s| 1e5 * (0.01 * s).exp());
        let found = |seed| settling(&rising(seed), Warmth::JIT);
        assert!((0..40).all(|seed| !found(seed).is_warm && !found(seed).is_level));
        let level = |seed| settling(&course(12.0, 0.06, seed, |_| 1e5), Warmth::JIT).is_level;
        assert!((0..40).filter(|seed| level(*seed)).count() >= 30);
    }

    #[test]
    fn a_start_that_had_settled_under_one_load_needs_less_under_another() {
        for warmth in [Warmth::NATIVE, Warmth::JIT, Warmth::GROWING] {
            let again = warmth.once_more();
            assert!(again.least_load_s <= warmth.least_load_s && again.least_load_s >= 0.2, "{again:?}");
            assert!(again.least_window_s >= 0.2 && again.is_shown == warmth.is_shown);
        }
        assert!((Warmth::JIT.once_more().least_load_s - 3.0).abs() < 1e-9);
        assert_eq!(Warmth::NATIVE.once_more(), Warmth::NATIVE);
    }

    #[test]
    fn bounds_of_a_change_are_those_of_a_line_through_ten_batches() {
        // From a table: Student's t with 8 degrees of freedom is above 1.860 with a probability of 5 %.
        let (change, low, high) = Trend { change: 0.1, error: 0.01 }.change(CHANCE);
        assert!(change == 0.1 && (low - 0.0814).abs() < 1e-4 && (high - 0.1186).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn the_way_that_scatters_less_decides() {
        let (steady, wild) = (course(12.0, 0.01, 1, |_| 1e5), course(12.0, 0.2, 2, |_| 1e5));
        for [one, other] in [[&steady, &wild], [&wild, &steady]] {
            let found = settling_by_either(one, other, Warmth::JIT);
            assert_eq!(found, settling(&steady, Warmth::JIT));
        }
        assert!(settling_by_either(&wild, &[], Warmth::JIT).change.is_some());
    }

    proptest! {
        #[test]
        fn no_course_panics(values in prop::collection::vec((any::<f64>(), any::<f64>()), 0..60)) {
            let samples: Vec<Sample> = values.iter().map(|(load_s, log_rate)| Sample { load_s: *load_s, log_rate: *log_rate }).collect();
            for warmth in [Warmth::NATIVE, Warmth::JIT, Warmth::NATIVE.checked()] {
                let _ = settling(&samples, warmth);
            }
            prop_assert_eq!(relative_to_hub(&values, &values).len(), values.len());
        }
    }
}
