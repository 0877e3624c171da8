//! The list of runs. It is searched and divided into pages on the server, so that pages stay small.

use super::failure::Failure;
use super::frame::{self, Place, moment};
use super::{import, url};
use crate::ui::state::AppState;
use axum::extract::{Query, State};
use lab::store::{Kind, Listed};
use maud::{Markup, html};
use report::units;
use std::sync::Arc;

/// Runs on a page.
const ON_A_PAGE: usize = 50;

/// Lists all runs, the latest first.
pub async fn list(
    State(app): State<Arc<AppState>>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Markup, Failure> {
    let all = app.work(|app| Ok(app.store()?.runs()?)).await?;
    let sought = url::value(&asked, "q").unwrap_or_default().trim().to_lowercase();
    let number = url::value(&asked, "page").and_then(|n| n.parse().ok()).unwrap_or(1);
    let is_sought =
        |run: &&Listed| format!("{} {} {}", run.name, run.id, state(run)).to_lowercase().contains(&sought);
    let found: Vec<&Listed> = all.iter().filter(is_sought).collect();
    let pages = found.len().div_ceil(ON_A_PAGE).max(1);
    let number = number.clamp(1, pages);
    let shown = found.iter().skip((number - 1) * ON_A_PAGE).take(ON_A_PAGE);
    let shown: Vec<&Listed> = shown.copied().collect();
    let trials: usize = all.iter().filter(|run| !is_foreign(run)).map(|run| run.count).sum();
    let body = html! {
        div.head {
            h1 { "Runs" }
            @if !all.is_empty() {
                p.lead { (units::several(all.len(), "run")) " stored, " (units::count(trials as u64)) " trials and starts" }
            }
        }
        @if all.is_empty() { (nothing_yet()) } @else {
            (search(&sought))
            @if shown.is_empty() {
                p { "No run matches “" (sought) "” in its study, number or state. " a href="/" { "Show all runs" } }
            } @else {
                (table(&shown))
                (turning(number, pages, &sought))
            }
        }
        (import::zone())
    };
    Ok(frame::shell(Some(&app), "Runs", Place::Runs, &body))
}

fn nothing_yet() -> Markup {
    html! {
        section.card.hero {
            h2 { "No runs yet" }
            p { "A study compares servers and reports which is faster, by how much, and how certain that is." }
            p { a.button.primary href="/studies" { "Choose a study" } }
            p.faint { "Or on the command line: " code { "drome run raspberry-pi" } }
        }
    }
}

fn search(sought: &str) -> Markup {
    html! {
        form.search action="/" method="get" role="search" {
            label for="q" { "Search" }
            input type="search" id="q" name="q" value=(sought) placeholder="study, number or state";
            button type="submit" { "Search" }
        }
    }
}

fn table(runs: &[&Listed]) -> Markup {
    html! {
        form.choose action="/compare" method="get" data-choose="2" {
            table.list {
                caption.unseen { "Runs, the latest first" }
                thead {
                    tr {
                        th scope="col" { span.unseen { "Select two to compare" } }
                        th scope="col" { "Study" }
                        th scope="col" { "Started" }
                        th.number scope="col" { "Size" }
                        th scope="col" { "State" }
                    }
                }
                tbody { @for run in runs { (row(run)) } }
            }
            p.actions {
                button type="submit" { "Compare the two selected runs" }
                span.faint aria-live="polite" data-choose-count="" {}
            }
        }
    }
}

fn row(run: &Listed) -> Markup {
    html! {
        tr {
            td.tick {
                @if !is_foreign(run) {
                    input type="checkbox" name="run" value=(run.id) aria-label={ "Compare " (run.name) " of " (run.started_at) };
                }
            }
            th scope="row" { a href={ "/runs/" (url::part(&run.id)) } { (run.name) } span.id { (run.id) } }
            td data-label="Started" { (moment(&run.started_at)) }
            td.number data-label="Size" { (units::several(run.count, run.kind.word())) }
            td data-label="State" {
                @match class(run) { Some(class) => span.state.(class) { (state(run)) }, None => (state(run)) }
            }
        }
    }
}

/// Whether the run has no trials.
fn is_foreign(run: &Listed) -> bool {
    !run.kind.is_measured()
}

/// The class of a state that is highlighted.
fn class(run: &Listed) -> Option<&'static str> {
    match &run.ended {
        _ if is_foreign(run) => Some("imported"),
        Some(_) => None,
        None => Some("open"),
    }
}

fn state(run: &Listed) -> String {
    match &run.ended {
        _ if run.kind == Kind::Readings => "imported".to_owned(),
        _ if run.kind == Kind::CommandLines => "as published".to_owned(),
        Some(why) => why.clone(),
        None => format!("unfinished: drome run {} --resume continues it", run.name),
    }
}

fn turning(number: usize, pages: usize, sought: &str) -> Markup {
    let to = |n: usize| format!("/?q={}&page={n}", url::part(sought));
    html! {
        @if pages > 1 {
            nav.turning aria-label="Pages" {
                @if number > 1 { a href=(to(number - 1)) rel="prev" { "← Newer" } }
                span { "page " (number) " of " (pages) }
                @if number < pages { a href=(to(number + 1)) rel="next" { "Older →" } }
            }
        }
    }
}
