//! Imports a report that is dropped on the page, or chosen, as `drome import` does.

use super::error_page::ErrorPage;
use super::{App, Asked, url};
use crate::stored::imported::{NamedText, nothing, of};
use crate::ui::access::body::{IMPORT_PATH, LARGEST_FILE_BYTES};
use crate::ui::state::AppState;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderName, StatusCode, header};
use maud::{Markup, html};

/// Reads a file, which is the whole body, stores the import, and says where its page is. Query: `name`, what the file is called.
pub async fn receive(
    State(app): App,
    Query(asked): Asked,
    body: Bytes,
) -> Result<(StatusCode, [(HeaderName, String); 1]), ErrorPage> {
    let name = url::value(&asked, "name").unwrap_or_default().to_owned();
    let id = app.work(move |app| keep(app, name, &body)).await?;
    Ok((StatusCode::CREATED, [(header::LOCATION, format!("/runs/{}", url::part(&id)))]))
}

fn keep(app: &AppState, name: String, body: &[u8]) -> Result<String, ErrorPage> {
    if name.is_empty() {
        return Err(ErrorPage::wrong(
            "No file was sent. Choose one on the page Runs, or use the command line: drome import FILE.",
        ));
    }
    let Some((text, _)) = dialects::page::decode(body.to_vec()) else {
        return Err(ErrorPage::wrong(format!("{name} is not text: save it as UTF-8 text first.")));
    };
    let import = of(vec![NamedText { text, name: name.clone() }]);
    if import.items.is_empty() {
        return Err(ErrorPage::wrong(nothing(&[name], "nothing was stored").to_string()));
    }
    app.store()?.add_import(&import)?;
    Ok(import.id)
}

/// The tools whose reports are read.
fn tools() -> String {
    dialects::readers().collect::<Vec<_>>().join(", ")
}

/// The area to drop files on, with a button to choose one.
pub fn zone() -> Markup {
    html! {
        section aria-labelledby="import" {
            h2 id="import" { "Import a report" }
            div.drop data-drop=(IMPORT_PATH) data-largest=(LARGEST_FILE_BYTES) {
                p {
                    "Drop a page or a report of another tool here (" (tools()) ", or a table of figures), or choose a file. \
                     It is stored beside your own runs and never ranked with them."
                }
                p.actions {
                    label.unseen for="file" { "A file with a report" }
                    input type="file" id="file" accept=".txt,.md,.html,.htm,.log,.json,text/*,application/json";
                }
                noscript { p.note { "Without scripts this page sends no files. Use the command line: drome import FILE." } }
                p.failure role="alert" data-drop-failure="" hidden {}
            }
        }
    }
}
