//! The search for the highest rate that keeps a promise, for one contender: what it learns from each measurement, when it
//! ends, and its answer. Pure.

use model::sweep::{Kept, KeptOutcome};
use model::{Design, Promise, SweepTrial};
use stats::search::{Answer, Search};

/// The maximum number of trials that a search makes of a contender.
const MAX_SEARCH_TRIALS: usize = 40;

/// A search ends after this many void trials in a row, because others would be void, too.
const MAX_VOID: usize = 4;

/// The search for one contender.
pub struct Searching {
    /// The state of the search.
    pub search: Search,
    /// The highest rate that is tried.
    pub capacity: f64,
    /// The number of trials that it asked for.
    pub asked: usize,
    /// The number of trials in a row that say nothing.
    void: usize,
    /// Whether a trial broke the promise, and whether one kept it.
    seen: [bool; 2],
    /// Why it is over; `None` while it goes on.
    pub ended: Option<String>,
}

impl Searching {
    /// Begins a search of rates from `lowest` to `capacity`; `None` if that is not a range.
    pub fn new(lowest: f64, capacity: f64) -> Option<Self> {
        let search = Search::new(lowest, capacity)?;
        Some(Self { search, capacity, asked: 0, void: 0, seen: [false; 2], ended: None })
    }

    /// Takes in the trial that it asked for.
    pub fn learn(&mut self, trial: Option<&SweepTrial>, promise: &Promise) {
        self.asked += 1;
        let is_sound = trial.is_some_and(|trial| self.take(trial, promise));
        self.void = if is_sound { 0 } else { self.void + 1 };
        self.settle();
        if self.void >= MAX_VOID && self.ended.is_none() {
            self.ended = Some(format!("{MAX_VOID} measurements in a row were void or too short to tell"));
        }
    }

    /// Takes in any trial; returns false if it says nothing.
    pub fn take(&mut self, trial: &SweepTrial, promise: &Promise) -> bool {
        // A server that fails more requests than the percentile leaves out has broken the promise, however fast it answered the others.
        let is_kept = match trial.latency_ns_kept {
            _ if trial.is_selection(promise.quantile) => Some(false),
            latency => latency.map(|latency| latency < promise.bound_ns),
        };
        let (Some(rate), Some(is_kept)) = (trial.offered_per_s, is_kept) else { return false };
        let is_broken_for_sure =
            !is_kept && trial.verdict.as_ref().is_some_and(|verdict| verdict.void_by_loss);
        let says_something = trial.is_sound() || is_broken_for_sure;
        if says_something {
            self.search.observe(rate, is_kept);
            self.seen[usize::from(is_kept)] = true;
        }
        says_something
    }

    /// Ends the search if it knows enough.
    pub fn settle(&mut self) {
        if self.search.relative_half_width().is_some_and(|width| width <= Design::PRECISION) {
            let is_outside = !matches!(self.search.answer(), Answer::Found { .. });
            let is_narrow = || format!("its interval is within ±{:.0} %", Design::PRECISION * 100.0);
            self.ended = Some(if is_outside { "the answer is certain".to_owned() } else { is_narrow() });
        } else if self.asked >= MAX_SEARCH_TRIALS {
            self.ended = Some(format!("the maximum of {MAX_SEARCH_TRIALS} measurements is reached"));
        }
    }

    /// The answer of the search.
    pub fn answer(self, promise: &Promise, stopped: Option<&str>) -> Kept {
        let trials = self.search.trials();
        let ended = self.ended.unwrap_or_else(|| stopped.unwrap_or("interrupted").to_owned());
        let kept = Kept { trials, ended, ..unknown(promise, None) };
        match self.search.answer() {
            _ if trials == 0 => kept,
            // A rate is found only if a lower one kept the promise and a higher one broke it; here only one side was measured.
            Answer::Found { low, high, .. } if self.seen != [true, true] => {
                Kept { low_per_s: low, high_per_s: high, ..kept }
            }
            Answer::Found { rate, low, high } => Kept {
                outcome: KeptOutcome::Found,
                rate_per_s: Some(rate),
                low_per_s: low,
                high_per_s: high,
                ..kept
            },
            Answer::LowestDoesNot => Kept { outcome: KeptOutcome::LowestDoesNot, ..kept },
            Answer::HighestKeeps => {
                Kept { outcome: KeptOutcome::CapacityKeeps, low_per_s: Some(self.capacity), ..kept }
            }
        }
    }
}

/// The answer of a search that knows nothing, and why.
pub fn unknown(promise: &Promise, why: Option<&str>) -> Kept {
    Kept {
        promise: promise.to_string(),
        outcome: KeptOutcome::Unknown,
        rate_per_s: None,
        low_per_s: None,
        high_per_s: None,
        trials: 0,
        ended: why.unwrap_or("nothing was measured").to_owned(),
    }
}
