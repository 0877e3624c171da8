//! The contenders, and which are installed. Finding a version runs a command, so the page is sent first and then
//! asks for one contender after the other.

use super::failure::Failure;
use super::frame::{self, Place};
use super::url;
use crate::ui::state::AppState;
use axum::extract::{Path, State};
use lab::setup;
use maud::{Markup, html};
use model::Contender;
use std::collections::BTreeMap;
use std::sync::Arc;

/// All contenders of the catalog.
pub async fn list(State(app): State<Arc<AppState>>) -> Markup {
    show(&app, &BTreeMap::new())
}

/// The same with all versions at once, for browsers without scripts. It is a POST because it runs commands and
/// writes to the cache, which no link or frame may do.
pub async fn list_installed(State(app): State<Arc<AppState>>) -> Result<Markup, Failure> {
    let all = |app: &AppState| {
        app.catalog.contenders.keys().map(|name| Ok((name.clone(), ask(app, name)?))).collect()
    };
    let states = app.work(all).await?;
    Ok(show(&app, &states))
}

fn show(app: &AppState, states: &BTreeMap<String, Markup>) -> Markup {
    let body = html! {
        div.head {
            h1 { "Contenders" }
            p.lead {
                (app.catalog.contenders.len()) " servers to compare. Install missing ones with "
                code { "drome install NAME" } "."
            }
        }
        noscript {
            form.actions action="/contenders" method="post" {
                button type="submit" { "Check which are installed" }
                span.faint { "This takes some seconds." }
            }
        }
        p.faint aria-live="polite" data-asked="" {}
        table.list.contenders {
            caption.unseen { "Contenders and whether they are installed" }
            thead { tr {
                th scope="col" { "Contender" } th scope="col" { "Language" } th scope="col" { "Serves" } th scope="col" { "On this machine" }
            } }
            tbody {
                @for (name, entry) in &app.catalog.contenders {
                    (row(name, &entry.contender, states.get(name)))
                }
            }
        }
    };
    frame::shell(Some(app), "Contenders", Place::Contenders, &body)
}

fn row(name: &str, contender: &Contender, state: Option<&Markup>) -> Markup {
    let serves: Vec<&str> = contender.serves.keys().map(String::as_str).collect();
    // The homepage in a contender's file is untrusted text: only http and https become links.
    let is_web = contender.homepage.starts_with("https://") || contender.homepage.starts_with("http://");
    html! {
        tr {
            th scope="row" {
                @if is_web { a href=(contender.homepage) rel="noreferrer" { (contender.title) } } @else { (contender.title) }
                span.id { (name) }
            }
            td data-label="Language" { (contender.language) }
            td data-label="Serves" { (serves.join(", ")) }
            td data-label="On this machine" {
                @match state {
                    Some(state) => (state),
                    None => span data-ask={ "/contenders/" (url::part(name)) } { "…" },
                }
            }
        }
    }
}

/// The state of one contender on this machine, as a piece of the page. A POST, as above.
pub async fn state(State(app): State<Arc<AppState>>, Path(name): Path<String>) -> Result<Markup, Failure> {
    app.work(move |app| ask(app, &name)).await
}

fn ask(app: &AppState, name: &str) -> Result<Markup, Failure> {
    let prepared = setup::prepare(&app.catalog, &[name.to_owned()]).map_err(|error| match error {
        setup::SetupError::Catalog(error) => Failure::from(error),
        error => Failure::inner(error.to_string()),
    })?;
    Ok(match prepared.first().map(lab::prepare::Prepared::version) {
        Some(Ok(version)) => html! { span.state.faster { "installed" } " " (version) },
        Some(Err(lack)) => {
            html! { span.state.open { "missing" } " " (lack.why) "; to install: " (lack.remedy) }
        }
        None => html! { "unknown" },
    })
}
