//! The terminal: results to standard output, progress to standard error and only there where it is a
//! terminal, and the signals that ask to stop.

use indicatif::{ProgressBar, ProgressStyle};
use lab::Show;
use model::{Observation, Outcome, Run, Trial};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdin, stdout};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Set when somebody asks drome to stop; asked again, it stops at once.
pub fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(
            signal,
            crate::failure::INTERRUPTED.into(),
            Arc::clone(&stop),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Writes a result. A reader that has seen enough is no error.
pub fn print(text: &str) -> anyhow::Result<()> {
    print_bytes(text.as_bytes())
}

/// The same for what need not be text.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// A progress bar; hidden where standard error is no terminal.
pub fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = if stderr().is_terminal() { ProgressBar::new(length) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("■■ "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Shows what will be done and asks; without a terminal nobody can answer, so the answer is no.
pub fn confirm(what: &str) -> bool {
    eprintln!("{what}");
    if !stdin().is_terminal() {
        eprintln!("nobody is there to agree: say --yes to do it");
        return false;
    }
    eprint!("go on? [y/N] ");
    let mut answer = String::new();
    stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// The progress of a run.
pub struct Watch(ProgressBar);

impl Watch {
    /// Not begun.
    pub fn new() -> Self {
        Self(bar(0, "{bar:30} {pos}/{len} trials, {elapsed} so far, {eta} left: {msg}"))
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Show for Watch {
    fn begins(&mut self, run: &Run, trial: &Trial, done: usize, least: usize) {
        self.0.set_length(least.max(done + 1) as u64);
        self.0.set_position(done as u64);
        let cell = &run.study.cells[trial.cell].title;
        self.0.set_message(format!("block {}, {cell}, {}", trial.block + 1, trial.contender));
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
}

impl Watch {
    fn say(&self, line: &str) {
        self.0.suspend(|| eprintln!("{line}"));
    }
}
