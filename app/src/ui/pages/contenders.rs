//! The contenders, and which are installed. Finding a version runs a command, so the page is sent first and then
//! asks for one contender after the other.

mod filter;

use super::error_page::ErrorPage;
use super::frame::{self, SitePlace};
use super::{App, Asked, url};
use crate::ui::state::AppState;
use axum::extract::{Path, Query, State};
use filter::Filter;
use lab::setup;
use maud::{Markup, html};
use model::Contender;
use report::chips::{self, Chip};
use std::collections::BTreeMap;

/// The number of workloads that a row shows; it shows all of them when it is opened.
const WORKLOADS: usize = 3;

/// The workloads that are shown first: what most studies ask for.
const FIRST: [&str; 3] = ["hello", "json", "echo"];

/// The contenders of the catalog that the query asks for.
pub async fn list(State(app): App, Query(asked): Asked) -> Markup {
    show(&app, &Filter::of(&asked, &app.catalog), &BTreeMap::new())
}

/// The same list with all versions at once, for browsers without scripts. It is a POST because it runs commands and
/// writes to the cache, which no link or frame may do.
pub async fn list_installed(State(app): App, Query(asked): Asked) -> Result<Markup, ErrorPage> {
    let filter = Filter::of(&asked, &app.catalog);
    let wanted = filter.clone();
    let all = move |app: &AppState| {
        let listed = app.catalog.contenders.iter();
        let listed = listed.filter(|(name, entry)| wanted.lets_through(name, &entry.contender, None));
        listed.map(|(name, _)| Ok((name.clone(), ask(app, name)?))).collect()
    };
    let states = app.work(all).await?;
    Ok(show(&app, &filter, &states))
}

fn show(app: &AppState, filter: &Filter, states: &BTreeMap<String, Markup>) -> Markup {
    let all = app.catalog.contenders.iter();
    let listed: Vec<(&String, &Contender)> = all
        .map(|(name, entry)| (name, &entry.contender))
        .filter(|(name, contender)| filter.lets_through(name, contender, app.is_installed(name)))
        .collect();
    let body = html! {
        div.head {
            h1 { "Contenders" }
            p.lead {
                @if listed.len() < app.catalog.contenders.len() { (listed.len()) " of " }
                (app.catalog.contenders.len()) " servers to compare. Install missing ones with "
                code { "drome install NAME" } "."
            }
        }
        (filter.form(&app.catalog))
        noscript {
            form.actions action=(filter.address()) method="post" {
                button type="submit" { "Check which are installed" }
                span.faint { "This takes some seconds." }
            }
        }
        p.faint aria-live="polite" data-asked="" {}
        @if listed.is_empty() {
            p { "No contender matches. " a href="/contenders" { "Show all contenders" } }
        } @else {
            table.list.contenders data-installed=[filter.installed()] {
                caption.unseen { "Contenders and whether they are installed" }
                thead { tr {
                    th scope="col" { "Contender" } th scope="col" { "Language" } th scope="col" { "Kind" }
                    th scope="col" { "Serves" } th scope="col" { "On this machine" }
                } }
                tbody { @for (name, contender) in listed { (row(name, contender, states.get(name))) } }
            }
        }
    };
    frame::shell(app.under_way().is_some(), "Contenders", SitePlace::Contenders, &body)
}

fn row(name: &str, contender: &Contender, state: Option<&Markup>) -> Markup {
    // The homepage in a contender's file is untrusted text: only http and https become links.
    let is_web = contender.homepage.starts_with("https://") || contender.homepage.starts_with("http://");
    html! {
        tr {
            th scope="row" {
                @if is_web { a href=(contender.homepage) rel="noreferrer" { (contender.title) } } @else { (contender.title) }
                span.id { (name) }
            }
            td data-label="Language" { (contender.language) }
            td data-label="Kind" { (filter::kind_and_class(contender)) }
            td data-label="Serves" { (serves(contender)) }
            td data-label="On this machine" {
                @match state {
                    Some(state) => (state),
                    None => span data-ask={ "/contenders/" (url::part(name)) } { "…" },
                }
            }
        }
    }
}

/// The first workloads that a contender serves, and the others on demand.
fn serves(contender: &Contender) -> Markup {
    let (first, others): (Vec<&str>, Vec<&str>) =
        contender.serves.keys().map(String::as_str).partition(|name| FIRST.contains(name));
    let all = [first, others].concat();
    match all.split_at_checked(WORKLOADS) {
        Some((first, more)) if !more.is_empty() => html! {
            details {
                summary { (first.join(", ")) " and " (more.len()) " more" }
                (more.join(", "))
            }
        },
        _ => html! { (all.join(", ")) },
    }
}

/// The state of one contender on this machine, as a piece of the page. A POST, for the reasons of [`list_installed`].
pub async fn state(State(app): App, Path(name): Path<String>) -> Result<Markup, ErrorPage> {
    app.work(move |app| ask(app, &name)).await
}

fn ask(app: &AppState, name: &str) -> Result<Markup, ErrorPage> {
    let prepared = setup::prepare(&app.catalog, &[name.to_owned()]).map_err(|error| match error {
        setup::SetupError::Catalog(error) => ErrorPage::from(error),
        error => ErrorPage::inner(error.to_string()),
    })?;
    let version = prepared.first().map(control::prepare::Prepared::version);
    app.know_installed(name, version.as_ref().map(Result::is_ok));
    Ok(match version {
        Some(Ok(version)) => {
            html! { (chips::draw(&[Chip::good("installed", "It can take part in a study here")])) " " (version) }
        }
        Some(Err(lack)) => {
            let chip = Chip::open("missing", "It does not take part in a study here");
            html! { (chips::draw(&[chip])) " " (lack.why) "; to install: " (lack.remedy) }
        }
        None => html! { "unknown" },
    })
}

#[cfg(test)]
#[path = "contenders/tests.rs"]
mod tests;
