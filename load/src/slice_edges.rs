//! The two moments that all workers share in a slice: when its counted part begins, and when it ends. They are read once a pass
//! and written twice a slice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// A moment that is not agreed on yet.
const UNKNOWN: u64 = u64::MAX;

/// The edges of the counted part of a slice, on which its workers agree.
#[derive(Debug, Default)]
pub struct SliceEdges {
    workers: usize,
    ready: AtomicUsize,
    /// Whether some worker's connections have been answered in the slice's first part.
    is_served: AtomicBool,
    /// How many workers have enough answers.
    content: AtomicUsize,
    begins_ns: AtomicU64,
    ends_ns: AtomicU64,
    stop: Arc<AtomicBool>,
}

impl SliceEdges {
    /// Edges for slices with this number of workers, none agreed on yet; setting `stop` ends any slice early.
    pub fn new(workers: usize, stop: Arc<AtomicBool>) -> Self {
        let edges = Self { workers, stop, ..Self::default() };
        edges.renew();
        edges
    }

    /// Clears the last slice. Only while no worker is in one.
    pub fn renew(&self) {
        self.ready.store(0, Ordering::Relaxed);
        self.is_served.store(false, Ordering::Relaxed);
        self.content.store(0, Ordering::Relaxed);
        self.begins_ns.store(UNKNOWN, Ordering::Relaxed);
        self.ends_ns.store(UNKNOWN, Ordering::Release);
    }

    /// Counts one more worker that could begin to count, whose connections have been answered or not. With the last worker the counted
    /// part begins at `begins_ns`.
    pub fn ready(&self, begins_ns: u64, is_served: bool) {
        self.is_served.fetch_or(is_served, Ordering::Relaxed);
        if self.ready.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.begins_ns.store(begins_ns, Ordering::Release);
        }
    }

    /// When the counted part begins, if that is known.
    pub fn begins_ns(&self) -> Option<u64> {
        Some(self.begins_ns.load(Ordering::Acquire)).filter(|ns| *ns != UNKNOWN)
    }

    /// Whether any worker's connections had been answered by the time when the counted part begins.
    pub fn is_served(&self) -> bool {
        self.is_served.load(Ordering::Relaxed)
    }

    /// Counts one more worker with enough answers. With the last worker the counted part ends at `ends_ns`.
    pub fn content(&self, ends_ns: u64) {
        if self.content.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.end(ends_ns);
        }
    }

    /// Lets the counted part end at `ends_ns`, if it does not end earlier.
    pub fn end(&self, ends_ns: u64) {
        self.ends_ns.fetch_min(ends_ns, Ordering::AcqRel);
    }

    /// When the counted part ends; `u64::MAX`: that is not known yet.
    #[inline]
    pub fn ends_ns(&self) -> u64 {
        self.ends_ns.load(Ordering::Acquire)
    }

    /// Whether the slice is to end at once.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_says_when() {
        let edges = SliceEdges::new(2, Arc::default());
        for _ in 0..2 {
            edges.renew();
            edges.ready(10, true);
            assert_eq!(edges.begins_ns(), None);
            edges.ready(12, false);
            assert!(edges.is_served());
            assert_eq!((edges.begins_ns(), edges.ends_ns()), (Some(12), UNKNOWN));
            edges.content(30);
            edges.content(40);
            assert_eq!(edges.ends_ns(), 40);
        }
    }

    #[test]
    fn the_earlier_end_holds() {
        for (first, second) in [(40, 30), (30, 40)] {
            let edges = SliceEdges::new(1, Arc::default());
            edges.end(first);
            edges.content(second);
            assert_eq!(edges.ends_ns(), 30);
        }
    }
}
