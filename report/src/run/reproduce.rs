//! How to reproduce a run: the command with its seed, the design, and the hashes of the workloads.

use super::contenders::quoted;
use crate::document::Document;
use crate::{RunReport, units};
use model::{Design, Run, Study};
use std::time::Duration;

pub(super) fn document(told: &RunReport) -> Document {
    let (run, id) = (told.run, quoted(&told.run.id));
    let mut document = Document::default().section("reproduce", "Reproduce this run");
    if let Some(command) = again(run) {
        let how = "To repeat this run with the same seed on the machine that made it:";
        document = document.sentence(how).code(command);
    }
    document = document
        .sentence("To compare the new run with this one, by each contender's share of the reference:")
        .code(format!("drome compare {id} NEW-RUN"))
        .sentence("All figures of this page as JSON:")
        .code(format!("drome report {id} --format json"))
        .heading(3, "Design")
        .texts(design_facts(run, &run.study.design));
    let workloads = &told.findings.workloads;
    if workloads.is_empty() {
        return document;
    }
    let hashes = workloads.iter().map(|(name, hash)| (name, format!("SHA-256 `{hash}`")));
    document.heading(3, "Workloads").texts(hashes)
}

/// The command that repeats this run; `None`: it was not begun by one, or an older version did not keep it.
fn again(run: &Run) -> Option<String> {
    let mut words: Vec<String> = run.command.iter().map(|word| quoted(word)).collect();
    if words.is_empty() {
        return None;
    }
    // What follows `--` are no options: in a race they are servers.
    let end = run.command.iter().position(|word| word == "--").unwrap_or(words.len());
    words.insert(end, format!("--seed {}", run.seed));
    Some(format!("drome {}", words.join(" ")))
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
