//! Shows the progress of a run on standard error: a bar on a terminal, else a line for each heat. Failures
//! are printed at once in both cases.

use crate::console::{self, fitted};
use indicatif::ProgressBar;
use judge::findings::analyse;
use judge::schedule::budget;
use lab::Show;
use model::heat::{Heat, Start, StartOutcome, Step};
use model::{Measured, Run};
use report::progress;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// The bar, then the current step, then what is known so far.
const TEMPLATE: &str = "{bar:24} {pos}/{len} heats, {elapsed} so far\n{msg}\n{prefix}";

/// Without a bar, the current step of a heat is printed at this interval.
const SILENCE: Duration = Duration::from_secs(30);

/// Shows the progress of a run, until it is dropped.
pub struct RunProgress {
    bar: ProgressBar,
    is_terminal: bool,
    /// The heat that is shown, by its round and number.
    heat: Option<(usize, usize)>,
    /// Heats that are done.
    heats: u64,
    /// When a line was printed last, without a terminal.
    printed_at: Instant,
    /// Whether it has been said that the budget will not last.
    is_warned: bool,
}

impl RunProgress {
    /// Shows an empty bar, before anything has begun.
    pub fn new() -> Self {
        let (bar, is_terminal) = (console::bar(0, TEMPLATE), stderr().is_terminal());
        let printed_at = Instant::now();
        Self { bar, is_terminal, heat: None, heats: 0, printed_at, is_warned: false }
    }

    fn say(&self, line: &str) {
        self.bar.suspend(|| console::note(line));
    }

    fn warn(&self, line: &str) {
        self.bar.suspend(|| console::alert(line));
    }
}

impl Show for RunProgress {
    fn step(&mut self, run: &Run, heat: &Heat, step: &Step) {
        let now = (heat.round, heat.number);
        if self.heat.replace(now) != Some(now) {
            let in_round = budget::forecast(run).map_or(1, |forecast| forecast.heats);
            let least = run.study.design.rounds[0].saturating_mul(in_round) as u64;
            self.bar.set_length(least.max(self.heats + 1));
            self.bar.set_position(self.heats);
            if !self.is_terminal {
                self.say(&progress::heat(run, heat));
            }
        }
        let place = format!("{}: {}", progress::heat(run, heat), progress::step(&run.study, step));
        if !self.is_terminal && self.printed_at.elapsed() >= SILENCE {
            self.printed_at = Instant::now();
            self.say(&place);
        }
        self.bar.set_message(fitted(&place));
    }

    fn heat_over(&mut self, _run: &Run, _heat: &Heat, starts: &[Start]) {
        self.heats += 1;
        self.bar.set_position(self.heats);
        for start in starts {
            match &start.outcome {
                StartOutcome::Failed(why) => self.warn(&format!("{}: failed: {why}", start.contender)),
                StartOutcome::Spoiled(why) => {
                    self.say(&format!("{}: start will be repeated: {why}", start.contender));
                }
                StartOutcome::LackedMemory(why) => {
                    self.warn(&format!("{}: start will be repeated alone: {why}", start.contender));
                }
                StartOutcome::Running | StartOutcome::Ended => {}
            }
        }
    }

    /// Reports after every heat how much time is left, which contender leads, and how many comparisons are open; and once, as soon as that is
    /// known, that the budget will not last.
    fn knows_heats(&mut self, run: &Run, measured: &Measured) {
        if !self.is_warned
            && let Some(why) = budget::too_slow(run, &measured.heats, &measured.starts)
        {
            self.is_warned = true;
            self.warn(&why);
        }
        let findings = analyse::heats::findings(run, measured, None);
        let (about, most) = (budget::about_left(run, &measured.starts), budget::left(run, &measured.starts));
        let known = [
            Some(progress::left(about, most)),
            progress::leading(&findings, 0),
            progress::undecided(&findings),
        ];
        let known = known.into_iter().flatten().collect::<Vec<_>>().join("; ");
        self.bar.set_prefix(fitted(&known));
        if let (false, Some(heat)) = (self.is_terminal, measured.heats.last()) {
            self.say(&format!("{} is done: {known}", progress::heat(run, heat)));
        }
    }
}
