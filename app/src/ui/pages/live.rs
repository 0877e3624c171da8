//! The page of the running study. It is complete without scripts. With scripts it is updated by server-sent events,
//! one at the beginning of each trial. The lab's thread draws them before the trial, and drome only copies them to
//! the browsers.

use super::failure::Failure;
use super::frame::{self, Place};
use super::{cells, url};
use crate::ui::job::{Job, Known, Phase, Piece};
use crate::ui::state::AppState;
use crate::ui::turns::Turns;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use maud::{Markup, html};
use report::{progress, units};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The interval of keep-alive messages on an idle connection.
const ALIVE: Duration = Duration::from_secs(15);

/// The page of the running study, or of the last one.
pub async fn show(State(app): State<Arc<AppState>>) -> Markup {
    let Some(job) = app.job() else {
        let body = html! {
            h1 { "Live" }
            section.card.hero {
                h2 { "Nothing is being measured" }
                p { "Start a study to watch its estimates here while it is measured." }
                p { a.button.primary href="/studies" { "Choose a study" } }
            }
        };
        return frame::shell(false, "Live", Place::Live, &body);
    };
    let is_over = job.is_over();
    let drawn = fragment(&job, &job.known());
    let body = html! {
        div.head {
            h1 { (job.wanted.title) }
            p.lead { (job.wanted.study) ", " (if job.wanted.quick { "a first look" } else { "the full study" }) }
        }
        @if !is_over {
            noscript { p.note { "Without scripts this page does not update itself: reload it to see more." } }
            form.actions action="/live/stop" method="post" data-while="under-way" {
                button type="submit" { "Stop the study" }
                span.faint { "Every finished trial is kept." }
            }
        }
        div data-live=[(!is_over).then_some("/live/events")] { (drawn) }
        p.unseen aria-live="polite" data-said="" {}
    };
    frame::shell(app.under_way().is_some(), "Live", Place::Live, &body)
}

/// The updates from now on. They are not behind the gate, which would answer "later" after a while, because a
/// browser does not ask again: the stream begins at once, and its first update comes at the end of the current trial.
pub async fn events(
    State(app): State<Arc<AppState>>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let job = app.job().ok_or_else(nothing)?;
    let receiver = job.watch().ok_or_else(|| {
        let why = "Too many pages watch this study already. Close one of them, or reload this page from time to time.";
        Failure::new(StatusCode::SERVICE_UNAVAILABLE, why)
    })?;
    let stream = pieces(app.turns.clone(), job, receiver);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE)))
}

/// The current state, then every update up to the last.
fn pieces(
    turns: Turns,
    job: Arc<Job>,
    receiver: watch::Receiver<Piece>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let first = Some((turns, job));
    unfold((first, receiver, false), |(first, mut receiver, is_over)| async move {
        if is_over {
            return None;
        }
        let piece = if let Some((turns, job)) = first {
            let _turn = turns.page().await;
            receiver.mark_unchanged();
            job.now()
        } else {
            receiver.changed().await.ok()?;
            receiver.borrow_and_update().clone()
        };
        Some((Ok(Event::default().event("piece").data(&*piece.html)), (None, receiver, piece.is_last)))
    })
}

/// Asks the study to stop.
pub async fn stop(State(app): State<Arc<AppState>>) -> Result<Redirect, Failure> {
    app.under_way().ok_or_else(nothing)?.stop();
    Ok(Redirect::to("/live"))
}

fn nothing() -> Failure {
    Failure::new(StatusCode::CONFLICT, "No study is running.")
}

/// The part of the page that changes.
pub fn fragment(job: &Job, known: &Known) -> Markup {
    let is_over = known.is_over();
    html! {
        div.piece data-over[is_over] {
            section.card.now {
                p.status data-status=(known.trial.as_ref().map_or(known.done, |trial| trial.block + 1)) { (status(job, known)) }
                @if known.least > 0 {
                    progress max=(known.least) value=(known.done.min(known.least)) aria-label="Progress towards the minimum number of trials or heats" {}
                    p.faint { (so_far(known)) }
                    @if let Some(undecided) = known.findings.as_ref().and_then(progress::undecided) { p.faint { (undecided) } }
                }
                @if let (true, Some(run)) = (is_over, &known.run) {
                    p.actions { a.button.primary href={ "/runs/" (url::part(&run.id)) } { "Open the report" } }
                }
            }
            @if let Some(findings) = &known.findings {
                (cells::sections(&findings.cells, &known.outcomes, known.trial.as_ref()))
            }
            @if let Some(run) = &known.run {
                @for (name, entrant) in &run.contenders {
                    @if let Some(why) = &entrant.missing { p.note { (name) " does not take part: " (why) } }
                }
            }
        }
    }
}

/// The current state, as a short text.
fn status(job: &Job, known: &Known) -> String {
    let trial = known.run.as_ref().zip(known.trial.as_ref());
    match (&known.phase, trial) {
        (Phase::Failed(why), _) => format!("Failed: {why}"),
        (Phase::Over(why), _) => format!("Ended: {why}"),
        (_, _) if job.is_stopping() => "Stopping".to_owned(),
        (Phase::Preparing, _) => "Preparing: unpacking sources and checking versions".to_owned(),
        (Phase::Measuring, _) if known.heat.is_some() => known.heat.clone().unwrap_or_default(),
        (Phase::Measuring, None) => "Starting the first trial".to_owned(),
        (Phase::Measuring, Some((run, trial))) => {
            let cell = run.study.cells.get(trial.cell).map_or("", |cell| cell.title.as_str());
            let who =
                run.contenders.get(&trial.contender).map_or(trial.contender.as_str(), |e| e.title.as_str());
            format!("Block {} of at least {}: {who}, {cell}", trial.block + 1, run.study.design.blocks[0])
        }
    }
}

/// How many trials or heats are done, and the remaining time.
fn so_far(known: &Known) -> String {
    let is_in_heats = known.run.as_ref().is_some_and(|run| run.study.design.heats.is_some());
    let unit = if is_in_heats { "heat" } else { "trial" };
    let done = format!("{} of at least {}", known.done, units::several(known.least, unit));
    match known.left.filter(|_| known.phase == Phase::Measuring) {
        Some(left) => format!("{done}; {}", progress::left(left.about, left.most)),
        None => done,
    }
}
