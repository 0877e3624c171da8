//! The list of runs, by title, with each one's verdict in a line. It is searched and divided into pages on the server, so
//! that pages stay small.

use super::error_page::ErrorPage;
use super::frame::{self, SitePlace, moment};
use super::{App, Asked, import, url};
use crate::stored::machines;
use axum::extract::{Query, State};
use maud::{Markup, html};
use model::study::RACE;
use report::chips::{self, Chip};
use report::units;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use store::{EntryKind, Listed};

/// Runs on a page.
const ON_A_PAGE: usize = 50;

/// The longest time for finding verdicts that are not cached, because the next step waits for the page. The others are found when the
/// list is shown again.
const VERDICTS: Duration = Duration::from_millis(300);

/// The verdicts by run, as far as they are known.
type Verdicts = BTreeMap<String, Arc<str>>;

/// Lists all runs, the latest first.
pub async fn list(State(app): App, Query(asked): Asked) -> Result<Markup, ErrorPage> {
    let all = app.work(|app| Ok(app.store()?.everything()?)).await?;
    let sought = url::value(&asked, "q").unwrap_or_default().trim().to_lowercase();
    let number = url::value(&asked, "page").and_then(|n| n.parse().ok()).unwrap_or(1);
    let machines = Machines::of(&all, url::value(&asked, "machine").unwrap_or_default());
    let is_sought = |run: &&Listed| machines.is_chosen(run) && searched(run).to_lowercase().contains(&sought);
    let found: Vec<&Listed> = all.iter().filter(is_sought).collect();
    let pages = found.len().div_ceil(ON_A_PAGE).max(1);
    let number = number.clamp(1, pages);
    let shown = found.iter().skip((number - 1) * ON_A_PAGE).take(ON_A_PAGE);
    let shown: Vec<&Listed> = shown.copied().collect();
    let decided = shown.iter().filter(|run| run.kind.is_measured() && run.ended.is_some());
    let decided: Vec<String> = decided.map(|run| run.id.clone()).collect();
    let verdicts = app.work(move |app| app.verdicts(&decided, VERDICTS)).await?;
    let starts: usize = all.iter().filter(|run| run.kind.is_measured()).map(|run| run.count).sum();
    let body = html! {
        div.head {
            h1 { "Runs" }
            @if !all.is_empty() {
                p.lead { (units::several(all.len(), "run")) " stored, " (units::count(starts as u64)) " starts" }
            }
        }
        @if all.is_empty() { (nothing_yet()) } @else {
            (search(&sought, &machines))
            @if shown.is_empty() {
                p { "No run matches “" (sought) "” in its name, number or state. " a href="/" { "Show all runs" } }
            } @else {
                (table(&shown, &verdicts, &machines))
                (turning(number, pages, &sought, &machines))
            }
        }
        (import::zone())
    };
    Ok(frame::shell(app.under_way().is_some(), "Runs", SitePlace::Runs, &body))
}

/// The machines of all runs, and the one whose runs are listed.
struct Machines {
    /// Empty where all runs are this machine's.
    names: BTreeSet<String>,
    /// Empty: all.
    chosen: String,
}

impl Machines {
    fn of(runs: &[Listed], chosen: &str) -> Self {
        let has_others = runs.iter().any(|run| run.machine.is_some());
        let names = runs.iter().filter(|_| has_others).map(|run| machines::name(run).to_owned()).collect();
        Self { names, chosen: chosen.to_owned() }
    }

