//! The page of a run: its verdict, one chart, its tables, where the CPU time goes, and its reports as text; or the page of an import.

use super::failure::Failure;
use super::frame::{self, SitePlace, moment};
use super::profiles::{self, RunProfile};
use super::{App, cells, url};
use crate::command::report::{Format, formats_of_printed, show_printed};
use crate::ui::state::{Analysed, AppState};
use axum::extract::{Path, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use model::page::Replays;
use model::{Findings, Import};
use report::{RunReport, TextStyle, chart, units};
use std::sync::Arc;
use store::Stored;
use store::{Listed, Printed};

enum Shown {
    Run(Arc<Analysed>, Vec<RunProfile>),
    Import(Import),
    Replays(Box<Replays>),
    Printed(Printed),
}

/// The page of a run or of an import.
pub async fn show(State(app): App, Path(id): Path<String>) -> Result<Markup, Failure> {
    let read = move |app: &AppState| {
        let is_run = |listed: &Listed| listed.id == id && listed.kind.is_measured();
        if app.store()?.runs()?.iter().any(is_run) {
            return of_measured(app, &id);
        }
        Ok(match app.store()?.find(Some(&id))? {
            Stored::Import(import) => Shown::Import(import),
            Stored::Replays(replays) => Shown::Replays(replays),
            Stored::Printed(printed) => Shown::Printed(printed),
            Stored::Run(..) => of_measured(app, &id)?,
        })
    };
    let (title, body) = match app.work(read).await? {
        Shown::Run(run, profiles) => (run.findings.title.clone(), of_run(&run, &profiles)),
        Shown::Import(import) => (import.title.clone(), of_import(&import)),
        Shown::Replays(replays) => (replays.title.clone(), of_replays(&replays)),
        Shown::Printed(printed) => (printed.title.clone(), of_printed(&printed)),
    };
    Ok(frame::shell(app.under_way().is_some(), &title, SitePlace::Runs, &body))
}

fn of_measured(app: &AppState, id: &str) -> Result<Shown, Failure> {
    // Profiles are stored when a run is over, so they are read each time.
    Ok(Shown::Run(app.analysed(id)?, profiles::of_run(&app.store()?, id)?))
}

fn of_run(analysed: &Analysed, profiles: &[RunProfile]) -> Markup {
    let f = &analysed.findings;
    html! {
        div.head {
            h1 { (f.title) }
            p.lead {
                (f.study) ", " (moment(&f.started_at)) ", "
                @if let Some(origin) = &f.origin { "on " (origin.machine) ", " }
                (f.ended)
            }
        }
        (links(f))
        (report::verdict::document(f).html())
        (overview(f))
        (cells::sections(&f.cells, &analysed.outcomes))
        (profiles::section(&f.run, profiles))
        @for missing in &f.missing { p.note { (missing.name) " did not take part: " (missing.why) } }
        section.card {
            h2 { "How it was measured" }
            ul.notes {
                @for line in report::race::conditions(f).iter().chain(&report::ranking::preface(f)) { li { (line) } }
            }
        }
    }
}

fn overview(f: &Findings) -> Markup {
    let chart = chart::overview(f);
    html! {
        @if let Some(chart) = chart {
            figure.card {
                div.scroll tabindex="0" role="region" aria-label={ "Chart: " (chart.caption.title) } {
                    img src={ "/runs/" (url::part(&f.run)) "/chart" } loading="lazy"
                        alt={ (chart.caption.title) ". " (chart.caption.finding) };
                }
            }
        }
    }
}

fn links(f: &Findings) -> Markup {
    let to = |what: &str| format!("/runs/{}/{what}", url::part(&f.run));
    html! {
        nav.actions aria-label="This run" {
            a.button.primary href=(to("report")) { "Full report" }
            a.button href=(to("markdown")) download={ (f.run) ".md" } { "Markdown" }
            a.button href=(to("json")) download={ (f.run) ".json" } { "JSON" }
            a.button href=(to("csv")) download={ (f.run) ".csv" } { "CSV" }
            // Races have nothing in common by which they could be compared.
            @if f.race.is_none() {
                a.button href={ "/compare?run=" (url::part(&f.run)) } { "Compare with another run" }
            }
        }
    }
}

/// The chart of a run.
pub async fn picture(State(app): App, Path(id): Path<String>) -> Result<Response, Failure> {
    let analysed = app.work(move |app| app.analysed(&id)).await?;
    let chart = chart::overview(&analysed.findings).ok_or_else(no_such_part)?;
    // A separate picture: it contains its style and loads nothing.
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    let fields = [(CONTENT_TYPE, "image/svg+xml"), (CONTENT_SECURITY_POLICY, policy)];
    Ok((fields, chart.svg).into_response())
}

/// The report of `drome report`: as a page, or as a text file to download.
pub async fn report(
    State(app): App,
    Path((id, format)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let format = match format.as_str() {
        "report" => Format::Html,
        "markdown" => Format::Markdown,
        "json" => Format::Json,
        "csv" => Format::Csv,
        _ => return Err(no_such_part()),
    };
    let text = app.work(move |app| rendered(app, &id, format)).await?;
    let fields: [(HeaderName, &str); 2] = match format {
        // The report is a separate page that names its own script and style by their digests. The sandbox, which a
        // page can't declare itself, isolates it from our pages, so that nothing in it can press our buttons.
        Format::Html => [
            (CONTENT_TYPE, "text/html; charset=utf-8"),
            (CONTENT_SECURITY_POLICY, "sandbox allow-scripts; frame-ancestors 'none'"),
        ],
        _ => [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CONTENT_DISPOSITION, "attachment")],
    };
    Ok((fields, text).into_response())
}

/// The report of a run or of a single measurement in a format.
fn rendered(app: &AppState, id: &str, format: Format) -> Result<String, Failure> {
    let store = app.store()?;
    let (run, ended) = match store.find(Some(id))? {
        Stored::Run(run, ended) => (run, ended),
        Stored::Printed(printed) => {
            return show_printed(&printed, format).map_err(|e| Failure::wrong(format!("{e:#}")));
        }
        Stored::Import(_) | Stored::Replays(_) => {
            let why = format!("{id} has no report: it was imported or made with --as-published.");
            return Err(Failure::wrong(why));
        }
    };
    let mut findings = lab::findings::of(&store, &run, ended.as_deref())?;
    findings.profiles = crate::command::profile_dir::differences(&store, &run.id)?;
    let observations = lab::findings::all(&store, &run.id)?;
    let whole = RunReport { run: &run, observations: &observations, findings: &findings };
    crate::command::report::show(&whole, format, &TextStyle::default())
        .map_err(|e| Failure::inner(format!("{e:#}")))
}

fn no_such_part() -> Failure {
    Failure::new(
        StatusCode::NOT_FOUND,
        "There is no such page. A run has its page, chart, report, markdown, json and csv.",
    )
}

/// The formats in which a single measurement can be downloaded, if its command has them: each with its name and the file's extension.
const DOWNLOADS: [(Format, &str, &str); 3] =
    [(Format::Markdown, "Markdown", "md"), (Format::Json, "JSON", "json"), (Format::Csv, "CSV", "csv")];

/// The report of a single measurement, as it was printed.
fn of_printed(printed: &Printed) -> Markup {
    let formats = formats_of_printed(printed);
    html! {
        div.head {
            h1 { (printed.title) }
            p.lead { (printed.ended) ", " (moment(&printed.started_at)) }
        }
        nav.actions aria-label="This measurement" {
            @for (_, name, ending) in DOWNLOADS.iter().filter(|(format, ..)| formats.contains(format)) {
                a.button href={ "/runs/" (url::part(&printed.id)) "/" (name.to_lowercase()) }
                    download={ (printed.id) "." (ending) } { (name) }
            }
        }
        pre.card tabindex="0" role="region" aria-label="Report as text" { (printed.terminal) }
    }
}

fn of_replays(replays: &Replays) -> Markup {
    let document = report::replays::document(replays);
    html! {
        div.head {
            h1 { (replays.title) }
            p.lead { (replays.name) ", as published, " (moment(&replays.started_at)) }
        }
        ul.notes { @for line in document.preface() { li { (line) } } }
        (document.html())
    }
}

/// An import: figures that other tools measured.
fn of_import(import: &Import) -> Markup {
    html! {
        div.head {
            h1 { (import.title) }
            p.lead {
                "Imported " (moment(&import.imported_at)) " from "
                @for (i, source) in import.sources.iter().enumerate() {
                    @if i > 0 { ", " } (source.name)
                }
                ". drome did not measure these figures: they have no intervals and are not ranked."
            }
        }
        (report::imported::document(import).html())
        @let strange: Vec<&String> = import.sources.iter().flat_map(|source| &source.strange).collect();
        @if !strange.is_empty() {
            details.card {
                summary { (units::several(strange.len(), "line")) " not understood" }
                pre { @for line in strange { (line) "\n" } }
            }
        }
    }
}

#[cfg(test)]
#[path = "run/tests.rs"]
mod tests;
