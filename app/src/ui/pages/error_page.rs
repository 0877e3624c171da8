//! Error pages, with the reason and the next step.

use super::frame;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;

/// A status and a sentence.
#[derive(Debug)]
pub struct ErrorPage {
    status: StatusCode,
    why: String,
}

impl ErrorPage {
    /// A failure with this status.
    pub fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, why: why.into() }
    }

    /// A request that is wrong.
    pub fn wrong(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// An error of drome itself.
    pub fn inner(why: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, why)
    }

    /// A panic; the terminal shows its message.
    pub fn bug() -> Self {
        Self::inner(
            "drome has a bug and could not build this page. The terminal shows more; please report it.",
        )
    }
}

impl From<store::StoreError> for ErrorPage {
    fn from(error: store::StoreError) -> Self {
        match error {
            store::StoreError::NoRun(id) => {
                Self::new(StatusCode::NOT_FOUND, format!("There is no run {id}. The list shows all runs."))
            }
            error => Self::inner(error.to_string()),
        }
    }
}

impl From<control::CatalogError> for ErrorPage {
    fn from(error: control::CatalogError) -> Self {
        Self::new(StatusCode::NOT_FOUND, error.to_string())
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let body = html! {
            h1 { (title) }
            p.failure role="alert" { (self.why) }
            p { a href="/" { "Show the list of runs" } }
        };
        (self.status, frame::shell(false, title, frame::SitePlace::Nowhere, &body)).into_response()
    }
}

/// The answer for an unknown path.
pub async fn nothing_here() -> ErrorPage {
    ErrorPage::new(StatusCode::NOT_FOUND, "There is no such page.")
}
