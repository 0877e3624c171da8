//! A report that is dropped on the page, or chosen: read as `drome import` reads it.

use super::desk::Desk;
use super::failure::Failure;
use super::url;
use crate::command::import::{NamedText, nothing, of};
use axum::extract::State;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Redirect;
use maud::{Markup, html};
use std::sync::Arc;

/// What is larger is refused: at once where its length is told beforehand, else as soon as so much has come. The command
/// line takes larger files, which need not pass through a browser.
pub const LARGEST_BYTES: usize = 20 << 20;

/// The refusal of a body whose length says that it is too large, before any of it is read.
pub fn too_large(headers: &HeaderMap) -> Option<Failure> {
    let length = headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse::<u64>().ok()?;
    (length > LARGEST_BYTES as u64).then(refusal)
}

fn refusal() -> Failure {
    let why = format!(
        "That is larger than {} MiB. Cut out what is to be read, or use the command line: drome import FILE.",
        LARGEST_BYTES >> 20
    );
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, why)
}

/// Reads, keeps, and shows what was kept.
pub async fn receive(State(desk): State<Arc<Desk>>, mut form: Multipart) -> Result<Redirect, Failure> {
    let mut pages = Vec::new();
    while let Some(field) = form.next_field().await.map_err(|e| broken(&e))? {
        let Some(name) = field.file_name().map(str::to_owned).filter(|name| !name.is_empty()) else {
            continue;
        };
        let bytes = field.bytes().await.map_err(|e| broken(&e))?;
        if bytes.contains(&0) {
            return Err(Failure::wrong(format!("{name} is no text: save it as UTF-8 text first.")));
        }
        pages.push(NamedText { name, text: String::from_utf8_lossy(&bytes).into_owned() });
    }
    if pages.is_empty() {
        return Err(Failure::wrong("No file came: choose one, or drop it on the page."));
    }
    let id = desk.work(move |desk| keep(desk, pages)).await?;
    Ok(Redirect::to(&format!("/runs/{}", url::part(&id))))
}

fn keep(desk: &Desk, pages: Vec<NamedText>) -> Result<String, Failure> {
    let names: Vec<String> = pages.iter().map(|page| page.name.clone()).collect();
    let import = of(pages);
    if import.items.is_empty() {
        return Err(Failure::wrong(nothing(&names, "nothing is kept").to_string()));
    }
    desk.store()?.add_import(&import)?;
    Ok(import.id)
}

fn broken(error: &MultipartError) -> Failure {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        refusal()
    } else {
        Failure::wrong(error.body_text())
    }
}

/// Where files are dropped; a button does the same.
pub fn zone() -> Markup {
    html! {
        section aria-labelledby="import" {
            h2 id="import" { "Import a report" }
            form.drop action="/imports" method="post" enctype="multipart/form-data" data-drop=(LARGEST_BYTES) {
                p {
                    "Drop a page or a report of another tool here (ab, siege, wrk, wrk2, http_load, weighttp, httperf, \
                     or a table of figures), or choose a file. It is kept beside your own runs and never ranked with them."
                }
                p.actions {
                    label.unseen for="file" { "A file with a report" }
                    input type="file" id="file" name="file" accept=".txt,.md,.html,.htm,.log,text/*" required;
                    button type="submit" { "Import" }
                }
                p.failure role="alert" data-drop-failure="" hidden {}
            }
        }
    }
}
