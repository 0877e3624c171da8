//! How to reproduce a run: the command with its seed, the design, and the hashes of the workloads.

use super::contenders::{line, quoted};
use crate::{RunReport, units};
use maud::{Markup, html};
use model::observation::Containers;
use model::{Cell, Design, Metric, Run, Study};
use std::time::Duration;

pub(super) fn section(told: &RunReport) -> Markup {
    let (run, f) = (told.run, told.findings);
    let design = &run.study.design;
    html! {
        section #reproduce aria-labelledby="reproduce-title" {
            h2 #reproduce-title { "Reproduce this run" }
            p { "To run the same trials in the same order on this machine:" }
            pre tabindex="0" { code { (again(run)) } }
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

/// The command that repeats this run.
fn again(run: &Run) -> String {
    if run.race.is_none() {
        let quick = if run.quick { " --quick" } else { "" };
        return format!("drome run {}{quick} --seed {}", quoted(&run.name), run.seed);
    }
    let entries = run.contenders.values().map(|entrant| quoted(entrant.raced_command()));
    let commands = match run.race.as_ref().and_then(|race| race.containers.as_ref()) {
        Some(containers) => of_images(run, containers),
        None => entries.collect::<Vec<_>>().join(" "),
    };
    let names = run.contenders.values().filter(|entrant| !entrant.command.is_empty());
    let names: String = names.map(|entrant| format!(" --name {}", quoted(&entrant.title))).collect();
    let cell = run.study.cells.first().map(of_cell).unwrap_or_default();
    let design = &run.study.design;
    let decide = if design.decide { String::new() } else { format!(" --precision {}", design.precision) };
    let metric = match (design.metric, run.study.cells.first().and_then(|cell| cell.load.rate_per_s())) {
        (Metric::Latency(p), Some(rate)) => format!(" --metric {}@{}", p.word(), rate),
        (metric, _) => format!(" --metric {}", metric.word()),
    };
    let prepare = run.race.as_ref().and_then(|race| race.prepare.as_deref());
    let prepare = prepare.map_or_else(String::new, |command| format!(" --prepare {}", quoted(command)));
    let any = run.race.as_ref().is_some_and(|race| race.body_bytes.is_none());
    format!(
        "drome race {commands}{names}{cell} --duration {} --warmup {} --budget {}{metric}{decide}{prepare}{} --seed {}",
        option(design.measure),
        option(design.warmup),
        option(design.budget),
        if any { " --any-body" } else { "" },
        run.seed
    )
}

/// The options that name the images of a race and say how they are run.
fn of_images(run: &Run, containers: &Containers) -> String {
    let images = run.contenders.values().filter_map(|entrant| entrant.image.as_ref());
    let images = images.map(|image| format!("--image {}", quoted(image.pinned())));
    let start = containers.start.iter().map(|line| format!("--start {}", quoted(line)));
    let env = containers.env.iter().map(|variable| format!("--env {}", quoted(variable)));
    let tool = std::iter::once(format!("--container-tool {}", quoted(&line(&containers.tool))));
    let args = containers.args.iter().map(|arg| quoted(&format!("--container-arg={arg}")));
    images.chain(start).chain(env).chain(tool).chain(args).collect::<Vec<_>>().join(" ")
}

fn of_cell(cell: &Cell) -> String {
    let reuse = if cell.load.per_connection().is_some() { " --no-keepalive" } else { "" };
    format!(" --url {} --connections {}{reuse}", quoted(&cell.title), cell.load.connections())
}

/// A time in the syntax of an option.
fn option(time: Duration) -> String {
    if time.subsec_nanos() == 0 { format!("{}s", time.as_secs()) } else { format!("{}ms", time.as_millis()) }
}

/// The metrics in the order of the cells, without repetition.
fn decided_by(study: &Study) -> String {
    let mut words: Vec<&str> = (0..study.cells.len()).map(|cell| study.metric(cell).word()).collect();
    words.dedup();
    words.join(", then ")
}

fn design_facts(run: &Run, design: &Design) -> Vec<(&'static str, String)> {
    let time = |time: Duration| units::duration(time.as_nanos() as f64);
    let [least, most] = design.blocks;
    vec![
        ("Seed", run.seed.to_string()),
        ("Blocks", format!("{least} to {most}")),
        ("Warm-up of a trial", time(design.warmup)),
        ("Measurement of a trial", time(design.measure)),
        ("Ranked by", decided_by(&run.study)),
        ("Wanted precision", format!("±{}", units::percent(design.precision))),
        ("Budget", time(design.budget)),
    ]
}