    fn is_chosen(&self, run: &Listed) -> bool {
        self.chosen.is_empty() || machines::name(run) == self.chosen
    }
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

fn search(sought: &str, machines: &Machines) -> Markup {
    html! {
        form.search action="/" method="get" role="search" {
            label for="q" { "Search" }
            input type="search" id="q" name="q" value=(sought) placeholder="name, number or state";
            @if !machines.names.is_empty() {
                label for="machine" { "Machine" }
                select id="machine" name="machine" {
                    option value="" { "all" }
                    @for name in &machines.names {
                        option value=(name) selected[*name == machines.chosen] { (name) }
                    }
                }
            }
            button type="submit" { "Search" }
        }
    }
}

fn table(runs: &[&Listed], verdicts: &Verdicts, machines: &Machines) -> Markup {
    let has_machines = !machines.names.is_empty();
    html! {
        form.choose action="/compare" method="get" data-choose="2" {
            table.list {
                caption.unseen { "Runs, the latest first" }
                thead {
                    tr {
                        th scope="col" { span.unseen { "Select two to compare" } }
                        th scope="col" { "Run" }
                        @if has_machines { th scope="col" { "Machine" } }
                        th scope="col" { "Started" }
                        th scope="col" { "Verdict" }
                        th.number scope="col" { "Size" }
                    }
                }
                tbody { @for run in runs { (row(run, verdicts.get(&run.id), has_machines)) } }
            }
            p.actions {
                button type="submit" { "Compare the two selected runs" }
                span.faint aria-live="polite" data-choose-count="" {}
            }
        }
    }
}

fn row(run: &Listed, verdict: Option<&Arc<str>>, has_machines: bool) -> Markup {
    html! {
        tr {
            td.tick {
                @if run.kind.is_measured() {
                    input type="checkbox" name="run" value=(run.id) aria-label={ "Compare " (run.title) " of " (run.started_at) };
                }
            }
            th scope="row" {
                a href={ "/runs/" (url::part(&run.id)) } { (run.title) }
                (chips::draw(&states(run)))
                span.id { @if run.name != run.title { (run.name) ", " } (run.id) }
            }
            @if has_machines { td data-label="Machine" { (machines::name(run)) } }
            td data-label="Started" { (moment(&run.started_at)) }
            td data-label="Verdict" {
                @match verdict {
                    Some(verdict) => (verdict),
                    None => span.faint { (without(run)) },
                }
            }
            td.number data-label="Size" { (units::several(run.count, run.word())) }
        }
    }
}

/// Why a run is listed without a verdict.
fn without(run: &Listed) -> &'static str {
    match (run.kind, &run.ended) {
        (EntryKind::Readings, _) => "none: drome did not measure it",
        (EntryKind::CommandLines, _) => "none: each command line was run once",
        (EntryKind::Report, _) => "none: it compares nothing",
        (EntryKind::Starts, None) => "none yet",
        (EntryKind::Starts, Some(_)) => "open the run for its verdict",
    }
}

/// What kind of run it is, unless it is an ordinary one, and its state, unless it is simply over.
fn states(run: &Listed) -> Vec<Chip> {
    let once = |ended: &str| {
        let why = match ended {
            "void" => "Its figures can't be believed: open it for the reason",
            _ => "It was interrupted: it has what was measured until then",
        };
        Chip::open(ended, why)
    };
    match (run.kind, &run.ended) {
        (EntryKind::Readings, _) => {
            let why = "Another tool measured it: it is never ranked with runs of drome";
            vec![Chip::plain("imported", why)]
        }
        (EntryKind::CommandLines, ended) => {
            let kind = Chip::plain("as published", "A page's own command lines, each run once");
            let state = ended.is_none().then(|| once("interrupted"));
            [Some(kind), state].into_iter().flatten().collect()
        }
        (EntryKind::Report, ended) => {
            let (word, why) = (run.word(), "One measurement, kept as it was printed");
            let state = ended.as_deref().filter(|ended| ["void", "interrupted"].contains(ended)).map(once);
            [Some(Chip::plain(word, why)), state].into_iter().flatten().collect()
        }
        (EntryKind::Starts, Some(_)) => Vec::new(),
        (EntryKind::Starts, None) => vec![unfinished(run)],
    }
}

fn unfinished(run: &Listed) -> Chip {
    let how = match run.name.as_str() {
        _ if run.machine.is_some() => {
            "It had not ended when it was pulled, and can't be continued here".to_owned()
        }
        RACE => "It is under way, or it was interrupted; a race can't be continued".to_owned(),
        name => format!("It is under way, or it was interrupted: drome run {name} --resume continues it"),
    };
    Chip::open("unfinished", how)
}

/// What a search looks at.
fn searched(run: &Listed) -> String {
    let state = run.ended.as_deref().unwrap_or("unfinished");
    let machine = run.machine.as_deref().unwrap_or_default();
    format!("{} {} {} {state} {machine}", run.title, run.name, run.id)
}

fn turning(number: usize, pages: usize, sought: &str, machines: &Machines) -> Markup {
    let machine = if machines.chosen.is_empty() {
        String::new()
    } else {
        format!("&machine={}", url::part(&machines.chosen))
    };
    let to = |n: usize| format!("/?q={}{machine}&page={n}", url::part(sought));
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

#[cfg(test)]
#[path = "runs/tests.rs"]
mod tests;
