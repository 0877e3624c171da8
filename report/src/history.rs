//! The history of a study over many runs: for a terminal, as Markdown and as CSV (RFC 4180).

use crate::table::{Side, Table};
use crate::text_style::{Ink, TextStyle};
use crate::{csv, markdown_text as md, units};
use model::Metric;
use model::history::{Cause, CellHistory, ContenderHistory, History, Point, Step};
use std::fmt::Write;

/// A trend shows at most this many of the latest runs.
const COURSE_RUNS: usize = 40;

/// The least height of a trend as a share of its middle, so that noise does not look like a change.
const LEAST_SPAN: f64 = 0.2;

/// For a terminal.
pub fn terminal(history: &History, style: &TextStyle) -> String {
    let line = |text: &str| style.prose(text, Ink::Plain);
    let mut out = line(&headline(history));
    for cell in &history.cells {
        let _ = write!(out, "\n{}\n{}", line(&cell_line(cell)), table(cell).fit(style));
        let lines = remarks(cell);
        if !lines.is_empty() {
            let _ = write!(out, "\n{}", line(&lines.join("\n")));
        }
    }
    let _ = write!(out, "\n{}", line(&foot(history).join("\n")));
    out
}

/// For a page.
pub fn markdown(history: &History) -> String {
    let mut out = format!("**{}**\n", md::words(&headline(history)));
    for cell in &history.cells {
        let _ = write!(out, "\n### {}\n\n{}", md::words(&cell_line(cell)), table(cell).markdown());
        let lines = remarks(cell);
        if !lines.is_empty() {
            let _ = write!(out, "\n{}", md::items(&lines));
        }
    }
    let _ = write!(out, "\n{}\n", foot(history).join("\n\n"));
    out
}

/// One row per contender, cell and run; `step` is the ratio of the step that begins with that run, and `machine` is empty where this
/// machine measured it.
pub fn csv(history: &History) -> String {
    let mut out =
        "cell,workload,contender,run,started_at,drome,version,rate_per_s,of_reference,step,step_cause,machine\n"
            .to_owned();
    for cell in &history.cells {
        for contender in everyone(cell) {
            for (i, (run, point)) in cell.runs.iter().zip(&contender.points).enumerate() {
                let Some(point) = point else { continue };
                let step = contender.steps.iter().find(|step| step.at == i);
                let fields = [
                    cell.title.clone(),
                    cell.workload.clone(),
                    contender.name.clone(),
                    run.run.clone(),
                    run.started_at.clone(),
                    run.drome.clone(),
                    point.version.clone().unwrap_or_default(),
                    format!("{:.3}", point.rate_per_s),
                    point.of_reference.map_or_else(String::new, |ratio| format!("{ratio:.6}")),
                    step.map_or_else(String::new, |step| format!("{:.6}", step.ratio.median)),
                    step.map_or("", |step| cause_word(step.cause)).to_owned(),
                    run.machine.clone().unwrap_or_default(),
                ];
                out.push_str(&csv::line(fields));
            }
        }
    }
    out
}

fn headline(history: &History) -> String {
    let steps = |wanted: fn(Cause) -> bool| {
        let all = history.cells.iter().flat_map(|cell| &cell.contenders).flat_map(|c| &c.steps);
        all.filter(|step| wanted(step.cause)).count()
    };
    let (own, other) = (steps(|c| c == Cause::Contender), steps(|c| c != Cause::Contender));
    let plural = |n: usize| if n == 1 { "step" } else { "steps" };
    let others = if other == 0 { String::new() } else { format!(", {other} with another cause") };
    format!("{} ({}): {own} {} in contenders{others}", history.title, history.study, plural(own))
}

fn cell_line(cell: &CellHistory) -> String {
    let day = |at: &str| at.chars().take(10).collect::<String>();
    let time = match (cell.runs.first(), cell.runs.last()) {
        (Some(first), Some(last)) => format!(", {} to {}", day(&first.started_at), day(&last.started_at)),
        _ => String::new(),
    };
    let number = cell.number.map_or_else(String::new, |n| format!("{n}. "));
    let runs = if cell.runs.len() == 1 { "run" } else { "runs" };
    let by = if cell.metric == Metric::Rate { String::new() } else { format!(", by 1/{}", cell.metric) };
    let machine = cell.runs.last().and_then(|run| run.machine.as_ref());
    let on = machine.map_or_else(String::new, |machine| format!(" on {machine}"));
    format!("{number}{} ({}{by}): {} {runs}{on}{time}", cell.title, cell.workload, cell.runs.len())
}

fn everyone(cell: &CellHistory) -> impl Iterator<Item = &ContenderHistory> {
    std::iter::once(&cell.reference).chain(&cell.contenders)
}

