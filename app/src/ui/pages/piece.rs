//! The piece of the running study's page that changes. The lab's thread draws it between two steps of a heat.

use super::{cells, url};
use crate::ui::job::known::{KnownOfJob, Phase};
use maud::{Markup, html};
use report::{progress, units};

/// The part of the page that changes.
pub fn fragment(known: &KnownOfJob, is_stopping: bool) -> Markup {
    let is_over = known.is_over();
    html! {
        div.piece data-over[is_over] {
            section.card.now {
                p.status data-status=(known.done) { (status(known, is_stopping)) }
                @if known.least > 0 {
                    progress max=(known.least) value=(known.done.min(known.least)) aria-label="Progress towards the minimum number of heats" {}
                    p.faint { (so_far(known)) }
                    @if let Some(undecided) = known.findings.as_ref().and_then(progress::undecided) { p.faint { (undecided) } }
                }
                @if let (true, Some(run)) = (is_over, &known.run) {
                    p.actions { a.button.primary href={ "/runs/" (url::part(&run.id)) } { "Open the report" } }
                }
            }
            @if let Some(findings) = &known.findings {
                (cells::sections(&findings.cells, &known.outcomes))
            }
            @if let Some(run) = &known.run {
                @for (name, entrant) in &run.contenders {
                    @if let Some(why) = &entrant.missing { p.note { (name) " does not take part: " (why) } }
                }
            }
        }
    }
}

/// The current state, as a short text.
fn status(known: &KnownOfJob, is_stopping: bool) -> String {
    match &known.phase {
        Phase::Failed(why) => format!("Failed: {why}"),
        Phase::Over(why) => format!("Ended: {why}"),
        _ if is_stopping => "Stopping".to_owned(),
        Phase::Preparing => "Preparing: unpacking sources and checking versions".to_owned(),
        Phase::Measuring => known.heat.clone().unwrap_or_else(|| "Starting the first heat".to_owned()),
    }
}

/// How many heats are done, and the remaining time.
fn so_far(known: &KnownOfJob) -> String {
    let done = format!("{} of at least {}", known.done, units::several(known.least, "heat"));
    match known.left.filter(|_| known.phase == Phase::Measuring) {
        Some(left) => format!("{done}; {}", progress::left(left.about, left.most)),
        None => done,
    }
}
