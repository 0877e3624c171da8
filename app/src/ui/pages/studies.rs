//! The pages of studies, with the form that starts one.

use super::error_page::ErrorPage;
use super::frame::{self, SitePlace};
use super::{App, url};
use crate::ui::job::WantedStudy;
use crate::ui::state::AppState;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Redirect;
use judge::schedule::budget;
use judge::schedule::stopping_rule::percent;
use lab::setup::{self, Lineup, RunRules};
use maud::{Markup, html};
use model::Study;
use report::{offered, progress, units};
use std::collections::BTreeSet;
use std::time::Duration;

/// All studies of the catalog.
pub async fn list(State(app): App) -> Markup {
    let body = html! {
        div.head {
            h1 { "Studies" }
            p.lead { "A study defines the contenders, their workloads, and how precise the result must be." }
        }
        ul.cards {
            @for (name, study) in &app.catalog.studies {
                li.card {
                    h2 { a href={ "/studies/" (url::part(name)) } { (study.title) } }
                    p.faint { (name) }
                    p {
                        (units::several(study.contenders.len(), "contender")) ", "
                        (units::several(study.cells.len(), "cell")) "; "
                        (study.design.rounds[0]) " to " (units::several(study.design.rounds[1], "round"))
                    }
                    @if let Some(source) = &study.source { p.faint { "After " (source) } }
                }
            }
        }
    };
    frame::shell(app.under_way().is_some(), "Studies", SitePlace::Studies, &body)
}

/// One study: its cells, its contenders, and the form that starts it.
pub async fn show(State(app): App, Path(name): Path<String>) -> Result<Markup, ErrorPage> {
    let study = app.catalog.study(&name)?;
    let under_way = app.under_way();
    let body = html! {
        div.head {
            h1 { (study.title) }
            p.lead {
                (name) @if let Some(source) = &study.source { ", after " (source) }
            }
        }
        @if let Some(job) = &under_way {
            p.note { "“" (job.wanted.title) "” is running, and only one study is measured at a time. " a href="/live" { "Watch it" } }
        }
        section.card {
            h2 { "Cells" }
            ul.notes {
                @for cell in &study.cells { li { strong { (cell.title) } ": " (cell.workload) ", " (offered::cell_words(&cell.load, cell.transport())) } }
            }
            @if !study.unequal.is_empty() {
                details {
                    summary { "What differed between contenders on the published page" }
                    ul.notes { @for line in &study.unequal { li { (line) } } }
                }
            }
        }
        (form(&app, &name, study, under_way.is_some()))
    };
    Ok(frame::shell(under_way.is_some(), &study.title, SitePlace::Studies, &body))
}

fn form(app: &AppState, name: &str, study: &Study, is_busy: bool) -> Markup {
    let design = &study.design;
    let mut quick = study.clone();
    setup::quicken(&mut quick);
    let [rounds, _] = quick.design.rounds;
    let takes = length(app, name, quick).map(|time| format!(", about {}", progress::long(time)));
    let title = |contender: &String| {
        let known = app.catalog.contenders.get(contender);
        known.map_or_else(|| contender.clone(), |entry| entry.contender.title.clone())
    };
    html! {
        form.card action={ "/studies/" (url::part(name)) } method="post" {
            h2 { "New run" }
            fieldset {
                legend { "Length" }
                label.choice {
                    input type="radio" name="how" value="quick" checked;
                    span { strong { "A first look" } ": " (units::several(rounds, "short round")) ", no ranks" (takes.unwrap_or_default()) }
                }
                label.choice {
                    input type="radio" name="how" value="full";
                    span {
                        strong { "The full study" } ": at least " (units::several(design.rounds[0], "round")) ", until all neighbours in the ranking are decided or their ratios are known to ±"
                        (percent(design.precision)) " %, or the budget of "
                        (humantime::format_duration(design.budget)) " is spent"
                    }
                }
            }
            fieldset {
                legend { "Contenders, besides the reference" }
                div.choices {
                    @for contender in &study.contenders {
                        label.choice {
                            input type="checkbox" name="contender" value=(contender) checked;
                            span { (title(contender)) }
                        }
                    }
                }
                p.faint { "Contenders that are not installed do not take part. " a href="/contenders" { "See which are installed" } }
            }
            p.faint {
                "Building a page takes CPU time from the measurement. So while a server is under load, this page does nothing, \
                 and other pages wait for the next pause. Run no other programs meanwhile."
            }
            p.actions { button.primary type="submit" disabled[is_busy] { "Start the study" } }
        }
    }
}

/// About how long the least rounds of a study take, with all that are installed.
fn length(app: &AppState, name: &str, study: Study) -> Option<Duration> {
    let lineup = Lineup::of_study(&app.catalog, &study).ok()?;
    Some(budget::forecast(&lineup.run(name, study, RunRules::default()))?.first_look().time)
}

/// Starts a study.
pub async fn start(
    State(app): App,
    Path(name): Path<String>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Redirect, ErrorPage> {
    let study = app.catalog.study(&name)?;
    let contenders: BTreeSet<String> = url::values(&form, "contender").map(str::to_owned).collect();
    if let Some(other) = contenders.iter().find(|c| !study.contenders.contains(c)) {
        return Err(ErrorPage::wrong(format!("{name} has no contender {other}.")));
    }
    if contenders.is_empty() {
        return Err(ErrorPage::wrong("No contender is selected: select at least one."));
    }
    let quick = match url::value(&form, "how") {
        Some("quick") => true,
        Some("full") => false,
        _ => return Err(ErrorPage::wrong("Choose a length: quick or full.")),
    };
    let wanted = WantedStudy { study: name.clone(), title: study.title.clone(), quick, contenders };
    if app.start(wanted) {
        Ok(Redirect::to("/live"))
    } else {
        let why =
            "A study is running, and only one is measured at a time: watch it or stop it on the page Live.";
        Err(ErrorPage::new(StatusCode::CONFLICT, why))
    }
}
