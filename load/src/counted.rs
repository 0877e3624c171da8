//! What a worker has counted, in the form in which it is handed over: what takes time or memory to work out is left to
//! the thread that takes it.

use model::Tally;

/// Statuses have three digits.
pub const STATUSES: usize = 1000;

/// The counts of a window, or of a part of a slice.
#[derive(Debug)]
pub struct Counted {
    /// The counts, but for what [`Counted::complete`] adds.
    pub tally: Tally,
    /// Whole answers by status; an array because it is written per answer.
    pub status: Box<[u64]>,
}

impl Counted {
    /// Nothing; all memory is taken here, but for connections beyond what was seen before.
    pub fn new() -> Self {
        let status = vec![0; STATUSES].into_boxed_slice();
        Self { tally: Tally::default(), status }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.tally.clear();
        self.status.fill(0);
    }

    /// Completes the tally: answers by status.
    pub fn complete(&mut self) {
        let seen = self.status.iter().zip(0..).filter(|(n, _)| **n > 0);
        self.tally.status = seen.map(|(n, status)| (status, *n)).collect();
    }
}
