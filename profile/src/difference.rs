//! The difference between two profiles, per answer, with the error that sampling has.

mod sentence;
#[cfg(test)]
mod tests;

use crate::cost::{self, Counts, PerSample, Work};
use crate::stacks::Profile;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A difference is significant beyond this many standard errors. They are more than the usual two because hundreds of functions are
/// compared at once: with two, one of twenty equal functions would seem to differ.
const STANDARD_ERRORS: f64 = 3.0;

/// A function explains the difference if it accounts for at least this share of it.
const EXPLAINS: f64 = 0.5;

/// A function in which both servers spend at least this share of their time is around everything, as `main` is, and explains nothing.
const EVERYTHING: f64 = 0.9;

/// One of the two servers that are compared.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What to call it in sentences.
    pub name: &'a str,
    /// Its samples.
    pub profile: &'a Profile,
    /// What it did meanwhile.
    pub work: Work,
}

/// How B differs from A, in CPU time per answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The name of A.
    pub a: String,
    /// The name of B.
    pub b: String,
    /// The whole CPU time.
    pub overall: Change,
    /// Every function by the CPU time in the function itself, the largest difference first.
    pub by_self: Vec<Row>,
    /// Every function by the CPU time in it and in everything that it calls, the largest difference first.
    pub by_total: Vec<Row>,
}

/// The difference in one function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The function.
    pub frame: String,
    /// How many functions are outside of it in a stack, on average over the samples of both.
    pub depth_mean: f64,
    /// Its CPU time.
    pub change: Change,
}

/// CPU time per answer of A and of B, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Of A.
    pub a_ns_per_answer: f64,
    /// Of B.
    pub b_ns_per_answer: f64,
    /// Of B minus that of A.
    pub difference_ns: f64,
    /// The standard error of the difference, due to sampling, in nanoseconds; 0 between times that the processes' clocks tell.
    pub standard_error_ns: f64,
}

impl Change {
    /// From numbers of samples of A and B, and what one sample of each stands for.
    fn new((a, of_a): (u64, PerSample), (b, of_b): (u64, PerSample)) -> Self {
        let (a_ns_per_answer, b_ns_per_answer) = (a as f64 * of_a.ns, b as f64 * of_b.ns);
        Self {
            a_ns_per_answer,
            b_ns_per_answer,
            difference_ns: b_ns_per_answer - a_ns_per_answer,
            standard_error_ns: of_a.standard_error_ns(a).hypot(of_b.standard_error_ns(b)),
        }
    }

    /// Whether the difference is more than sampling explains.
    pub fn is_significant(&self) -> bool {
        self.difference_ns.abs() > STANDARD_ERRORS * self.standard_error_ns
    }

    /// Whether both times are known by clocks.
    fn is_exact(&self) -> bool {
        self.standard_error_ns == 0.0
    }

    /// The largest difference that sampling explains, in nanoseconds.
    pub fn margin_ns(&self) -> f64 {
        STANDARD_ERRORS * self.standard_error_ns
    }

    fn sum(&self) -> f64 {
        self.a_ns_per_answer + self.b_ns_per_answer
    }
}

impl Difference {
    /// Compares two profiles. `None` if one has no samples or no answers.
    pub fn between(a: &Side<'_>, b: &Side<'_>) -> Option<Self> {
        let [of_a, of_b] = [PerSample::of(a.profile, &a.work)?, PerSample::of(b.profile, &b.work)?];
        let counts = [a, b].map(|side| cost::counts(side.profile));
        let rows = |samples: fn(&Counts) -> u64| rows(&counts, samples, [of_a, of_b]);
        Some(Self {
            a: a.name.to_owned(),
            b: b.name.to_owned(),
            overall: Change::new((a.profile.samples, of_a), (b.profile.samples, of_b)),
            by_self: rows(|counts| counts.own),
            by_total: rows(|counts| counts.total),
        })
    }

    /// The function that explains most of the difference: the innermost one which accounts for at least half of it.
    ///
    /// The rule, in full. Candidates are functions whose CPU time with everything that they call (a) differs in the same direction as the
    /// whole, (b) by more than sampling explains, and (c) by at least half of the whole difference. Functions in which both servers spend
    /// nine tenths of their time are left out: `main` explains nothing. Among candidates, the innermost is the one with the least
    /// CPU time in A and B together, since a function's time includes that of its callees; of equal ones, the deepest in the stacks;
    /// then the first by name.
    pub fn explanation(&self) -> Option<&Row> {
        if !self.overall.is_significant() {
            return None;
        }
        let whole = &self.overall;
        let is_around_everything = |change: &Change| {
            change.a_ns_per_answer >= EVERYTHING * whole.a_ns_per_answer
                && change.b_ns_per_answer >= EVERYTHING * whole.b_ns_per_answer
        };
        let explains = |row: &&Row| {
            let share = row.change.difference_ns / whole.difference_ns;
            row.change.is_significant() && share >= EXPLAINS && !is_around_everything(&row.change)
        };
        self.by_total.iter().filter(explains).min_by(|x, y| {
            let by_time = x.change.sum().total_cmp(&y.change.sum());
            by_time.then(y.depth_mean.total_cmp(&x.depth_mean)).then(x.frame.cmp(&y.frame))
        })
    }

    /// The functions whose own CPU time is larger in B, by more than sampling explains; the largest difference first.
    pub fn more(&self) -> impl Iterator<Item = &Row> {
        self.by_self.iter().filter(|row| row.change.is_significant() && row.change.difference_ns > 0.0)
    }

    /// The functions whose own CPU time is smaller in B, by more than sampling explains; the largest difference first.
    pub fn less(&self) -> impl Iterator<Item = &Row> {
        self.by_self.iter().filter(|row| row.change.is_significant() && row.change.difference_ns < 0.0)
    }

    /// The difference as a sentence, for example: `B spends 4.1 µs more CPU time per answer than A, 3.2 µs of it in to_vec.`
    pub fn sentence(&self) -> String {
        sentence::of(self)
    }

    /// The function whose own CPU time differs most in the direction of the whole, if by more than sampling explains.
    fn largest_part(&self) -> Option<&Row> {
        let same_direction = |row: &&Row| row.change.difference_ns * self.overall.difference_ns > 0.0;
        self.by_self.iter().filter(same_direction).find(|row| row.change.is_significant())
    }
}

fn rows(
    [a, b]: &[BTreeMap<&str, Counts>; 2],
    samples: fn(&Counts) -> u64,
    [of_a, of_b]: [PerSample; 2],
) -> Vec<Row> {
    let frames: BTreeSet<&str> = a.keys().chain(b.keys()).copied().collect();
    let row = |frame: &str| {
        let [a, b] = [a, b].map(|counts| counts.get(frame).copied().unwrap_or_default());
        let total = a.total as f64 + b.total as f64;
        Row {
            frame: frame.to_owned(),
            depth_mean: if total > 0.0 { (a.depths + b.depths) / total } else { 0.0 },
            change: Change::new((samples(&a), of_a), (samples(&b), of_b)),
        }
    };
    let mut rows: Vec<Row> = frames.into_iter().map(row).collect();
    rows.retain(|row| row.change.sum() > 0.0);
    rows.sort_by(larger_first);
    rows
}

fn larger_first(x: &Row, y: &Row) -> Ordering {
    let by_size = y.change.difference_ns.abs().total_cmp(&x.change.difference_ns.abs());
    by_size.then_with(|| x.frame.cmp(&y.frame))
}
