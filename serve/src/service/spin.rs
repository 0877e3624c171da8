//! Keeps a thread busy for a known time.

use net::clock;

/// Keeps a thread busy for a time by the clock: on average exactly this time, because a spin that lasted too long makes the next one
/// shorter. Only what interrupts the thread for longer than a spin is not made up for, as it would not shorten the work of a real server.
#[derive(Clone, Copy, Debug)]
pub struct Spin {
    /// The time that the loop checks for: the whole time less what it costs to begin, check and end.
    loop_ns: u64,
    /// How much longer the spins so far lasted than they should have.
    debt_ns: u64,
}

/// How many batches of spins are timed to know what a spin costs.
const BATCHES: u64 = 20;

/// The number of spins in a batch.
const BATCH: u64 = 50;

impl Spin {
    /// A spin that is calibrated on this thread, so that it lasts `busy_ns` on average. `None` for no time at all.
    pub fn calibrated(busy_ns: u64) -> Option<Self> {
        let loop_ns = busy_ns.min(1000);
        let batch = |_| {
            let mut trial = Self { loop_ns, debt_ns: 0 };
            let start_ns = clock::now_ns();
            (0..BATCH).for_each(|_| trial.run());
            (clock::now_ns() - start_ns) / BATCH
        };
        let excess_ns = excess_ns((0..BATCHES).map(batch), loop_ns);
        (busy_ns > 0).then(|| Self { loop_ns: busy_ns.saturating_sub(excess_ns), debt_ns: 0 })
    }

    /// Keeps the thread busy once.
    #[inline]
    pub fn run(&mut self) {
        let start_ns = clock::now_ns();
        let owed_ns = self.loop_ns + start_ns;
        let mut now_ns = start_ns;
        while now_ns + self.debt_ns < owed_ns {
            std::hint::spin_loop();
            now_ns = clock::now_ns();
        }
        self.debt_ns = debt_ns(now_ns + self.debt_ns - owed_ns, self.loop_ns);
    }
}

/// What a spin costs beyond its loop, by the time per spin of each batch. Interruptions only make a batch longer, so the shortest counts: in
/// the mean of a thousand spins, an interruption of 3 ms would look like 3 µs for each, and that server would spin too short ever after.
fn excess_ns(batches_ns: impl Iterator<Item = u64>, loop_ns: u64) -> u64 {
    batches_ns.min().unwrap_or(0).saturating_sub(loop_ns)
}

/// How much of what a spin lasted too long is taken off the next ones. Taking off milliseconds would make a server faster for hundreds of
/// requests after a moment of background load: in turns that count, although the moment was in one that does not.
fn debt_ns(over_ns: u64, loop_ns: u64) -> u64 {
    over_ns.min(loop_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_changes_neither_the_calibration_nor_more_than_one_spin() {
        let quiet = [1_045, 1_043, 1_044];
        assert_eq!(excess_ns(quiet.into_iter(), 1_000), 43);
        let interrupted = [1_045, 81_000, 1_043, 4_100];
        assert_eq!(excess_ns(interrupted.into_iter(), 1_000), 43);
        assert_eq!((debt_ns(30, 20_000), debt_ns(4_000_000, 20_000)), (30, 20_000));
    }
}
