//! How to reproduce a run: the command with its seed, the design, and the hashes of the workloads.

use super::contenders::quoted;
use crate::{RunReport, units};
use maud::{Markup, html};
use model::{Design, Run, Study};
use std::time::Duration;

pub(super) fn section(told: &RunReport) -> Markup {
    let (run, f) = (told.run, told.findings);
    let design = &run.study.design;
    html! {
        section #reproduce aria-labelledby="reproduce-title" {
            h2 #reproduce-title { "Reproduce this run" }
            @if let Some(command) = again(run) {
                p { "To repeat this run with the same seed on the machine that made it:" }
                pre tabindex="0" { code { (command) } }
            }
            p { "To compare the new run with this one, by each contender's share of the reference:" }
            pre tabindex="0" { code { (format!("drome compare {} NEW-RUN", quoted(&run.id))) } }
            p { "All figures of this page as JSON: " code { (format!("drome report {} --format json", quoted(&run.id))) } }
            h3 { "Design" }
            dl.facts { @for (name, value) in design_facts(run, design) { dt { (name) } dd { (value) } } }
            @if !f.workloads.is_empty() {
                h3 { "Workloads" }
                dl.facts { @for (name, hash) in &f.workloads { dt { (name) } dd { "SHA-256 " code { (hash) } } } }
            }
        }
    }
}

/// The command that repeats this run; `None`: it was not begun by one, or an older version did not keep it.
fn again(run: &Run) -> Option<String> {
    let words: Vec<String> = run.command.iter().map(|word| quoted(word)).collect();
    (!words.is_empty()).then(|| format!("drome {} --seed {}", words.join(" "), run.seed))
}

/// The metrics in the order of the cells, without repetition.
fn decided_by(study: &Study) -> String {
    let mut words: Vec<&str> = (0..study.cells.len()).map(|cell| study.metric(cell).word()).collect();
    words.dedup();
    words.join(", then ")
}

fn design_facts(run: &Run, design: &Design) -> Vec<(&'static str, String)> {
    let time = |time: Duration| units::duration(time.as_nanos() as f64);
    let [least, most] = design.rounds;
    vec![
        ("Seed", run.seed.to_string()),
        ("Rounds", format!("{least} to {most}")),
        ("Warm-up of a start", time(design.warmup)),
        ("Measurement of a start", time(design.measure)),
        ("Ranked by", decided_by(&run.study)),
        ("Wanted precision", format!("±{}", units::percent(design.precision))),
        ("Budget", time(design.budget)),
    ]
}
