//! Keeps a thread busy for a known time.

use net::clock;

/// Keeps a thread busy for a time by the clock: on average exactly this time, whatever interrupts it, because a spin that lasted too long
/// makes the next ones shorter.
#[derive(Clone, Copy, Debug)]
pub struct Spin {
    /// The time that the loop checks for: the whole time less what it costs to begin, check and end.
    loop_ns: u64,
    /// How much longer the spins so far lasted than they should have.
    debt_ns: u64,
}

/// How often the loop is timed to know its own cost.
const CALIBRATIONS: u64 = 1000;

impl Spin {
    /// A spin that is calibrated on this thread, so that it lasts `busy_ns` on average. `None` for no time at all.
    pub fn calibrated(busy_ns: u64) -> Option<Self> {
        let mut trial = Self { loop_ns: busy_ns.min(1000), debt_ns: 0 };
        let start_ns = clock::now_ns();
        (0..CALIBRATIONS).for_each(|_| trial.run());
        let excess_ns = ((clock::now_ns() - start_ns) / CALIBRATIONS).saturating_sub(trial.loop_ns);
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
        self.debt_ns = now_ns + self.debt_ns - owed_ns;
    }
}
