//! A study that was started on the page, from the button to its end. The lab's thread writes here between two trials;
//! pages read. What those who watch are sent is made here, between two trials too.

use super::desk::Desk;
use super::live;
use super::marks::Mark;
use super::quiet::Silence;
use lab::heat::budget;
use lab::heat::observed::observed;
use lab::heat::run::Measured;
use lab::left::Left;
use lab::{LabError, Show, setup};
use model::heat::{Heat, Start, Step};
use model::study::REFERENCE;
use model::{Findings, Observation, Run, Trial};
use report::progress;
use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// So many may watch at once: each holds a connection, and there must be some left to load a page.
const MOST_WATCHERS: usize = 32;

/// What somebody has asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// A first look only.
    pub quick: bool,
    /// Who of its contenders takes part.
    pub contenders: BTreeSet<String>,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Sources are laid out, versions asked for.
    Preparing,
    /// Trial after trial.
    Measuring,
    /// It has ended, and why.
    Over(String),
    /// It could not go on, and why.
    Failed(String),
}

/// What is known of it so far.
#[derive(Clone, Debug)]
pub struct Known {
    /// How far it is.
    pub phase: Phase,
    /// None until it is prepared.
    pub run: Option<Run>,
    /// The trial under way.
    pub trial: Option<Trial>,
    /// What goes on in the heat under way, in a sentence; none in a run of blocks.
    pub heat: Option<String>,
    /// Trials done, or heats.
    pub done: usize,
    /// Trials, or heats, that it takes at least.
    pub least: usize,
    /// What became of every trial so far.
    pub marks: Vec<Mark>,
    /// How much longer it takes; unknown before the first trial.
    pub left: Option<Left>,
    /// What they say.
    pub findings: Option<Findings>,
}

impl Known {
    /// Nothing more will come.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_) | Phase::Failed(_))
    }
}

/// What those who watch are sent.
#[derive(Clone, Debug)]
pub struct Piece {
    /// A piece of the page.
    pub html: Arc<str>,
    /// Nothing more will come.
    pub is_last: bool,
}

/// A study, from the button to its end.
#[derive(Debug)]
pub struct Sitting {
    /// What was asked for.
    pub wanted: Wanted,
    stop: Arc<AtomicBool>,
    known: Mutex<Known>,
    told: watch::Sender<Piece>,
    pages: Handle,
}

impl Sitting {
    /// Not begun.
    pub fn new(wanted: Wanted, pages: Handle) -> Self {
        let known = Known {
            phase: Phase::Preparing,
            run: None,
            trial: None,
            heat: None,
            done: 0,
            least: 0,
            marks: Vec::new(),
            left: None,
            findings: None,
        };
        let told = watch::Sender::new(Piece { html: Arc::from(""), is_last: false });
        Self { wanted, stop: Arc::default(), known: Mutex::new(known), told, pages }
    }

    /// Asks it to stop. The trial at hand is given up; all that were finished are kept.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Nothing more will come.
    pub fn is_over(&self) -> bool {
        self.known().is_over()
    }

    /// Somebody has asked it to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What is known so far.
    pub fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that is told from now on; none where too many watch already.
    pub fn watch(&self) -> Option<watch::Receiver<Piece>> {
        (self.told.receiver_count() < MOST_WATCHERS).then(|| self.told.subscribe())
    }

    /// What is known now, drawn.
    pub fn now(&self) -> Piece {
        self.draw(&self.known())
    }

    fn draw(&self, known: &Known) -> Piece {
        Piece { html: Arc::from(live::fragment(self, known).into_string()), is_last: known.is_over() }
    }

    fn tell(&self, change: impl FnOnce(&mut Known)) {
        let mut known = self.known();
        change(&mut known);
        // Nobody watches: nothing is drawn.
        if self.told.receiver_count() > 0 {
            let drawn = self.draw(&known);
            drop(known);
            self.told.send_replace(drawn);
        }
    }

    /// It can't go on.
    pub fn fail(&self, why: String) {
        self.end(Phase::Failed(why));
    }

    fn end(&self, phase: Phase) {
        let tell = || self.tell(|known| (known.phase, known.trial, known.heat) = (phase, None, None));
        // Perhaps it can't be drawn, and that is why it has ended; that it has is known by then.
        let _ = catch_unwind(AssertUnwindSafe(tell));
    }
}

/// From the button to the end, on a thread of the lab.
pub fn run(desk: &Desk, sitting: &Sitting) {
    attend(sitting, || walk(desk, sitting));
}

