//! A study that was started on the page, from the button to its end. The lab's thread updates it between two
//! trials, and pages read it. The pieces for watching browsers are also built here, between two trials.

use super::outcomes::TrialOutcome;
use super::pages::live;
use super::state::AppState;
use super::turns::TrialTurn;
use lab::blocks::time_left::Left;
use lab::heat::Measured;
use lab::heat::observed::observed;
use lab::heat::schedule::budget;
use lab::setup::{self, Lineup, Rules};
use lab::{LabError, Session, Show};
use model::heat::{Heat, Start, Step};
use model::{Findings, Observation, Run, Trial};
use report::progress;
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// The number of browsers that can watch at once: each holds a connection, and some must stay free for pages.
const MOST_WATCHERS: usize = 32;

/// What to run.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// Whether it is only a first look.
    pub quick: bool,
    /// The contenders that take part.
    pub contenders: BTreeSet<String>,
}

/// The phase of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Sources are unpacked, and versions are checked.
    Preparing,
    /// Trials are running.
    Measuring,
    /// It has ended, with the reason.
    Over(String),
    /// It failed, with the reason.
    Failed(String),
}

/// What is known of a study so far.
#[derive(Clone, Debug)]
pub struct Known {
    /// The phase.
    pub phase: Phase,
    /// The run; none until it is prepared.
    pub run: Option<Run>,
    /// The current trial.
    pub trial: Option<Trial>,
    /// The current step of the current heat, in words; none in a run in blocks.
    pub heat: Option<String>,
    /// Trials, or heats, that are done.
    pub done: usize,
    /// The minimum number of trials, or heats.
    pub least: usize,
    /// The outcome of every trial so far.
    pub outcomes: Vec<TrialOutcome>,
    /// The remaining time; unknown before the first trial.
    pub left: Option<Left>,
    /// The findings so far.
    pub findings: Option<Findings>,
}

impl Known {
    /// Whether the study has ended or failed.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_) | Phase::Failed(_))
    }
}

/// An update for watching browsers.
#[derive(Clone, Debug)]
pub struct Piece {
    /// A piece of the page.
    pub html: Arc<str>,
    /// Whether it is the last one.
    pub is_last: bool,
}

/// A study, from the button to its end.
#[derive(Debug)]
pub struct Job {
    /// What to run.
    pub wanted: Wanted,
    stop: Arc<AtomicBool>,
    known: Mutex<Known>,
    told: watch::Sender<Piece>,
    pages: Handle,
}

impl Job {
    /// A study that has not begun.
    pub fn new(wanted: Wanted, pages: Handle) -> Self {
        let known = Known {
            phase: Phase::Preparing,
            run: None,
            trial: None,
            heat: None,
            done: 0,
            least: 0,
            outcomes: Vec::new(),
            left: None,
            findings: None,
        };
        let told = watch::Sender::new(Piece { html: Arc::from(""), is_last: false });
        Self { wanted, stop: Arc::default(), known: Mutex::new(known), told, pages }
    }

    /// Asks the study to stop. The current trial is dropped; all finished trials are kept.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the study has ended or failed.
    pub fn is_over(&self) -> bool {
        self.known().is_over()
    }

    /// Whether the study was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What is known so far.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All updates from now on; none if too many browsers watch already.
    pub fn watch(&self) -> Option<watch::Receiver<Piece>> {
        (self.told.receiver_count() < MOST_WATCHERS).then(|| self.told.subscribe())
    }

    /// The current state as an update.
    pub fn now(&self) -> Piece {
        self.draw(&self.known())
    }

    fn draw(&self, known: &Known) -> Piece {
        Piece { html: Arc::from(live::fragment(self, known).into_string()), is_last: known.is_over() }
    }

    fn tell(&self, change: impl FnOnce(&mut Known)) {
        let mut known = self.known();
        change(&mut known);
        // Without watchers nothing is drawn.
        if self.told.receiver_count() > 0 {
            let drawn = self.draw(&known);
            drop(known);
            self.told.send_replace(drawn);
        }
    }

    /// Ends the study with a failure.
    pub fn fail(&self, why: String) {
        self.end(Phase::Failed(why));
    }

    fn end(&self, phase: Phase) {
        let tell = || self.tell(|known| (known.phase, known.trial, known.heat) = (phase, None, None));
        // Drawing may panic, and may be why the study ended; the phase is set before.
        let _ = catch_unwind(AssertUnwindSafe(tell));
    }
}

