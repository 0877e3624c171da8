//! The page of a flame graph: where one contender of a run spends its CPU time. It is complete without scripts: each box is a link that
//! zooms, and the search is a form. With the script of this page, both happen at once, and by keyboard.

use super::error_page::ErrorPage;
use super::frame::{self, SitePlace};
use super::{App, Asked, profiles, url};
use crate::flame::{Graph, View};
use crate::stored::profiles::read;
use crate::ui::state::AppState;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use maud::{Markup, html};
use profile::{CallTree, StoredProfile};
use report::units;

/// Calls with less than this share of all CPU time are not drawn.
const LEAST_SHARE: f64 = 0.001;

/// The flame graph of a contender. Queries: `frame`, the box that is as wide as the picture, by its number; `q`, what is searched.
pub async fn show(
    State(app): App,
    Path((run, contender)): Path<(String, String)>,
    Query(asked): Asked,
) -> Result<Markup, ErrorPage> {
    let sought = url::value(&asked, "q").unwrap_or_default().trim().to_owned();
    let zoomed = url::value(&asked, "frame").and_then(|number| number.parse().ok()).unwrap_or(0);
    let draw = move |app: &AppState| {
        let page = Page::read(app, run, contender)?;
        let view = View { zoomed, sought: &sought };
        Ok((page.title(), page.body(&view)))
    };
    let (title, body) = app.work(draw).await?;
    Ok(frame::shell(app.under_way().is_some(), &title, SitePlace::Runs, &body))
}

/// What the page is made from.
struct Page {
    run: String,
    /// The contender's name; in a race its letter.
    contender: String,
    stored: StoredProfile,
    tree: CallTree,
    /// The other contenders of the run that have a profile.
    others: Vec<String>,
}

impl Page {
    fn read(app: &AppState, run: String, contender: String) -> Result<Self, ErrorPage> {
        let store = app.store()?;
        let Some(row) = store.profile(&run, &contender)? else {
            let why = format!(
                "Run {run} has no profile of {contender}. `drome race --profile DIR` and `drome run --profile DIR` make one of each contender."
            );
            return Err(ErrorPage::new(StatusCode::NOT_FOUND, why));
        };
        let tree = serde_json::from_str::<CallTree>(&row.tree).ok();
        let (Some(stored), Some(tree)) = (read(&row.json), tree) else {
            let why = format!(
                "The profile of {contender} in run {run} can't be read: it is damaged, or a newer drome wrote it."
            );
            return Err(ErrorPage::inner(why));
        };
        let mut others: Vec<String> = store.profiles(&run)?.into_iter().map(|(name, _)| name).collect();
        others.retain(|name| *name != contender);
        Ok(Self { run, contender, stored, tree, others })
    }

    fn title(&self) -> String {
        format!("CPU time of {}", profiles::title(&self.contender, &self.stored))
    }

    fn body(&self, view: &View<'_>) -> Markup {
        let run = format!("/runs/{}", url::part(&self.run));
        html! {
            div.head {
                h1 { (self.title()) }
                p.lead { (self.stored.summary) }
            }
            nav.actions aria-label="This run" {
                a.button href=(run) { "Back to the run" }
                @for other in &self.others {
                    a.button href=(profiles::flame_graph(&self.run, other)) { "Flame graph of " (other) }
                }
            }
            section.card aria-label="Flame graph" {
                @if self.tree.samples() == 0 { p { "Nothing was sampled." } } @else { (self.picture(view)) }
            }
            script src="/assets/flame.js" defer {}
        }
    }

    /// The search, the picture, and how to read it.
    fn picture(&self, view: &View<'_>) -> Markup {
        let here = profiles::flame_graph(&self.run, &self.contender);
        let (title, cpu_ns) = (self.title(), self.stored.cpu_ns_per_answer);
        let graph = Graph {
            title: &title,
            tree: &self.tree,
            cpu_ns_per_answer: cpu_ns,
            changes_ns: None,
            least_share: LEAST_SHARE,
        };
        let least_share = self.stored.least_share.max(LEAST_SHARE);
        html! {
            p {
                "Each box is a function, and the boxes below it are the functions that it called. "
                "The width is CPU time" @if let Some(ns) = cpu_ns { ": all of it is " (units::duration(ns)) " per answer" } "."
            }
            ul.legend {
                li { span.swatch.kernel {} "kernel" }
                li { span.swatch.jit {} "compiled at run time" }
                li { span.swatch.user {} "all other code" }
                li { span.swatch.found {} "found by the search" }
            }
            form.search action=(here) method="get" role="search" data-flame-search="" {
                label for="q" { "Search" }
                input type="search" id="q" name="q" value=(view.sought) placeholder="function" autocomplete="off";
                @if view.zoomed > 0 { input type="hidden" name="frame" value=(view.zoomed); }
                button type="submit" { "Search" }
                a.button href=(here) data-flame-reset="" { "Reset" }
            }
            p aria-live="polite" data-flame-matched="" { (graph.matched(view.sought)) }
            (graph.draw(view, |at| Some(link(at, view.sought))))
            p.here data-flame-here="" { (graph.words_of_zoomed(view)) }
            p.unseen aria-live="polite" data-flame-zoomed="" {}
            p.faint {
                "A click zooms in. By keyboard: the arrow keys move to the caller, to the largest callee and to the functions beside it, "
                "Enter zooms in, Escape goes back."
            }
            p.faint {
                "Calls with less than " (units::share(least_share))
                " of the CPU time are left out. Their time counts for the function that called them."
            }
        }
    }
}

/// The same page with this call as wide as the picture.
fn link(at: usize, sought: &str) -> String {
    let search = if sought.is_empty() { String::new() } else { format!("&q={}", url::part(sought)) };
    format!("?frame={at}{search}")
}
