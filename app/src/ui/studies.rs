//! Studies, and the button that starts one.

use super::desk::Desk;
use super::failure::Failure;
use super::page::{self, Place};
use super::sitting::Wanted;
use super::url;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::Redirect;
use lab::{left, schedule, setup};
use maud::{Markup, html};
use model::contender::Track;
use model::{Load, Study};
use report::{progress, units};
use std::collections::BTreeSet;
use std::sync::Arc;

/// All studies of the catalog.
pub async fn list(State(desk): State<Arc<Desk>>) -> Markup {
    let body = html! {
        div.head {
            h1 { "Studies" }
            p.lead { "A study says who is raced, what they are asked, and how sure the answer must be." }
        }
        ul.cards {
            @for (name, study) in &desk.catalog.studies {
                li.card {
                    h2 { a href={ "/studies/" (url::part(name)) } { (study.title) } }
                    p.faint { (name) }
                    p {
                        (units::several(study.contenders.len(), "contender")) ", "
                        (units::several(study.cells.len(), "cell")) "; "
                        (study.design.blocks[0]) " to " (units::several(study.design.blocks[1], "block"))
                    }
                    @if let Some(source) = &study.source { p.faint { "After " (source) } }
                }
            }
        }
    };
    page::shell(Some(&desk), "Studies", Place::Studies, &body)
}

/// One study: what it asks, who takes part, and the button.
pub async fn show(State(desk): State<Arc<Desk>>, Path(name): Path<String>) -> Result<Markup, Failure> {
    let study = desk.catalog.study(&name)?;
    let under_way = desk.under_way();
    let body = html! {
        div.head {
            h1 { (study.title) }
            p.lead {
                (name) @if let Some(source) = &study.source { ", after " (source) }
            }
        }
        @if let Some(sitting) = &under_way {
            p.note { "“" (sitting.wanted.title) "” is under way, and only one study is measured at a time. " a href="/live" { "Watch it" } }
        }
        section.card {
            h2 { "What is asked" }
            ul.notes {
                @for cell in &study.cells { li { strong { (cell.title) } ": " (cell.workload) ", " (load(&cell.load)) } }
            }
            @if !study.unequal.is_empty() {
                details {
                    summary { "What was not the same for all on the page" }
                    ul.notes { @for line in &study.unequal { li { (line) } } }
                }
            }
        }
        (form(&desk, &name, study, under_way.is_some()))
    };
    Ok(page::shell(Some(&desk), &study.title, Place::Studies, &body))
}

fn form(desk: &Desk, name: &str, study: &Study, is_busy: bool) -> Markup {
    let design = &study.design;
    let mut quick = study.clone();
    setup::quicken(&mut quick);
    let of = |contender: &String| {
        let known = desk.catalog.contenders.get(contender);
        let has_tuned = known.is_some_and(|entry| entry.contender.tuned.is_some());
        quick.tracks.iter().filter(|track| **track == Track::Default || has_tuned).count()
    };
    // The reference enters twice.
    let entrants = study.contenders.iter().map(of).sum::<usize>() + 2;
    let [blocks, _] = quick.design.blocks;
    let takes = left::guess(&quick.design, entrants * quick.cells.len() * blocks);
    let title = |contender: &String| {
        let known = desk.catalog.contenders.get(contender);
        known.map_or_else(|| contender.clone(), |entry| entry.contender.title.clone())
    };
    html! {
        form.card action={ "/studies/" (url::part(name)) } method="post" {
            h2 { "Start it" }
            fieldset {
                legend { "How much" }
                label.choice {
                    input type="radio" name="how" value="quick" checked;
                    span { strong { "A first look" } " " (units::several(blocks, "short block")) ", no ranks, about " (progress::long(takes)) }
                }
                label.choice {
                    input type="radio" name="how" value="full";
                    span {
                        strong { "In full" } " at least " (units::several(design.blocks[0], "block")) ", until every ratio is known to ±"
                        (schedule::percent(design.precision)) " % or "
                        (humantime::format_duration(design.budget)) " are spent"
                    }
                }
            }
            fieldset {
                legend { "Who takes part, beside the reference" }
                div.choices {
                    @for contender in &study.contenders {
                        label.choice {
                            input type="checkbox" name="contender" value=(contender) checked;
                            span { (title(contender)) }
                        }
                    }
                }
                p.faint { "Who is missing on this machine does not take part. " a href="/contenders" { "See who is installed" } }
            }
            p.faint {
                "A page that is drawn takes time from the machine that is measured: while a trial is under way, this page \
                 does nothing, and other pages wait for its end. Let no other program run meanwhile."
            }
            p.actions { button.primary type="submit" disabled[is_busy] { "Start the study" } }
        }
    }
}

fn load(load: &Load) -> String {
    let reuse = match load.per_connection() {
        None => "kept open".to_owned(),
        Some(1) => "a new one for every request".to_owned(),
        Some(n) => format!("a new one after {n} requests"),
    };
    let kind = load.rate_per_s().map_or("closed load", |_| "open load");
    format!("{kind}, {}, {reuse}", units::several(load.connections(), "connection"))
}

/// The button.
pub async fn start(
    State(desk): State<Arc<Desk>>,
    Path(name): Path<String>,
    Form(form): Form<Vec<(String, String)>>,
) -> Result<Redirect, Failure> {
    let study = desk.catalog.study(&name)?;
    let contenders: BTreeSet<String> = url::values(&form, "contender").map(str::to_owned).collect();
    if let Some(other) = contenders.iter().find(|c| !study.contenders.contains(c)) {
        return Err(Failure::wrong(format!("{name} has no contender {other}.")));
    }
    if contenders.is_empty() {
        return Err(Failure::wrong("Nobody would take part: tick at least one contender."));
    }
    let quick = match url::value(&form, "how") {
        Some("quick") => true,
        Some("full") => false,
        _ => return Err(Failure::wrong("How much is to be measured: quick or full.")),
    };
    let wanted = Wanted { study: name.clone(), title: study.title.clone(), quick, contenders };
    if desk.start(wanted) {
        Ok(Redirect::to("/live"))
    } else {
        let why =
            "A study is under way, and only one is measured at a time: watch it or stop it on the page Live.";
        Err(Failure::new(StatusCode::CONFLICT, why))
    }
}
