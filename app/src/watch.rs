//! The progress of a run, on standard error: a bar where that is a terminal, else a line a block. Failures are told at
//! once on either.

use crate::console;
use indicatif::ProgressBar;
use lab::Show;
use model::{Observation, Outcome, Run, Trial};
use report::look::shortened;
use report::progress;
use std::io::{IsTerminal, stderr};

/// The bar is followed by the place, and both stand above what is known so far.
const TEMPLATE: &str = "{bar:24} {pos}/{len} trials, {elapsed} so far\n{msg}\n{prefix}";

/// Shows a run as it goes on.
pub struct Watch {
    bar: ProgressBar,
    is_terminal: bool,
    /// The last block of which a trial was observed.
    block: Option<usize>,
}

impl Watch {
    /// Not begun.
    pub fn new() -> Self {
        let (bar, is_terminal) = (console::bar(0, TEMPLATE), stderr().is_terminal());
        Self { bar, is_terminal, block: None }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn say(&self, line: &str) {
        let line = console::error_look().words(line);
        self.bar.suspend(|| eprintln!("{line}"));
    }
}

/// On its line, as the terminal can show it.
fn fitted(text: &str) -> String {
    let look = console::error_look();
    // A line that fills the terminal may be taken for two.
    let most = look.columns().map_or(usize::MAX, |columns| columns - 1);
    shortened(&look.words(&text.replace('\n', " ")), most, &look.words("…"))
}

impl Show for Watch {
    fn begins(&mut self, run: &Run, trial: &Trial, done: usize, least: usize) {
        self.bar.set_length(least.max(done + 1) as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(fitted(&progress::place(run, trial)));
    }

    fn observed(&mut self, _run: &Run, observation: &Observation) {
        let trial = &observation.trial;
        match &observation.outcome {
            Outcome::Failed(why) => self.say(&format!("{}: failed: {why}", trial.contender)),
            Outcome::Measured(m) if !m.verdict.valid => {
                self.say(&format!("{}: void: {}", trial.contender, m.verdict.reasons.join("; ")));
            }
            Outcome::Measured(_) => {}
        }
    }

    /// Said of a block when it is over: then, and not after every trial, all contenders have as many trials. It is over
    /// when the first trial of the next one is, since contenders that are given up make a block shorter.
    fn knows(&mut self, run: &Run, observations: &[Observation]) {
        let Some(last) = observations.last().map(|o| &o.trial) else { return };
        let before = self.block.replace(last.block);
        let Some(over) = before.filter(|before| *before < last.block) else { return };
        let findings = lab::analyse::findings(run, observations, None);
        let left = lab::left::left(run, observations).map(|left| progress::left(left.about, left.most));
        let known: Vec<String> = left.into_iter().chain(progress::leading(&findings, last.cell)).collect();
        let known = known.join("; ");
        self.bar.set_prefix(fitted(&known));
        if !self.is_terminal {
            self.say(&format!("{} is done; {}", progress::block(run, over), known));
        }
    }
}
