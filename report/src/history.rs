//! The history of a study over many runs, and its rows as CSV.

use crate::document::Document;
use crate::records::{Field, Records, decimals, text};
use crate::steps::{by, change, day};
use crate::table::Table;
use crate::units;
use model::history::{Cause, CellHistory, ContenderHistory, History, Point, Step};
use std::fmt::Write;

/// A trend shows at most this many of the latest runs.
const COURSE_RUNS: usize = 40;

/// The least height of a trend as a share of its middle, so that noise does not look like a change.
const LEAST_SPAN: f64 = 0.2;

/// The whole history.
pub fn document(history: &History) -> Document {
    let mut document = Document::default().finding(headline(history));
    for cell in &history.cells {
        document = document.heading(3, cell_line(cell)).table(table(cell)).items(remarks(cell));
    }
    document.sentences(foot(history))
}

/// A row: a contender in a cell, the index of a run, and what was measured in it.
type Measured<'h> = (&'h CellHistory, &'h ContenderHistory, usize, &'h Point);

/// The step that begins with the run of a row.
fn step<'h>((_, contender, i, _): &Measured<'h>) -> Option<&'h Step> {
    contender.steps.iter().find(|step| step.at == *i)
}

/// The columns: `step` is the ratio of the step that begins with that run, and `machine` is empty where this machine measured it.
fn fields<'h>() -> [Field<Measured<'h>>; 12] {
    [
        ("cell", |(cell, ..)| text(&cell.title)),
        ("workload", |(cell, ..)| text(&cell.workload)),
        ("contender", |(_, contender, ..)| text(&contender.name)),
        ("run", |(cell, _, i, _)| text(&cell.runs[*i].run)),
        ("started_at", |(cell, _, i, _)| text(&cell.runs[*i].started_at)),
        ("drome", |(cell, _, i, _)| text(&cell.runs[*i].drome)),
        ("version", |(.., point)| point.version.clone()),
        ("rate_per_s", |(.., point)| decimals(point.rate_per_s, 3)),
        ("of_reference", |(.., point)| decimals(point.of_reference?, 6)),
        ("step", |row| decimals(step(row)?.ratio.median, 6)),
        ("step_cause", |row| text(cause_word(step(row)?.cause))),
        ("machine", |(cell, _, i, _)| cell.runs[*i].machine.clone()),
    ]
}

/// One row per contender, cell and run.
pub fn records(history: &History) -> Records {
    let all = history.cells.iter().flat_map(|cell| everyone(cell).map(move |contender| (cell, contender)));
    let rows = all.flat_map(|(cell, contender)| {
        let points = contender.points.iter().take(cell.runs.len()).enumerate();
        points.filter_map(move |(i, point)| Some((cell, contender, i, point.as_ref()?)))
    });
    Records::of(rows, fields())
}

fn headline(history: &History) -> String {
    let steps = |wanted: fn(Cause) -> bool| {
        let all = history.cells.iter().flat_map(|cell| &cell.contenders).flat_map(|c| &c.steps);
        all.filter(|step| wanted(step.cause)).count()
    };
    let (own, other) = (steps(|c| c == Cause::Contender), steps(|c| c != Cause::Contender));
    let others = if other == 0 { String::new() } else { format!(", {other} with another cause") };
    format!("{} ({}): {} in contenders{others}", history.title, history.study, units::several(own, "step"))
}

fn cell_line(cell: &CellHistory) -> String {
    let day = |at: &str| at.chars().take(10).collect::<String>();
    let time = match (cell.runs.first(), cell.runs.last()) {
        (Some(first), Some(last)) => format!(", {} to {}", day(&first.started_at), day(&last.started_at)),
        _ => String::new(),
    };
    let number = cell.number.map_or_else(String::new, |n| format!("{n}. "));
    let (runs, by) = (units::several(cell.runs.len(), "run"), by(cell));
    let machine = cell.runs.last().and_then(|run| run.machine.as_ref());
    let on = machine.map_or_else(String::new, |machine| format!(" on {machine}"));
    format!("{number}{} ({}{by}): {runs}{on}{time}", cell.title, cell.workload)
}

fn everyone(cell: &CellHistory) -> impl Iterator<Item = &ContenderHistory> {
    std::iter::once(&cell.reference).chain(&cell.contenders)
}

fn table(cell: &CellHistory) -> Table {
    let latest = |c: &ContenderHistory| c.points.iter().flatten().last().cloned();
    Table::of(everyone(cell))
        .text("contender", |c| c.title.clone())
        .known("version", |c| latest(c)?.version)
        .number("runs", |c| c.points.iter().flatten().count().to_string())
        .text("trend", course)
        .figure("requests/s, latest", |c| Some(units::rate(latest(c)?.rate_per_s)))
        .figure("of the hub", |c| Some(units::ratio(latest(c)?.of_reference?)))
        .figure("steps", |c| c.note.is_none().then(|| c.steps.len().to_string()))
        .table()
}

/// One bar per run: the ratio to the hub, or the reference's own speed, which are searched for steps; a dot if the run has none.
fn course(contender: &ContenderHistory) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let value = |point: &Point| point.of_reference.unwrap_or(point.speed);
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
    let sure = match (step.ratio.low, step.ratio.high) {
        (Some(low), Some(high)) => format!(" (new / old: 95 % interval {low:.3} to {high:.3})"),
        _ => String::new(),
    };
    let mut words = format!("{} {of}: {} from run {} on{sure}", day(cell, step), change(step), step.after);
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
