//! Runs a study that was started on the page, with the same steps as `drome run`.

use super::Job;
use super::known::{Phase, TimeLeft};
use crate::ui::outcomes::TrialOutcome;
use crate::ui::pauses::StepHeld;
use crate::ui::state::AppState;
use judge::findings::analyse;
use judge::schedule::budget;
use lab::setup::{self, Lineup, RunRules};
use lab::{LabError, Session, Show};
use model::heat::{Heat, Start, Step};
use model::{Findings, Measured, Run};
use report::progress;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Runs the study, on a thread of the lab.
pub fn run(app: &AppState, job: &Job) {
    attend(job, || measure(app, job));
}

/// Does the work, and records how it ends, even by a panic.
pub(super) fn attend(job: &Job, work: impl FnOnce() -> anyhow::Result<Findings>) {
    let phase = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(findings)) => {
            let phase = Phase::Over(findings.ended.clone());
            job.known().findings = Some(findings);
            phase
        }
        Ok(Err(error)) if matches!(error.downcast_ref(), Some(LabError::Interrupted)) => {
            Phase::Over("stopped; every finished cell is kept".to_owned())
        }
        Ok(Err(error)) => Phase::Failed(format!("{error:#}")),
        Err(panic) => Phase::Failed(format!(
            "drome has a bug ({}); every finished cell is kept; please report it",
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
fn measure(app: &AppState, job: &Job) -> anyhow::Result<Findings> {
    let wanted = &job.wanted;
    let mut study = app.catalog.study(&wanted.study)?.clone();
    study.contenders.retain(|name| wanted.contenders.contains(name));
    if wanted.quick {
        setup::quicken(&mut study);
    }
    let lineup = Lineup::of_study(&app.catalog, &study)?;
    let rules = RunRules { seed: None, quick: wanted.quick, allow_busy: app.may_be_busy };
    let run = lineup.run(&wanted.study, study, rules);
    setup::present(&run)?;
    let store = app.store()?;
    let session = Session::open(run, lineup, Arc::clone(&job.stop), &store)?;
    session.begin()?;
    job.tell(|known| {
        let run = &session.run;
        let heats = budget::forecast(run).map_or(0, |forecast| forecast.heats);
        known.least = heats.saturating_mul(run.study.design.rounds[0]);
        (known.run, known.phase) = (Some(run.clone()), Phase::Measuring);
    });
    let mut show = JobProgress { app, job, step_held: None };
    Ok(session.measure(&mut show)?)
}

/// Passes the lab's progress on to the job.
struct JobProgress<'d> {
    app: &'d AppState,
    job: &'d Job,
    step_held: Option<StepHeld>,
}

impl Show for JobProgress<'_> {
    /// Lets pages be built between two steps, but not while a server is under load.
    fn step(&mut self, run: &Run, heat: &Heat, step: &Step) {
        self.step_held = None;
        let words = format!("{}: {}", progress::heat(run, heat), progress::step(&run.study, step));
        self.job.tell(|known| {
            known.heat = Some(words);
            known.least = known.least.max(known.done + 1);
        });
        self.step_held = Some(self.app.pauses.step(&self.job.pages));
    }

    fn heat_over(&mut self, _run: &Run, _heat: &Heat, _starts: &[Start]) {
        self.step_held = None;
        self.job.known().done += 1;
    }

    fn knows_heats(&mut self, run: &Run, measured: &Measured) {
        let findings = analyse::heats::findings(run, measured, None);
        let (about, most) = (budget::about_left(run, &measured.starts), budget::left(run, &measured.starts));
        let outcomes = TrialOutcome::all(measured);
        let mut known = self.job.known();
        known.outcomes = outcomes;
        (known.findings, known.left) = (Some(findings), Some(TimeLeft { about, most }));
    }
}
