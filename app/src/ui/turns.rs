//! Pages and trials take turns. No page is built during a trial: on a machine of two cores, building a page takes
//! time from the server or the load generator, and the figures would include the page. Pages that are requested
//! meanwhile wait for the end of the trial, and the next trial waits for them. [`gate`] applies this to all pages;
//! a stream of events waits for its own turn.
//!
//! During a trial drome only copies a piece of the page to watching browsers (at the very beginning, while the
//! server is being started), sends the constant style and script, sets the flag that stops a study, and refuses
//! requests without access. All of it is counted as background load (see `lab/src/machine/other_load.rs`).

use super::pages::failure::Failure;
use super::state::AppState;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::time::timeout;

/// The longest wait of a page, after which it shows the reason.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose turn it is. The lock is fair: requests are served in order, so neither side starves.
#[derive(Clone, Debug, Default)]
pub struct Turns(Arc<RwLock<()>>);

/// Held while a page is built.
#[derive(Debug)]
pub struct PageTurn(#[allow(dead_code, reason = "held, not used")] OwnedRwLockReadGuard<()>);

/// Held during a trial.
#[derive(Debug)]
pub struct TrialTurn(#[allow(dead_code, reason = "held, not used")] OwnedRwLockWriteGuard<()>);

impl Turns {
    /// Waits for the end of the current trial, however long it takes.
    pub async fn page(&self) -> PageTurn {
        PageTurn(Arc::clone(&self.0).read_owned().await)
    }

    /// The same, with a limit.
    async fn page_in_time(&self) -> Result<PageTurn, Failure> {
        timeout(PATIENCE, self.page()).await.map_err(|_| {
            let why = "A trial is being measured, and drome builds no pages meanwhile. Reload this page in a moment.";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, why)
        })
    }

    /// Waits for the pages that are being built; called from a thread of the lab.
    pub fn trial(&self, pages: &Handle) -> TrialTurn {
        TrialTurn(pages.block_on(Arc::clone(&self.0).write_owned()))
    }
}

/// Wraps every page: receives the request's body, waits for the page's turn, and keeps the turn until the page is
/// built, even if the client has gone.
pub async fn gate(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let request = match app.bodies.receive(request).await {
        Ok(request) => request,
        Err(failure) => return failure.into_response(),
    };
    let turn = match app.turns.page_in_time().await {
        Ok(turn) => turn,
        Err(failure) => return failure.into_response(),
    };
    // In a separate task: closing the connection ends this one, but not the thread that reads the store.
    let made = tokio::spawn(async move {
        let page = next.run(request).await;
        drop(turn);
        page
    });
    made.await.unwrap_or_else(|_| Failure::bug().into_response())
}

#[cfg(test)]
#[path = "turns/tests.rs"]
mod tests;
