//! Pages and trials take turns. While a trial is under way no page is made: on a machine of two cores whatever makes a
//! page takes its time from the server or from the load generator, and the figures would tell of the page. Pages that are
//! asked for meanwhile wait for the end of the trial, and the next trial waits for them. [`gate`] stands before all pages; a
//! stream of events waits for its turn by itself.
//!
//! What remains: to copy a piece of the page to those who watch, at the very beginning of a trial, when its server is only
//! being started; to hand out style and script, which are constant; to set the flag that stops a study; and to refuse
//! strangers. All of it is counted as other load (see `lab/src/other_load.rs`).

use super::desk::Desk;
use super::failure::Failure;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::time::timeout;

/// A page does not wait longer: it says why instead.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose turn it is. The lock is fair: who asked first goes first, so neither side starves.
#[derive(Clone, Debug, Default)]
pub struct Quiet(Arc<RwLock<()>>);

/// A page is being made.
#[derive(Debug)]
pub struct Work(#[allow(dead_code, reason = "held, not used")] OwnedRwLockReadGuard<()>);

/// A trial is under way.
#[derive(Debug)]
pub struct Silence(#[allow(dead_code, reason = "held, not used")] OwnedRwLockWriteGuard<()>);

impl Quiet {
    /// Waits for the end of the trial under way, however long it takes.
    pub async fn turn(&self) -> Work {
        Work(Arc::clone(&self.0).read_owned().await)
    }

    /// The same, but not for ever.
    async fn work(&self) -> Result<Work, Failure> {
        timeout(PATIENCE, self.turn()).await.map_err(|_| {
            let why = "A trial is being measured, and nothing else is done meanwhile. Reload this page in a moment.";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, why)
        })
    }

    /// Waits for the pages that are being made; from a thread of the lab.
    pub fn silence(&self, pages: &Handle) -> Silence {
        Silence(pages.block_on(Arc::clone(&self.0).write_owned()))
    }
}

/// Stands before every page: receives what was sent with the request, waits for the page's turn, and keeps the turn until
/// the page is made, whether or not somebody still waits for it.
pub async fn gate(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let request = match desk.bodies.receive(request).await {
        Ok(request) => request,
        Err(failure) => return failure.into_response(),
    };
    let turn = match desk.quiet.work().await {
        Ok(turn) => turn,
        Err(failure) => return failure.into_response(),
    };
    // A task of its own: a connection that is closed ends this one, but not the thread that reads the store.
    let made = tokio::spawn(async move {
        let page = next.run(request).await;
        drop(turn);
        page
    });
    made.await.unwrap_or_else(|_| Failure::bug().into_response())
}

#[cfg(test)]
#[path = "quiet/tests.rs"]
mod tests;