/// However the walk ends, by a panic too, the page says so.
fn attend(sitting: &Sitting, walk: impl FnOnce() -> anyhow::Result<Findings>) {
    let phase = match catch_unwind(AssertUnwindSafe(walk)) {
        Ok(Ok(findings)) => {
            let phase = Phase::Over(findings.ended.clone());
            sitting.known().findings = Some(findings);
            phase
        }
        Ok(Err(error)) if matches!(error.downcast_ref(), Some(LabError::Interrupted)) => {
            Phase::Over("it was stopped; every finished trial is kept".to_owned())
        }
        Ok(Err(error)) => Phase::Failed(format!("{error:#}")),
        Err(panic) => Phase::Failed(format!(
            "drome has a bug ({}); every finished trial is kept; please report it",
            message(&*panic)
        )),
    };
    sitting.end(phase);
}

/// What a panic said.
fn message(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

/// The walk of `drome run`.
fn walk(desk: &Desk, sitting: &Sitting) -> anyhow::Result<Findings> {
    let wanted = &sitting.wanted;
    let mut study = desk.catalog.study(&wanted.study)?.clone();
    study.contenders.retain(|name| wanted.contenders.contains(name));
    if wanted.quick {
        setup::quicken(&mut study);
    }
    let prepared = setup::prepare_study(&desk.catalog, &study)?;
    let works = setup::works(&desk.catalog)?;
    let mut run = setup::study_run(&wanted.study, study, &prepared, &works, None, wanted.quick);
    run.allow_busy = Some(desk.may_be_busy);
    let is_there = |(name, entrant): (&String, &model::observation::Entrant)| {
        entrant.missing.is_none() && name != REFERENCE
    };
    if !run.contenders.iter().any(is_there) {
        anyhow::bail!(
            "none of the chosen contenders is on this machine: get them with `drome install {}`",
            wanted.study
        );
    }
    let store = desk.store()?;
    let lab = setup::lab(&run, prepared, works, Arc::clone(&sitting.stop), Some(&store))?;
    store.add_run(&run)?;
    sitting.tell(|known| {
        known.least = match budget::sum(&run) {
            Some(sum) => sum.heats.saturating_mul(run.study.design.blocks[0]),
            None => lab::schedule::least_trials(&run),
        };
        (known.run, known.phase) = (Some(run.clone()), Phase::Measuring);
    });
    let mut show = Between { desk, sitting, silence: None };
    Ok(lab::run::run(&lab, &run, &store, &mut show)?)
}

/// Told by the lab between two trials.
struct Between<'d> {
    desk: &'d Desk,
    sitting: &'d Sitting,
    silence: Option<Silence>,
}

impl Show for Between<'_> {
    fn begins(&mut self, _run: &Run, trial: &Trial, done: usize, least: usize) {
        self.sitting.tell(|known| {
            known.trial = Some(trial.clone());
            (known.done, known.least) = (done, least.max(done + 1));
        });
        self.silence = Some(self.desk.quiet.silence(&self.sitting.pages));
    }

    fn observed(&mut self, _run: &Run, observation: &Observation) {
        self.silence = None;
        let mut known = self.sitting.known();
        known.marks.push(Mark::of(observation));
        known.done = known.marks.len();
    }

    fn knows(&mut self, run: &Run, observations: &[Observation]) {
        let findings = lab::analyse::findings(run, observations, None);
        let mut known = self.sitting.known();
        (known.findings, known.left) = (Some(findings), lab::left::left(run, observations));
    }

    /// Pages are made between two steps, and not while a server is loaded.
    fn step(&mut self, run: &Run, heat: &Heat, step: &Step) {
        self.silence = None;
        let words = format!("{}: {}", progress::heat(run, heat), progress::step(&run.study, step));
        self.sitting.tell(|known| {
            known.heat = Some(words);
            known.least = known.least.max(known.done + 1);
        });
        self.silence = Some(self.desk.quiet.silence(&self.sitting.pages));
    }

    fn heat_over(&mut self, _run: &Run, _heat: &Heat, _starts: &[Start]) {
        self.silence = None;
        self.sitting.known().done += 1;
    }

    fn knows_heats(&mut self, run: &Run, measured: &Measured) {
        let findings = measured.findings(run, None);
        let most = budget::left(run, &measured.starts);
        let marks = observed(&measured.heats, &measured.starts).iter().map(Mark::of).collect();
        let mut known = self.sitting.known();
        known.marks = marks;
        (known.findings, known.left) = (Some(findings), Some(Left { about: None, most }));
    }
}

#[cfg(test)]
#[path = "sitting/tests.rs"]
mod tests;
