//! Receives request bodies. Each is received completely, within limits of size and time, before its page waits for a pause,
//! because a browser that sends slowly must not delay the measurements.

use crate::ui::pages::error_page::ErrorPage;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The path that files are sent to.
pub const IMPORT_PATH: &str = "/imports";

/// The largest file that can be imported in the browser. The command line accepts larger ones.
pub const LARGEST_FILE_BYTES: usize = 20 << 20;

/// The largest form of another kind, which has only a few names.
const LARGEST_FORM_BYTES: usize = 64 << 10;

/// The number of files that are received at once, which bounds their memory.
const FILES_AT_ONCE: usize = 4;

/// The longest time for a body: a slow line sends 20 MiB in two minutes.
const LONGEST: Duration = Duration::from_mins(2);

/// Receives request bodies.
#[derive(Clone, Debug)]
pub struct Bodies {
    files: Arc<Semaphore>,
    longest: Duration,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { files: Arc::new(Semaphore::new(FILES_AT_ONCE)), longest: LONGEST }
    }
}

impl Bodies {
    /// The same request with its complete body.
    pub async fn receive(&self, request: Request) -> Result<Request, ErrorPage> {
        let (parts, body) = request.into_parts();
        let is_file = parts.uri.path() == IMPORT_PATH;
        let most = if is_file { LARGEST_FILE_BYTES } else { LARGEST_FORM_BYTES };
        if announced(&parts.headers).is_some_and(|length| length > most as u64) {
            return Err(too_large(most));
        }
        let _place = if is_file { Some(self.files.try_acquire().map_err(|_| too_many())?) } else { None };
        let whole = timeout(self.longest, whole(body, most)).await.map_err(|_| too_slow(self.longest))??;
        Ok(Request::from_parts(parts, Body::from(whole)))
    }
}

/// The length that a request announces.
fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn whole(body: Body, most: usize) -> Result<Bytes, ErrorPage> {
    let mut pieces = body.into_data_stream();
    let mut all = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| ErrorPage::wrong("The request ended too early."))?;
        if all.len() + piece.len() > most {
            return Err(too_large(most));
        }
        all.extend_from_slice(&piece);
    }
    Ok(all.into())
}

fn too_large(most: usize) -> ErrorPage {
    let why = match most {
        LARGEST_FILE_BYTES => format!(
            "The file is larger than {} MiB. Keep only the reports in it, or use the command line: drome import FILE.",
            most >> 20
        ),
        _ => format!("The form is larger than {} KiB, which is the limit.", most >> 10),
    };
    ErrorPage::new(StatusCode::PAYLOAD_TOO_LARGE, why)
}

fn too_many() -> ErrorPage {
    let why = format!("{FILES_AT_ONCE} files are already being received. Send this one again in a moment.");
    ErrorPage::new(StatusCode::SERVICE_UNAVAILABLE, why)
}

fn too_slow(longest: Duration) -> ErrorPage {
    let why = format!(
        "The request took longer than {} to arrive. Send it again, or use the command line: drome import FILE.",
        humantime::format_duration(longest)
    );
    ErrorPage::new(StatusCode::REQUEST_TIMEOUT, why)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;
    use axum::response::IntoResponse;
    use futures_util::stream::{self, pending};
    use std::convert::Infallible;

    fn request(path: &str, body: Body) -> Request {
        Request::builder().method("POST").uri(path).body(body).unwrap()
    }

    fn pieces(n: usize) -> Body {
        let piece = Bytes::from(vec![b'x'; 1 << 10]);
        Body::from_stream(stream::iter((0..n).map(move |_| Ok::<_, Infallible>(piece.clone()))))
    }

    fn never() -> Body {
        Body::from_stream(pending::<Result<Bytes, Infallible>>())
    }

    fn status(received: Result<Request, ErrorPage>) -> u16 {
        received.err().map_or(200, |failure| failure.into_response().status().as_u16())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_has_bounds_of_size_and_time() {
        let bodies = Bodies::default();
        assert_eq!(status(bodies.receive(request("/studies/x", pieces(64))).await), 200);
        assert_eq!(status(bodies.receive(request("/studies/x", pieces(65))).await), 413);
        assert_eq!(status(bodies.receive(request("/imports", pieces(65))).await), 200);
        assert_eq!(status(bodies.receive(request("/imports", never())).await), 408);
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_files_come_at_once() {
        let bodies = Bodies::default();
        let slow: Vec<_> = (0..FILES_AT_ONCE)
            .map(|_| {
                let bodies = bodies.clone();
                tokio::spawn(async move { status(bodies.receive(request("/imports", never())).await) })
            })
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(status(bodies.receive(request("/imports", pieces(1))).await), 503);
        assert_eq!(status(bodies.receive(request("/studies/x", pieces(1))).await), 200, "other forms are");
        for one in slow {
            assert_eq!(one.await.unwrap(), 408);
        }
        assert_eq!(
            status(bodies.receive(request("/imports", pieces(1))).await),
            200,
            "their places are free"
        );
    }
}
