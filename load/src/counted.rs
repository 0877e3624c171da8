//! The counts of a worker, in the form in which they are handed over: what takes time or memory to work out is left to the
//! thread that receives them.

use model::Tally;
use stats::Histogram;

/// The number of possible statuses, which have three digits.
pub const STATUSES: usize = 1000;

/// The ages in [`Tally::latency`] of requests that timed out; most measurements have none.
pub type Ages = Option<Box<Histogram>>;

/// The counts of a window, or of a part of a slice.
#[derive(Debug)]
pub struct Counted {
    /// The counts, without what [`Counted::complete`] adds.
    pub tally: Tally,
    /// The number of whole answers by status; an array because it is written per answer.
    pub status: Box<[u64]>,
    /// The ages of requests that timed out, since the last interval of a series ended.
    pub ages: Ages,
}

impl Default for Counted {
    /// Empty counts; all memory is allocated here, except for connections beyond those seen before.
    fn default() -> Self {
        let status = vec![0; STATUSES].into_boxed_slice();
        Self { tally: Tally::default(), status, ages: None }
    }
}

impl Counted {
    /// Clears all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.tally.clear();
        self.status.fill(0);
        self.ages = None;
    }

    /// Completes the tally with the answers by status; some protocols have none.
    pub fn complete(&mut self) {
        let seen = self.status.iter().zip(0..).skip(1).filter(|(n, _)| **n > 0);
        self.tally.status = seen.map(|(n, status)| (status, *n)).collect();
    }
}
