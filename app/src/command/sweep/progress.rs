//! Shows the progress of a sweep on standard error. Failures and void measurements are printed at once.

use crate::console;
use indicatif::ProgressBar;
use lab::sweep::ShowSweep;
use model::SweepTrial;

/// The progress of a sweep: a bar, which is removed when this is dropped.
pub struct SweepProgress {
    bar: ProgressBar,
}

impl SweepProgress {
    /// Shows an empty bar, before anything has begun.
    pub fn new() -> Self {
        let template = "{bar:30} {pos}/{len} measurements, {elapsed} so far, {eta} left: {msg}";
        Self { bar: console::bar(0, template) }
    }
}

/// The contender's letter in the report.
fn letter(contender: usize) -> char {
    ('A'..='Z').nth(contender).unwrap_or('?')
}

impl ShowSweep for SweepProgress {
    fn begins(&mut self, contender: usize, what: &str, done: usize, about: usize) {
        self.bar.set_length(about as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{}, {what}", letter(contender)));
    }

    fn observed(&mut self, contender: usize, trial: &SweepTrial) {
        let at = trial.share.map_or_else(|| "closed load".to_owned(), |s| format!("{:.0} %", s * 100.0));
        let why = match (&trial.failed, &trial.verdict) {
            (Some(why), _) => format!("failed: {why}"),
            (None, Some(verdict)) if !verdict.valid => format!("void: {}", verdict.reasons.join("; ")),
            _ => return,
        };
        self.bar.suspend(|| alert!("{}, {at}: {why}", letter(contender)));
    }
}
