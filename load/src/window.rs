//! The measured window: it opens after the warm-up and closes when the plan says so. It knows its times, and what is recorded in
//! steps of it; everything else is counted in the accounts.

use crate::pulse::Pulse;
use model::{Beat, Plan, Until};
use net::clock;

/// The times of the window.
#[derive(Debug)]
pub struct Window {
    start_ns: u64,
    end_ns: u64,
    is_open: bool,
    duration_ns: u64,
    pulse: Option<Pulse>,
}

impl Window {
    /// A window that opens when the warm-up, which begins at `now_ns`, is over.
    pub fn new(plan: &Plan, now_ns: u64) -> Self {
        let duration_ns = match plan.until {
            Until::Elapsed(duration) => clock::ns_of(duration),
            Until::Answered(_) | Until::Closed(_) => u64::MAX,
        };
        Self {
            start_ns: now_ns.saturating_add(clock::ns_of(plan.warmup)),
            end_ns: u64::MAX,
            is_open: false,
            duration_ns,
            pulse: plan.pulse.map(Pulse::new),
        }
    }

    /// A window that opens and closes on orders: the counted part of slices.
    pub fn on_orders() -> Self {
        let never = u64::MAX;
        Self { start_ns: never, end_ns: never, is_open: false, duration_ns: never, pulse: None }
    }

    /// Closes it; it can be opened again.
    pub fn close(&mut self) {
        *self = Self::on_orders();
    }

    /// Whether it is open.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether it is to open now.
    #[inline]
    pub fn is_due(&self, now_ns: u64) -> bool {
        !self.is_open && now_ns >= self.start_ns
    }

    /// Whether it is over.
    #[inline]
    pub fn is_over(&self, now_ns: u64) -> bool {
        now_ns >= self.end_ns
    }

    /// When it opens, if it has not yet, else when it closes; never, where answers end it.
    pub fn edge_ns(&self) -> u64 {
        if self.is_open { self.end_ns } else { self.start_ns }
    }

    /// The moment when it closed, or now.
    pub fn end_ns(&self, now_ns: u64) -> u64 {
        now_ns.min(self.end_ns)
    }

    /// How long it has been open, up to its end.
    pub fn duration_ns(&self, now_ns: u64) -> u64 {
        self.end_ns(now_ns).saturating_sub(self.start_ns)
    }

    /// Opens it.
    pub fn open(&mut self, now_ns: u64) {
        self.is_open = true;
        self.start_ns = now_ns;
        self.end_ns = now_ns.saturating_add(self.duration_ns);
        if let Some(pulse) = &mut self.pulse {
            pulse.open(now_ns);
        }
    }

    /// Closes the steps that are due; returns the next deadline. `answers`: the number of answers so far.
    pub fn tick(&mut self, now_ns: u64, answers: u64) -> u64 {
        self.pulse.as_mut().map_or(u64::MAX, |pulse| pulse.tick(now_ns, answers))
    }

    /// The steps of the whole window.
    pub fn finish(self) -> Vec<Beat> {
        self.pulse.map_or_else(Vec::new, Pulse::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Ask, Load, Target};
    use std::time::Duration;

    #[test]
    fn the_longest_times_that_can_be_asked_for_do_not_end_at_once() {
        // In nanoseconds, 0.3 s more than 64 bits hold.
        let longest = Duration::from_secs(18_446_744_074);
        let target = Target::resolve("http://127.0.0.1:1/").unwrap();
        let load = Load::Closed { connections: 1, per_connection: None };
        let mut plan = Plan::new(target, Ask::default(), load, Until::Elapsed(longest));
        let year_ns = 365 * 86_400 * 1_000_000_000;
        let mut window = Window::new(&plan, 1);
        window.open(1);
        assert!(!window.is_over(year_ns));
        plan.warmup = longest;
        assert!(!Window::new(&plan, 1).is_due(year_ns));
    }
}
