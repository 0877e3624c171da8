//! Whether a document that was read is one that drome may have written: its lists and texts are short, its numbers possible, and its
//! judgements those that follow from its numbers.

use super::{
    GateVerdict, LARGEST_RATIO, LONGEST_NAME, LONGEST_SENTENCE, MOST_CHANGES, MOST_REVISIONS, MOST_SENTENCES,
    SCHEMA, VerdictChange,
};
use crate::findings::Figure;
use crate::gate::{Outcome, judged};

/// The largest time in seconds, number of rounds and number of cores that are accepted.
pub(super) const LARGEST_COUNT: usize = 1_000_000_000;

/// Differences below this are those of rounding.
const ROUNDING: f64 = 1e-9;

impl GateVerdict {
    /// Fails with the first thing that is wrong, as the end of a sentence. The error quotes nothing from the document.
    pub fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("its schema is {}, not {SCHEMA}", self.schema));
        }
        self.check_texts()?;
        self.check_numbers()?;
        for (at, change) in self.changes.iter().enumerate() {
            let wrong = |why| format!("change {}: {why}", at + 1);
            check_change(change, change.margin.unwrap_or(self.margin)).map_err(wrong)?;
        }
        if let Some(profile) = &self.profile {
            profile.check()?;
        }
        if self.outcome != Outcome::of_all(self.changes.iter().map(|change| change.judged), &self.unknown) {
            return Err("`outcome` does not follow from `changes` and `unknown`".to_owned());
        }
        Ok(())
    }

    fn check_texts(&self) -> Result<(), String> {
        at_most("changes", self.changes.len(), MOST_CHANGES)?;
        at_most("unknown", self.unknown.len(), MOST_SENTENCES)?;
        at_most("warm_unknown", self.warm_unknown.len(), MOST_SENTENCES)?;
        at_most("revisions", self.revisions.len(), MOST_REVISIONS)?;
        let own = [&self.title, &self.against, &self.drome];
        let changes = self.changes.iter().flat_map(|change| [Some(&change.title), change.cell.as_ref()]);
        let revisions =
            self.revisions.iter().flat_map(|r| [Some(&r.title), Some(&r.commit), r.files.as_ref()]);
        let machine = [self.machine.cpu.as_ref(), self.machine.kernel.as_ref()];
        let unknown = self.warm_unknown.iter().map(Some);
        for name in
            own.into_iter().map(Some).chain(unknown).chain(changes).chain(revisions).chain(machine).flatten()
        {
            at_most("a name's bytes", name.len(), LONGEST_NAME)?;
        }
        self.unknown.iter().try_for_each(|why| at_most("a sentence's bytes", why.len(), LONGEST_SENTENCE))
    }

    fn check_numbers(&self) -> Result<(), String> {
        within("margin", self.margin, 0.0, 1.0)?;
        within("elapsed_s", self.elapsed_s, 0.0, LARGEST_COUNT as f64)?;
        within("smallest_slowdown", self.smallest_slowdown.unwrap_or_default(), 0.0, 1.0)?;
        at_most("rounds", self.rounds, LARGEST_COUNT)?;
        at_most("left_out", self.left_out, LARGEST_COUNT)?;
        at_most("cores", self.machine.cores, LARGEST_COUNT)
    }
}

fn check_change(change: &VerdictChange, margin: f64) -> Result<(), String> {
    within("margin", margin, 0.0, 1.0)?;
    for ratio in [Some(change.speed), change.low, change.high].into_iter().flatten() {
        within("a ratio of speeds", ratio, 1.0 / LARGEST_RATIO, LARGEST_RATIO)?;
    }
    within(
        "a slowdown, which is 1 less the speed,",
        change.slowdown - (1.0 - change.speed),
        -ROUNDING,
        ROUNDING,
    )?;
    let speed = Figure { median: change.speed, low: change.low, high: change.high };
    if Outcome::from(judged(speed, margin)) != change.judged {
        return Err("`judged` does not follow from `speed`, `low`, `high` and the margin".to_owned());
    }
    Ok(())
}

/// Fails if a number is not from `low` to `high`. NaN is not within anything.
pub(super) fn within(what: &str, number: f64, low: f64, high: f64) -> Result<(), String> {
    if (low..=high).contains(&number) { Ok(()) } else { Err(format!("{what} is out of range")) }
}

/// Fails if `count` is more than `most`.
pub(super) fn at_most(what: &str, count: usize, most: usize) -> Result<(), String> {
    if count <= most { Ok(()) } else { Err(format!("{what}: {count} is more than {most}")) }
}