/// Runs the study, on a thread of the lab.
pub fn run(app: &AppState, job: &Job) {
    attend(job, || walk(app, job));
}

/// Runs the walk, and records how it ends, even by a panic.
fn attend(job: &Job, walk: impl FnOnce() -> anyhow::Result<Findings>) {
    let phase = match catch_unwind(AssertUnwindSafe(walk)) {
        Ok(Ok(findings)) => {
            let phase = Phase::Over(findings.ended.clone());
            job.known().findings = Some(findings);
            phase
        }
        Ok(Err(error)) if matches!(error.downcast_ref(), Some(LabError::Interrupted)) => {
            Phase::Over("stopped; every finished trial is kept".to_owned())
        }
        Ok(Err(error)) => Phase::Failed(format!("{error:#}")),
        Err(panic) => Phase::Failed(format!(
            "drome has a bug ({}); every finished trial is kept; please report it",
            message(&*panic)
        )),
    };
    job.end(phase);
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// The same steps as `drome run`.
fn walk(app: &AppState, job: &Job) -> anyhow::Result<Findings> {
    let wanted = &job.wanted;
    let mut study = app.catalog.study(&wanted.study)?.clone();
    study.contenders.retain(|name| wanted.contenders.contains(name));
    if wanted.quick {
        setup::quicken(&mut study);
    }
    let lineup = Lineup::of_study(&app.catalog, &study)?;
    let rules = Rules { seed: None, quick: wanted.quick, allow_busy: app.may_be_busy };
    let run = lineup.run(&wanted.study, study, rules);
    setup::present(&run)?;
    let store = app.store()?;
    let session = Session::open(run, lineup, Arc::clone(&job.stop), &store)?;
    session.begin()?;
    job.tell(|known| {
        let run = &session.run;
        known.least = match budget::sum(run) {
            Some(sum) => sum.heats.saturating_mul(run.study.design.blocks[0]),
            None => lab::blocks::least_trials(run),
        };
        (known.run, known.phase) = (Some(run.clone()), Phase::Measuring);
    });
    let mut show = Between { app, job, trial_turn: None };
    Ok(session.measure(&mut show)?)
}

/// Receives the lab's reports between two trials.
struct Between<'d> {
    app: &'d AppState,
    job: &'d Job,
    trial_turn: Option<TrialTurn>,
}

impl Show for Between<'_> {
    fn begins(&mut self, _run: &Run, trial: &Trial, done: usize, least: usize) {
        self.job.tell(|known| {
            known.trial = Some(trial.clone());
            (known.done, known.least) = (done, least.max(done + 1));
        });
        self.trial_turn = Some(self.app.turns.trial(&self.job.pages));
    }

    fn observed(&mut self, _run: &Run, observation: &Observation) {
        self.trial_turn = None;
        let mut known = self.job.known();
        known.outcomes.push(TrialOutcome::of(observation));
        known.done = known.outcomes.len();
    }

    fn knows(&mut self, run: &Run, observations: &[Observation]) {
        let findings = lab::findings::analyse::findings(run, observations, None);
        let mut known = self.job.known();
        (known.findings, known.left) = (Some(findings), lab::blocks::time_left::left(run, observations));
    }

    /// Lets pages be built between two steps, but not while a server is under load.
    fn step(&mut self, run: &Run, heat: &Heat, step: &Step) {
        self.trial_turn = None;
        let words = format!("{}: {}", progress::heat(run, heat), progress::step(&run.study, step));
        self.job.tell(|known| {
            known.heat = Some(words);
            known.least = known.least.max(known.done + 1);
        });
        self.trial_turn = Some(self.app.turns.trial(&self.job.pages));
    }

    fn heat_over(&mut self, _run: &Run, _heat: &Heat, _starts: &[Start]) {
        self.trial_turn = None;
        self.job.known().done += 1;
    }

    fn knows_heats(&mut self, run: &Run, measured: &Measured) {
        let findings = measured.findings(run, None);
        let most = budget::left(run, &measured.starts);
        let outcomes = observed(&measured.heats, &measured.starts).iter().map(TrialOutcome::of).collect();
        let mut known = self.job.known();
        known.outcomes = outcomes;
        (known.findings, known.left) = (Some(findings), Some(Left { about: None, most }));
    }
}

#[cfg(test)]
#[path = "job/tests.rs"]
mod tests;
