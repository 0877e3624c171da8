//! Known truths: a server that is worse than it could be, by exactly so much.

use net::clock;
use std::str::FromStr;
use std::time::Duration;

/// Answers nothing for the last part of every period, counted from the server's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// How long it answers nothing.
    pub pause: Duration,
    /// How often.
    pub period: Duration,
}

/// A fault that can't be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fault: write stall=100ms/1s, the pause shorter than the period")]
pub struct FaultError(String);

impl FromStr for Stall {
    type Err = FaultError;

    /// Reads `stall=100ms/1s`.
    fn from_str(text: &str) -> Result<Self, FaultError> {
        let error = || FaultError(text.to_owned());
        let (pause, period) =
            text.strip_prefix("stall=").and_then(|t| t.split_once('/')).ok_or_else(error)?;
        let read = |t: &str| humantime::parse_duration(t).map_err(|_| error());
        let stall = Self { pause: read(pause)?, period: read(period)? };
        if stall.pause.is_zero() || stall.pause >= stall.period { Err(error()) } else { Ok(stall) }
    }
}

impl Stall {
    /// How long the pause still lasts at `now_ns`, if there is one.
    pub fn left_ns(&self, origin_ns: u64, now_ns: u64) -> Option<u64> {
        let period_ns = self.period.as_nanos() as u64;
        let at = now_ns.saturating_sub(origin_ns) % period_ns;
        (at >= period_ns - self.pause.as_nanos() as u64).then(|| period_ns - at)
    }

    /// Sleeps through the pause, if there is one.
    pub fn sleep(&self, origin_ns: u64) {
        while let Some(left_ns) = self.left_ns(origin_ns, clock::now_ns()) {
            std::thread::sleep(Duration::from_nanos(left_ns));
        }
    }
}

/// Is busy for a time, by the clock: so long on average, whatever interrupts it, since what one spin lasted
/// too long the next ones make up for.
#[derive(Clone, Copy, Debug)]
pub struct Spin {
    /// How long the loop looks for; less than the whole by what it costs to begin, look and end.
    loop_ns: u64,
    /// How much longer the spins so far lasted than they should have.
    debt_ns: u64,
}

/// How often the loop is timed to know its own cost.
const CALIBRATIONS: u64 = 1000;

impl Spin {
    /// Calibrated on this thread, so that a spin lasts `busy_ns` on average. `None` for no time at all.
    pub fn calibrated(busy_ns: u64) -> Option<Self> {
        let mut trial = Self { loop_ns: busy_ns.min(1000), debt_ns: 0 };
        let start_ns = clock::now_ns();
        (0..CALIBRATIONS).for_each(|_| trial.run());
        let excess_ns = ((clock::now_ns() - start_ns) / CALIBRATIONS).saturating_sub(trial.loop_ns);
        (busy_ns > 0).then(|| Self { loop_ns: busy_ns.saturating_sub(excess_ns), debt_ns: 0 })
    }

    /// Spins.
    #[inline]
    pub fn run(&mut self) {
        let start_ns = clock::now_ns();
        let owed_ns = self.loop_ns + start_ns;
        let mut now_ns = start_ns;
        while now_ns + self.debt_ns < owed_ns {
            std::hint::spin_loop();
            now_ns = clock::now_ns();
        }
        self.debt_ns = now_ns + self.debt_ns - owed_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_is_the_last_part_of_every_period() {
        let stall: Stall = "stall=100ms/1s".parse().unwrap();
        let ms = 1_000_000;
        let at = |t: u64| stall.left_ns(5 * ms, 5 * ms + t * ms);
        assert_eq!(
            [at(0), at(899), at(900), at(999), at(1000), at(1950)],
            [None, None, Some(100 * ms), Some(ms), None, Some(50 * ms)]
        );
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for bad in
            ["", "stall", "stall=", "stall=1s", "stall=1s/1s", "stall=0s/1s", "stall=x/1s", "melt=1s/2s"]
        {
            assert!(bad.parse::<Stall>().is_err(), "{bad}");
        }
    }
}
