//! What can't be done becomes a page with the reason and the next step.

use super::desk::Desk;
use super::page;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use std::sync::Arc;

/// A status and a sentence.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    why: String,
}

impl Failure {
    /// With this status.
    pub fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }

    /// What was asked can't be.
    pub fn wrong(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// drome's own.
    pub fn inner(why: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }

    /// A panic; the terminal has its message.
    pub fn bug() -> Self {
        Self::inner(
            "drome has a bug, and this page could not be made. The terminal says more; please report it.",
        )
    }
}

impl From<lab::StoreError> for Failure {
    fn from(error: lab::StoreError) -> Self {
        match error {
            lab::StoreError::NoRun(id) => Self::new(
                StatusCode::NOT_FOUND,
                format!("The store has no run {id}: the list shows those there are."),
            ),
            error => Self::inner(error.to_string()),
        }
    }
}

impl From<lab::CatalogError> for Failure {
    fn from(error: lab::CatalogError) -> Self {
        Self::new(StatusCode::NOT_FOUND, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("That did not work");
        let body = html! {
            h1 { (title) }
            p.failure role="alert" { (self.why) }
            p { a href="/" { "To the list of runs" } }
        };
        (self.status, page::shell(None, title, page::Place::Nowhere, &body)).into_response()
    }
}

/// No such page.
pub async fn nothing_here(State(_): State<Arc<Desk>>) -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "There is no such page.")
}
