//! The counts of one slice: one server's turn under load among several live ones.

use crate::errors::{Errors, add_causes};
use crate::tally::Tally;
use std::collections::BTreeMap;

/// The counts of one slice, over all workers. Moments are nanoseconds of the monotonic clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceTally {
    /// The index of its target in the load generator.
    pub target: usize,
    /// The counted part. In closed load [`Tally::rate_per_s`] uses [`common_time_ns`].
    pub tally: Tally,
    /// When the first request of the slice was sent; `None`: the slice was stopped before that.
    pub began_ns: Option<u64>,
    /// When the counted part began, for the first worker; `None`: it did not.
    pub opened_ns: Option<u64>,
    /// When the counted part ended, for the last worker.
    pub closed_ns: Option<u64>,
    /// When the last answer came that was waited for: from then on there is no load, as far as answers show.
    pub ended_ns: u64,
    /// The rest of the slice: its first part, and the wait for the last answers.
    pub uncounted: Uncounted,
    /// Requests without a whole answer when the slice was over. They stay on their connections, and their answers are
    /// read, uncounted, when this target's next slice begins.
    pub carried_over: u64,
    /// Whether the counted part ended at its limit, for some worker: there were too few answers, or none any more.
    pub is_cut: bool,
    /// How long the workers' own clocks stood still in the counted part, in all, because something else ran in their place. Known only for
    /// workers that never sleep.
    pub held_up_ns: Option<u64>,
}

impl SliceTally {
    /// Clears all counts and keeps the allocated memory, because histograms are large.
    pub fn clear(&mut self) {
        self.tally.clear();
        self.uncounted.clear();
        (self.began_ns, self.opened_ns, self.closed_ns, self.ended_ns) = (None, None, None, 0);
        (self.target, self.carried_over, self.is_cut, self.held_up_ns) = (0, 0, false, None);
    }
}

/// The counts of a slice outside of its counted part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// The number of answers that were complete and as expected, late ones to requests of an earlier slice included.
    pub completed: u64,
    /// The errors by kind.
    pub errors: Errors,
    /// The causes of errors, in words, and how often each occurred.
    pub error_causes: BTreeMap<String, u64>,
    /// The number of connections opened: in later slices, those that the server had closed meanwhile, or closes after an answer.
    pub connections_opened: u64,
}

impl Uncounted {
    /// Adds the counts of another worker.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        self.errors.merge(&other.errors);
        add_causes(&mut self.error_causes, &other.error_causes);
        self.connections_opened += other.connections_opened;
    }

    /// Clears all counts.
    pub fn clear(&mut self) {
        (self.completed, self.errors, self.connections_opened) = (0, Errors::default(), 0);
        self.error_causes.clear();
    }
}

/// The time that belongs to the answers of several workers, each of which counted `answers` in a time of its own, in
/// nanoseconds: the harmonic mean of the times, weighted by answers. So `sum of answers / common time` is the sum of the
/// workers' rates, and no rate is averaged over workers that answered nothing. Without any answer it is the longest time.
///
/// A worker's time runs from the first answer after a moment that all workers share to the first answer at or after
/// another such moment; the answers after the former, up to and with the latter, are counted. Both answers are found in
/// the same way, so the delays after their moments have the same distribution and cancel out: whatever the process
/// of answers, if only it is stationary, the expected count is the rate times the expected time (for renewals, Wald's
/// identity). To count in a fixed time would be biased here: in closed load the phase of a server that answers in bursts
/// is set by the slice's own beginning. To end at the last answer *before* a moment would leave out a pause of the server.
pub fn common_time_ns(workers: impl Iterator<Item = (u64, u64)> + Clone) -> u64 {
    let answers: u64 = workers.clone().map(|(answers, _)| answers).sum();
    let rates = workers.clone().filter(|(answers, _)| *answers > 0);
    let rate_per_ns: f64 = rates.map(|(answers, time_ns)| answers as f64 / time_ns.max(1) as f64).sum();
    if answers == 0 {
        workers.map(|(_, time_ns)| time_ns).max().unwrap_or(0)
    } else {
        (answers as f64 / rate_per_ns).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_workers_add_up() {
        let time = |workers: &[(u64, u64)]| common_time_ns(workers.iter().copied());
        assert_eq!(time(&[(100, 1_000)]), 1_000, "one worker has its own time");
        assert_eq!(time(&[(100, 1_000), (300, 1_000)]), 1_000);
        // 0.1 and 0.2 a nanosecond make 0.3.
        assert_eq!(time(&[(100, 1_000), (400, 2_000)]), 1_667);
        assert_eq!(time(&[(100, 1_000), (0, 9_000)]), 1_000, "one that was starved adds no answers");
        assert_eq!(time(&[(0, 700), (0, 900)]), 900);
        assert_eq!(time(&[]), 0);
    }
}
