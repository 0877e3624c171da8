//! Pauses in which a whole thread answers nothing.

use net::clock;
use std::time::Duration;

/// A stall: nothing is answered in the last part of every period, counted from the server's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The length of a pause.
    pub pause: Duration,
    /// The time from one pause to the next.
    pub period: Duration,
    /// For how long, from the server's start, there are such pauses; `None`: without end.
    pub lasts: Option<Duration>,
}

/// The length of the last part of a pause, which is spent awake.
const AWAKE_NS: u64 = 1_000_000;

impl Stall {
    /// The rest of the pause at `now_ns`, if there is one.
    pub fn left_ns(&self, origin_ns: u64, now_ns: u64) -> Option<u64> {
        let period_ns = clock::ns_of(self.period);
        let age_ns = now_ns.saturating_sub(origin_ns);
        let at = age_ns % period_ns;
        let is_pause = at >= period_ns - clock::ns_of(self.pause);
        let end_ns = self.lasts.map_or(u64::MAX, clock::ns_of);
        let left_ns = (period_ns - at).min(end_ns.saturating_sub(age_ns));
        (is_pause && left_ns > 0).then_some(left_ns)
    }

    /// Sleeps through the pause, if there is one. Its end is waited for awake, because a sleeper is woken late, and the pause would be
    /// longer than requested.
    pub fn sleep(&self, origin_ns: u64) {
        while let Some(left_ns) = self.left_ns(origin_ns, clock::now_ns()) {
            match left_ns.checked_sub(AWAKE_NS) {
                Some(asleep_ns) if asleep_ns > 0 => std::thread::sleep(Duration::from_nanos(asleep_ns)),
                _ => std::hint::spin_loop(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// What is left of a pause, this number of milliseconds after the start.
    fn left_ms(stall: &Stall, at_ms: u64) -> Option<u64> {
        stall.left_ns(5 * MS, (5 + at_ms) * MS).map(|left| left / MS)
    }

    #[test]
    fn a_stall_is_the_last_part_of_every_period() {
        let (pause, period) = (Duration::from_millis(100), Duration::from_secs(1));
        let stall = Stall { pause, period, lasts: None };
        assert_eq!(
            [0, 899, 900, 999, 1000, 1950].map(|at| left_ms(&stall, at)),
            [None, None, Some(100), Some(1), None, Some(50)]
        );
    }

    #[test]
    fn a_stall_that_ends_ends_in_the_midst_of_a_pause_too() {
        let (pause, period) = (Duration::from_millis(100), Duration::from_secs(1));
        let stall = Stall { pause, period, lasts: Some(Duration::from_millis(1950)) };
        assert_eq!(
            [900, 1900, 1949, 1950, 1999, 2900].map(|at| left_ms(&stall, at)),
            [Some(100), Some(50), Some(1), None, None, None]
        );
    }
}
