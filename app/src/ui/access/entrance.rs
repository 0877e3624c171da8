//! Lets a request through to its page: when its body is complete, and when no server is under load.

use crate::ui::pages::error_page::ErrorPage;
use crate::ui::pauses::{PageHeld, Pauses};
use crate::ui::state::AppState;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The longest wait of a page, after which it shows the reason.
const PATIENCE: Duration = Duration::from_secs(20);

/// Wraps every page: receives the request's body, waits for a pause of the measurement, and holds it until the page is
/// built, even if the client has gone.
pub async fn enter(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let request = match app.bodies.receive(request).await {
        Ok(request) => request,
        Err(failure) => return failure.into_response(),
    };
    let held = match page_in_time(&app.pauses).await {
        Ok(held) => held,
        Err(failure) => return failure.into_response(),
    };
    // In a separate task: closing the connection ends this one, but not the thread that reads the store.
    let made = tokio::spawn(async move {
        let page = next.run(request).await;
        drop(held);
        page
    });
    made.await.unwrap_or_else(|_| ErrorPage::bug().into_response())
}

/// Waits for the end of the current step, but not for ever.
async fn page_in_time(pauses: &Pauses) -> Result<PageHeld, ErrorPage> {
    timeout(PATIENCE, pauses.page()).await.map_err(|_| {
        let why =
            "A server is being measured, and drome builds no pages meanwhile. Reload this page in a moment.";
        ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, why)
    })
}
