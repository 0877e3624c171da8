//! The comparison of two runs, as in `drome compare`.

use super::error_page::ErrorPage;
use super::frame::{self, SitePlace};
use super::{App, Asked, url};
use crate::ui::state::AppState;
use axum::extract::{Query, State};
use judge::findings::compare::CompareError;
use maud::{Markup, html};
use model::comparison::Comparison;
use report::units;
use store::Listed;

/// The number of runs to choose from here; older ones can be selected on the page *Runs*.
const OFFERED: usize = 200;

/// Compares the two chosen runs, the earlier first, or shows a form to choose them.
pub async fn show(State(app): App, Query(asked): Asked) -> Result<Markup, ErrorPage> {
    let chosen: Vec<String> =
        url::values(&asked, "run").filter(|id| !id.is_empty()).map(str::to_owned).collect();
    let anyway = url::value(&asked, "anyway").is_some();
    let (runs, told) = app.work(move |app| read(app, &chosen, anyway)).await?;
    let body = html! {
        div.head {
            h1 { "Compare two runs" }
            p.lead { "Each contender is compared by its ratio to drome's own server in the same run, so that a slower machine is not mistaken for a slower server." }
        }
        (chooser(&runs, &told))
        @match &told.outcome {
            None => { @if told.chosen.len() != 2 && !told.chosen.is_empty() { p.note { "Choose a second run." } } }
            Some(Err(why)) => (refused(&told.chosen, why)),
            Some(Ok(comparison)) => (report::compare::document(comparison).html()),
        }
    };
    Ok(frame::shell(app.under_way().is_some(), "Compare", SitePlace::Compare, &body))
}

struct Chosen {
    chosen: Vec<String>,
    outcome: Option<Result<Comparison, CompareError>>,
}

fn read(app: &AppState, chosen: &[String], anyway: bool) -> Result<(Vec<Listed>, Chosen), ErrorPage> {
    let mut runs = app.store()?.runs()?;
    if chosen.len() > 2 {
        return Err(ErrorPage::wrong(format!("{} runs are selected: select only two.", chosen.len())));
    }
    // The list has the latest first.
    let age = |id: &String| runs.iter().position(|run| run.id == *id).map_or(0, |at| usize::MAX - at);
    let mut chosen = chosen.to_vec();
    chosen.sort_by_key(age);
    let outcome = match chosen.as_slice() {
        [old, new] => {
            let (old, new) = (app.analysed(old)?, app.analysed(new)?);
            Some(judge::findings::compare::compare(&old.findings, &new.findings, anyway))
        }
        _ => None,
    };
    runs.truncate(OFFERED);
    Ok((runs, Chosen { chosen, outcome }))
}

fn chooser(runs: &[Listed], told: &Chosen) -> Markup {
    let select = |id: &'static str, label: &'static str, chosen: Option<&String>| {
        html! {
            div.field {
                label for=(id) { (label) }
                select id=(id) name="run" {
                    option value="" { "choose a run" }
                    @for run in runs {
                        option value=(run.id) selected[chosen == Some(&run.id)] {
                            (run.title) ", " (run.started_at) ", " (units::several(run.count, run.kind.word()))
                            @if let Some(machine) = &run.machine { ", " (machine) }
                        }
                    }
                }
            }
        }
    };
    html! {
        @if runs.len() < 2 {
            p.note { "A comparison needs two runs of a study; there are " (runs.len()) ". " a href="/studies" { "Run a study" } }
        } @else {
            form.card.fields action="/compare" method="get" {
                (select("old", "First run", told.chosen.first()))
                (select("new", "Second run", told.chosen.get(1)))
                button type="submit" { "Compare" }
            }
        }
    }
}

fn refused(chosen: &[String], why: &CompareError) -> Markup {
    html! {
        p.failure role="alert" { (why) }
        @if let (CompareError::Unequal { .. }, [old, new]) = (why, chosen) {
            p { a href={ "/compare?run=" (url::part(old)) "&run=" (url::part(new)) "&anyway=1" } { "Compare them anyway" } }
        }
    }
}
