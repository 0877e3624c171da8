//! A verdict in words. Every text that comes from the file is code; all other words are drome's own.

use super::profile;
use crate::document::Document;
use crate::foreign_text::{code, inert};
use crate::table::Table;
use crate::units;
use crate::{compare, gate};
use model::Metric;
use model::gate::Outcome;
use model::gate_verdict::{GateVerdict, VerdictChange, VerdictRevision};

/// The largest number of rows of the table.
const MOST_ROWS: usize = 50;

/// The largest number of sentences about servers that could not be judged.
const MOST_NOTES: usize = 20;

/// The characters of a digest that are shown.
const ABBREVIATED: usize = 10;

/// A headline, a table, what could not be judged, where the CPU time goes if that was asked for, and how it was measured.
pub fn document(v: &GateVerdict) -> Document {
    let document = Document::default().finding(headline(v));
    let document = if v.changes.is_empty() { document } else { document.table(table(v)) };
    let document = document.sentences(remarks(v)).items(notes(v));
    let profile = v.profile.iter().map(profile::document);
    profile.fold(document, Document::and).folded("How it was measured", Document::default().items(details(v)))
}

/// The outcome in a sentence.
fn headline(v: &GateVerdict) -> String {
    let (margin, against) = (margins(v), code(&v.against));
    let all = v.changes.len() + v.left_out;
    let only =
        v.changes.first().filter(|_| all == 1 && v.unknown.is_empty()).map(|change| code(&change.title));
    match (v.outcome, only) {
        (Outcome::Slower, Some(server)) => format!("{server} is more than {margin} slower than {against}."),
        (Outcome::Slower, None) => {
            let slower = v.changes.iter().filter(|change| change.judged == Outcome::Slower).count();
            let at_least = if v.left_out > 0 { "At least " } else { "" };
            let show = if slower == 1 { "shows" } else { "show" };
            let of = units::several(all, "comparison");
            format!("{at_least}{slower} of {of} with {against} {show} a slowdown of more than {margin}.")
        }
        (Outcome::Passed, Some(server)) => {
            format!("{server} is not more than {margin} slower than {against}.")
        }
        (Outcome::Passed, None) => {
            let of = units::several(all, "comparison");
            format!("None of {of} with {against} shows a slowdown of more than {margin}.")
        }
        (Outcome::Open, Some(server)) => {
            format!("It is open whether {server} is more than {margin} slower than {against}.")
        }
        (Outcome::Open, None) => {
            format!("It is open whether any server is more than {margin} slower than {against}.")
        }
    }
}

/// The margin of all comparisons in words.
fn margins(v: &GateVerdict) -> String {
    let mut own = v.changes.iter().map(|change| change.margin.unwrap_or(v.margin));
    let first = own.next().unwrap_or(v.margin);
    if own.all(|margin| margin == first) { units::share(first) } else { "its margin".to_owned() }
}

fn table(v: &GateVerdict) -> Table {
    // Whoever wrote the file may have put the worst last.
    let mut changes: Vec<&VerdictChange> = v.changes.iter().collect();
    changes.sort_by_key(|change| match change.judged {
        Outcome::Slower => 0,
        Outcome::Open => 1,
        Outcome::Passed => 2,
    });
    let between = |(low, high)| format!("{} to {}", gate::by(low), gate::by(high));
    let has_cells = v.changes.iter().any(|change| change.cell.is_some());
    let table = Table::of(changes.into_iter().take(MOST_ROWS)).text("server", |c| inert(&c.title)).code();
    let cell = |c: &VerdictChange| inert(c.cell.as_deref().unwrap_or_default());
    let table = if has_cells { table.text("workload", cell).code() } else { table };
    table
        .number("slowdown", |c| gate::by(c.speed))
        .figure("95 % interval", |c| c.low.zip(c.high).map(between))
        .text("verdict", |c| verdict(c.judged, c.margin.unwrap_or(v.margin)))
        .table()
}

fn verdict(judged: Outcome, margin: f64) -> String {
    let margin = units::share(margin);
    match judged {
        Outcome::Slower => format!("more than {margin} slower"),
        Outcome::Passed => format!("not more than {margin} slower"),
        Outcome::Open => "open".to_owned(),
    }
}

/// Sentences below the table.
fn remarks(v: &GateVerdict) -> Vec<String> {
    let mut remarks = Vec::new();
    let hidden = v.changes.len().saturating_sub(MOST_ROWS);
    if hidden > 0 {
        let more = units::several(hidden, "more comparison");
        remarks.push(format!("Not shown: {more}, none of them with a worse verdict."));
    }
    if v.left_out > 0 {
        let more = units::several(v.left_out, "more comparison");
        remarks.push(format!("The verdict's file lacks {more}, whose verdicts are not known here."));
    }
    remarks.push(gate::smallest(v.smallest_slowdown));
    remarks.extend(metrics(v).into_iter().map(|metric| compare::speed(metric).trim().to_owned()));
    remarks.retain(|sentence| !sentence.is_empty());
    remarks
}

/// The metrics that were compared, each once.
fn metrics(v: &GateVerdict) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for change in &v.changes {
        if !metrics.contains(&change.metric) {
            metrics.push(change.metric);
        }
    }
    metrics
}

fn notes(v: &GateVerdict) -> Vec<String> {
    let shown = v.unknown.iter().take(MOST_NOTES).map(|why| code(why));
    let more = v.unknown.len().saturating_sub(MOST_NOTES);
    shown.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

fn details(v: &GateVerdict) -> Vec<String> {
    let listed = |all: &[String]| all.iter().map(|title| code(title)).collect::<Vec<_>>().join(", ");
    let metrics: Vec<&str> = metrics(v).into_iter().map(Metric::word).collect();
    let metrics = (!metrics.is_empty()).then(|| format!("metric: {}", metrics.join(", ")));
    let warm = (!v.warm_unknown.is_empty())
        .then(|| format!("it is unknown whether these were warm: {}", listed(&v.warm_unknown)));
    let known = |name: &Option<String>| name.as_deref().map_or_else(|| "unknown".to_owned(), code);
    let (cpu, kernel, cores) =
        (known(&v.machine.cpu), known(&v.machine.kernel), units::several(v.machine.cores, "core"));
    std::iter::once(format!("title: {}", code(&v.title)))
        .chain(metrics)
        .chain([format!("{} in {:.1} s", units::several(v.rounds, "round"), v.elapsed_s)])
        .chain(warm)
        .chain(v.revisions.iter().map(of_revision))
        .chain([format!("machine: {cpu}, {cores}, Linux {kernel}; drome {}", code(&v.drome))])
        .collect()
}

/// `base`: commit `0123456789`.
fn of_revision(revision: &VerdictRevision) -> String {
    let short = |digest: &str| code(&digest.chars().take(ABBREVIATED).collect::<String>());
    let files = revision.files.as_deref().map(|files| format!(", and changes (files {})", short(files)));
    format!("{}: commit {}{}", code(&revision.title), short(&revision.commit), files.unwrap_or_default())
}
