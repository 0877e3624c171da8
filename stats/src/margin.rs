//! Judges a change of speed against the slowdown that is allowed. Pure.

/// What an interval says about a margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The whole interval is beyond the margin: certainly too slow.
    Beyond,
    /// The whole interval is within the margin: certainly not too slow.
    Within,
    /// The margin lies in the interval.
    Open,
}

/// Judges the interval of a ratio of speeds, new divided by old (less than 1 is slower); `margin` is the share of its speed that the new
/// one may lose.
pub fn judge(speed: (f64, f64), margin: f64) -> Judged {
    let (low, high) = speed;
    let least = 1.0 - margin;
    if high < least {
        Judged::Beyond
    } else if low >= least {
        Judged::Within
    } else {
        Judged::Open
    }
}

/// The smallest slowdown that a measurement as precise as this one is expected to show: an estimate there has an interval of the
/// same relative width, and all of it is beyond the margin. A share of the old speed.
pub fn smallest_shown(median: f64, high: f64, margin: f64) -> f64 {
    let above = (high / median).max(1.0);
    1.0 - (1.0 - margin) / above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_interval_decides() {
        assert_eq!(judge((0.93, 0.97), 0.02), Judged::Beyond);
        assert_eq!(judge((0.985, 1.01), 0.02), Judged::Within);
        assert_eq!(judge((1.1, 1.2), 0.02), Judged::Within, "faster is not slower");
        assert_eq!(judge((0.97, 0.99), 0.02), Judged::Open);
        assert_eq!(judge((0.98, 0.99), 0.02), Judged::Within, "the margin itself is allowed");
        assert_eq!(judge((f64::NAN, f64::NAN), 0.02), Judged::Open);
    }

    #[test]
    fn what_is_just_shown_is_beyond_the_margin_and_what_is_less_is_not() {
        for (half, margin) in [(0.01, 0.02), (0.2, 0.0), (0.0, 0.05)] {
            let least = smallest_shown(1.0, 1.0 + half, margin);
            let interval = |slowdown: f64| ((1.0 - slowdown) / (1.0 + half), (1.0 - slowdown) * (1.0 + half));
            assert_eq!(judge(interval(least + 1e-9), margin), Judged::Beyond);
            assert_ne!(judge(interval(least - 1e-9), margin), Judged::Beyond);
        }
        assert!((smallest_shown(0.5, 0.505, 0.02) - 0.0297).abs() < 1e-4);
    }
}
