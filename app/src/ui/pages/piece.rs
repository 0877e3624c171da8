//! The piece of the running study's page that changes. The lab's thread draws it before each trial.

use super::{cells, url};
use crate::ui::job::known::{Known, Phase};
use maud::{Markup, html};
use report::{progress, units};

/// The part of the page that changes.
pub fn fragment(known: &Known, is_stopping: bool) -> Markup {
    let is_over = known.is_over();
    html! {
        div.piece data-over[is_over] {
            section.card.now {
                p.status data-status=(known.trial.as_ref().map_or(known.done, |trial| trial.block + 1)) { (status(known, is_stopping)) }
                @if known.least > 0 {
                    progress max=(known.least) value=(known.done.min(known.least)) aria-label="Progress towards the minimum number of trials or heats" {}
                    p.faint { (so_far(known)) }
                    @if let Some(undecided) = known.findings.as_ref().and_then(progress::undecided) { p.faint { (undecided) } }
                }
                @if let (true, Some(run)) = (is_over, &known.run) {
                    p.actions { a.button.primary href={ "/runs/" (url::part(&run.id)) } { "Open the report" } }
                }
            }
            @if let Some(findings) = &known.findings {
                (cells::sections(&findings.cells, &known.outcomes, known.trial.as_ref()))
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
fn status(known: &Known, is_stopping: bool) -> String {
    let trial = known.run.as_ref().zip(known.trial.as_ref());
    match (&known.phase, trial) {
        (Phase::Failed(why), _) => format!("Failed: {why}"),
        (Phase::Over(why), _) => format!("Ended: {why}"),
        (_, _) if is_stopping => "Stopping".to_owned(),
        (Phase::Preparing, _) => "Preparing: unpacking sources and checking versions".to_owned(),
        (Phase::Measuring, _) if known.heat.is_some() => known.heat.clone().unwrap_or_default(),
        (Phase::Measuring, None) => "Starting the first trial".to_owned(),
        (Phase::Measuring, Some((run, trial))) => {
            let cell = run.study.cells.get(trial.cell).map_or("", |cell| cell.title.as_str());
            let who =
                run.contenders.get(&trial.contender).map_or(trial.contender.as_str(), |e| e.title.as_str());
            format!("Block {} of at least {}: {who}, {cell}", trial.block + 1, run.study.design.blocks[0])
        }
    }
}

/// How many trials or heats are done, and the remaining time.
fn so_far(known: &Known) -> String {
    let is_in_heats = known.run.as_ref().is_some_and(|run| run.study.design.heats.is_some());
    let unit = if is_in_heats { "heat" } else { "trial" };
    let done = format!("{} of at least {}", known.done, units::several(known.least, unit));
    match known.left.filter(|_| known.phase == Phase::Measuring) {
        Some(left) => format!("{done}; {}", progress::left(left.about, left.most)),
        None => done,
    }
}
