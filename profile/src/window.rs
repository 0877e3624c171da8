//! The time in which samples count.

use net::clock;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The time in which samples count. Opening and closing it costs next to nothing, so a load generator can do it at the edges of its
/// measurement; the kernel gives each sample its time. Clones share the times.
#[derive(Clone, Debug)]
pub struct Window(Arc<Edges>);

/// Times of the monotonic clock, in nanoseconds.
#[derive(Debug)]
struct Edges {
    opened_ns: AtomicU64,
    closed_ns: AtomicU64,
}

impl Window {
    /// Every sample counts.
    pub fn always() -> Self {
        Self::between(0, u64::MAX)
    }

    /// No sample counts before it is opened.
    pub fn closed() -> Self {
        Self::between(u64::MAX, u64::MAX)
    }

    /// Samples from now on count.
    pub fn open(&self) {
        self.0.closed_ns.store(u64::MAX, Ordering::Relaxed);
        self.0.opened_ns.store(clock::now_ns(), Ordering::Relaxed);
    }

    /// Samples from now on do not count.
    pub fn close(&self) {
        self.0.closed_ns.store(clock::now_ns(), Ordering::Relaxed);
    }

    /// Whether a sample taken at this time counts.
    pub(crate) fn contains(&self, time_ns: u64) -> bool {
        (self.0.opened_ns.load(Ordering::Relaxed)..=self.0.closed_ns.load(Ordering::Relaxed))
            .contains(&time_ns)
    }

    fn between(opened_ns: u64, closed_ns: u64) -> Self {
        Self(Arc::new(Edges { opened_ns: AtomicU64::new(opened_ns), closed_ns: AtomicU64::new(closed_ns) }))
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::always()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_between_the_edges() {
        assert!(Window::always().contains(0) && Window::always().contains(clock::now_ns()));
        let window = Window::closed();
        let before_ns = clock::now_ns();
        assert!(!window.contains(before_ns));
        window.clone().open();
        let within_ns = clock::now_ns();
        assert!(window.contains(within_ns) && !window.contains(before_ns.saturating_sub(1)));
        window.close();
        assert!(window.contains(within_ns) && !window.contains(clock::now_ns() + 1_000_000_000));
    }
}
