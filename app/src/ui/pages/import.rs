//! Imports a report that is dropped on the page, or chosen, as `drome import` does.

use super::failure::Failure;
use super::url;
use crate::command::import::{NamedText, nothing, of};
use crate::ui::access::body::{IMPORT_PATH, LARGEST_FILE_BYTES};
use crate::ui::state::AppState;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Redirect;
use maud::{Markup, html};
use std::sync::Arc;

/// Reads the files, stores the import, and redirects to its page.
pub async fn receive(
    State(app): State<Arc<AppState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Redirect, Failure> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let id = app.work(move |app| keep(app, texts(&content_type, &body)?)).await?;
    Ok(Redirect::to(&format!("/runs/{}", url::part(&id))))
}

/// The files of the form, as text.
fn texts(content_type: &str, body: &[u8]) -> Result<Vec<NamedText>, Failure> {
    let files = wire::multipart::files(content_type, body);
    let files = files.map_err(|error| {
        Failure::wrong(format!(
            "No file could be read: {error}. Choose one on the page Runs, or drop it there."
        ))
    })?;
    if files.is_empty() {
        return Err(Failure::wrong("No file was sent: choose one, or drop it on the page."));
    }
    let text = |file: wire::multipart::FilePart<'_>| {
        let Some((text, _)) = dialects::page::decode(file.bytes.to_vec()) else {
            return Err(Failure::wrong(format!("{} is not text: save it as UTF-8 text first.", file.name)));
        };
        Ok(NamedText { text, name: file.name })
    };
    files.into_iter().map(text).collect()
}

fn keep(app: &AppState, pages: Vec<NamedText>) -> Result<String, Failure> {
    let names: Vec<String> = pages.iter().map(|page| page.name.clone()).collect();
    let import = of(pages);
    if import.items.is_empty() {
        return Err(Failure::wrong(nothing(&names, "nothing was stored").to_string()));
    }
    app.store()?.add_import(&import)?;
    Ok(import.id)
}

/// The tools whose reports are read.
fn tools() -> String {
    dialects::readers().map(|(tool, _)| tool).collect::<Vec<_>>().join(", ")
}

/// The area to drop files on, with a button that does the same.
pub fn zone() -> Markup {
    html! {
        section aria-labelledby="import" {
            h2 id="import" { "Import a report" }
            form.drop action=(IMPORT_PATH) method="post" enctype="multipart/form-data" data-drop=(LARGEST_FILE_BYTES) {
                p {
                    "Drop a page or a report of another tool here (" (tools()) ", or a table of figures), or choose a file. \
                     It is stored beside your own runs and never ranked with them."
                }
                p.actions {
                    label.unseen for="file" { "A file with a report" }
                    input type="file" id="file" name="file" accept=".txt,.md,.html,.htm,.log,.json,text/*,application/json" required;
                    button type="submit" { "Import" }
                }
                p.failure role="alert" data-drop-failure="" hidden {}
            }
        }
    }
}