fn table(cell: &CellHistory) -> Table {
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("version", Side::Left),
        ("runs", Side::Right),
        ("trend", Side::Left),
        ("requests/s, latest", Side::Right),
        ("of the hub", Side::Right),
        ("steps", Side::Right),
    ]);
    for contender in everyone(cell) {
        let latest = contender.points.iter().flatten().last();
        table.row(vec![
            contender.title.clone(),
            units::known(latest.and_then(|p| p.version.clone()), |v| v),
            contender.points.iter().flatten().count().to_string(),
            course(contender),
            units::known(latest, |p| units::rate(p.rate_per_s)),
            units::known(latest.and_then(|p| p.of_reference), units::ratio),
            contender
                .note
                .as_ref()
                .map_or_else(|| contender.steps.len().to_string(), |_| units::UNKNOWN.to_owned()),
        ]);
    }
    table
}

/// One bar per run: the ratio to the reference, or the reference's rate; a dot if the run has none.
fn course(contender: &ContenderHistory) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let value = |point: &Point| point.of_reference.unwrap_or(point.rate_per_s);
    let shown = &contender.points[contender.points.len().saturating_sub(COURSE_RUNS)..];
    let values = || shown.iter().flatten().map(value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let middle = f64::midpoint(low, high);
    let foot = low.min(middle * (1.0 - LEAST_SPAN / 2.0));
    let span = (high.max(middle * (1.0 + LEAST_SPAN / 2.0)) - foot).max(f64::MIN_POSITIVE);
    let bar = |v: f64| BARS[(((v - foot) / span * 7.0).round() as usize).min(7)];
    shown.iter().map(|point| point.as_ref().map_or('·', |point| bar(value(point)))).collect()
}

/// All steps in order of time, then the notes and the runs that were left out.
fn remarks(cell: &CellHistory) -> Vec<String> {
    let mut steps: Vec<(usize, String)> =
        everyone(cell).flat_map(|c| c.steps.iter().map(|step| (step.at, sentence(cell, c, step)))).collect();
    steps.sort_by_key(|(at, _)| *at);
    let mut remarks: Vec<String> = steps.into_iter().map(|(_, words)| words).collect();
    match &cell.note {
        Some(note) => remarks.push(note.clone()),
        None => {
            remarks.extend(everyone(cell).filter_map(|c| Some(format!("{}: {}", c.title, c.note.as_ref()?))));
        }
    }
    remarks.extend(cell.left_out.iter().map(|left| {
        let runs = if left.runs.len() == 1 { "run is" } else { "runs are" };
        let latest = left.runs.last().map_or("", String::as_str);
        format!("{} more {runs} not comparable, the latest {latest}: {}", left.runs.len(), left.why)
    }));
    remarks
}

fn sentence(cell: &CellHistory, contender: &ContenderHistory, step: &Step) -> String {
    let is_reference = contender.name == cell.reference.name;
    let of = if is_reference { "the reference itself" } else { &contender.title };
    let day = cell.runs.get(step.at).map_or("", |run| run.started_at.get(..10).unwrap_or(""));
    let percent = (step.ratio.median - 1.0) * 100.0;
    let way = if percent < 0.0 { "slower" } else { "faster" };
    let sure = match (step.ratio.low, step.ratio.high) {
        (Some(low), Some(high)) => format!(" (new / old: 95 % interval {low:.3} to {high:.3})"),
        _ => String::new(),
    };
    let mut words = format!("{day} {of}: {:.1} % {way} from run {} on{sure}", percent.abs(), step.after);
    let known = |v: &Option<String>| v.clone().unwrap_or_else(|| "unknown".to_owned());
    words.push_str(match (step.cause, is_reference) {
        (Cause::Machine, true) => "; a change of the machine, removed from all other results",
        (Cause::Drome, true) => {
            "; a change of the machine or of the version of drome, removed from all other results"
        }
        (Cause::Machine, false) => {
            "; the reference itself has a step there too, so this one is not attributed to the server"
        }
        (Cause::Drome, false) => {
            "; the version of drome changed there, so this step is not attributed to the server"
        }
        (Cause::Shared, _) => {
            "; most contenders have a step there too, so this one is not attributed to the server"
        }
        (Cause::Contender, _) => "",
    });
    if let Some([old, new]) = step.versions.as_ref().filter(|_| !is_reference) {
        let _ = write!(words, "; its version changed there: {} → {}", known(old), known(new));
    }
    if let Some([old, new]) = &step.drome {
        let _ = write!(words, "; drome {old} → {new}");
    }
    if let Some([old, new]) = &step.kernel {
        let _ = write!(words, "; kernel {} → {}", known(old), known(new));
    }
    words
}

fn foot(history: &History) -> Vec<String> {
    let mut foot = Vec::new();
    if history.unended > 0 {
        let runs = if history.unended == 1 { "run has" } else { "runs have" };
        foot.push(format!(
            "{} {runs} not ended and {} left out",
            history.unended,
            if history.unended == 1 { "is" } else { "are" }
        ));
    }
    foot.push(format!(
        "A step is a lasting change. The chance that any of these steps is false is at most {:.0} %.",
        history.level * 100.0
    ));
    foot
}

fn cause_word(cause: Cause) -> &'static str {
    match cause {
        Cause::Contender => "contender",
        Cause::Machine => "machine",
        Cause::Drome => "drome",
        Cause::Shared => "shared",
    }
}
