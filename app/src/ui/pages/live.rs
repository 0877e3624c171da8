//! The page of the running study. It is complete without scripts. With scripts it is updated by server-sent events,
//! one at the beginning of each step. The lab's thread draws them before the step, and drome only copies them to
//! the browsers.

use super::error_page::ErrorPage;
use super::frame::{self, SitePlace};
use super::{App, piece};
use crate::ui::job::{Job, Piece};
use crate::ui::pauses::Pauses;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use maud::{Markup, html};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The interval of keep-alive messages on an idle connection.
const ALIVE: Duration = Duration::from_secs(15);

/// The page of the running study, or of the last one.
pub async fn show(State(app): App) -> Markup {
    let Some(job) = app.job() else {
        let body = html! {
            h1 { "Live" }
            section.card.hero {
                h2 { "Nothing is being measured" }
                p { "Start a study to watch its estimates here while it is measured." }
                p { a.button.primary href="/studies" { "Choose a study" } }
            }
        };
        return frame::shell(false, "Live", SitePlace::Live, &body);
    };
    let is_over = job.is_over();
    let drawn = piece::fragment(&job.known(), job.is_stopping());
    let body = html! {
        div.head {
            h1 { (job.wanted.title) }
            p.lead { (job.wanted.study) ", " (if job.wanted.quick { "a first look" } else { "the full study" }) }
        }
        @if !is_over {
            noscript { p.note { "Without scripts this page does not update itself: reload it to see more." } }
            form.actions action="/live/stop" method="post" data-while="under-way" {
                button type="submit" { "Stop the study" }
                span.faint { "Every finished cell is kept." }
            }
        }
        div data-live=[(!is_over).then_some("/live/events")] { (drawn) }
        p.unseen aria-live="polite" data-said="" {}
    };
    frame::shell(app.under_way().is_some(), "Live", SitePlace::Live, &body)
}

/// The updates from now on. They are not behind `access/entrance.rs`, which would answer "later" after a while, because a
/// browser does not ask again: the stream begins at once, and its first update comes at the end of the current step.
pub async fn events(
    State(app): App,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ErrorPage> {
    let job = app.job().ok_or_else(nothing)?;
    let receiver = job.watch().ok_or_else(|| {
        let why = "Too many pages watch this study already. Close one of them, or reload this page from time to time.";
        ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, why)
    })?;
    let stream = pieces(app.pauses.clone(), job, receiver);
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE)))
}

/// The current state, then every update up to the last.
fn pieces(
    pauses: Pauses,
    job: Arc<Job>,
    receiver: watch::Receiver<Piece>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let first = Some((pauses, job));
    unfold((first, receiver, false), |(first, mut receiver, is_over)| async move {
        if is_over {
            return None;
        }
        let piece = if let Some((pauses, job)) = first {
            let _held = pauses.page().await;
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
pub async fn stop(State(app): App) -> Result<Redirect, ErrorPage> {
    app.under_way().ok_or_else(nothing)?.stop();
    Ok(Redirect::to("/live"))
}

fn nothing() -> ErrorPage {
    ErrorPage::new(StatusCode::CONFLICT, "No study is running.")
}
