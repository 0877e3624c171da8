//! A verdict in Markdown. Every text that comes from the document is inline code; all other words are drome's own.

use super::profile;
use crate::foreign_text::code;
use crate::units::{self, UNKNOWN};
use crate::{compare, gate};
use model::Metric;
use model::gate::Outcome;
use model::gate_verdict::{GateVerdict, VerdictChange, VerdictRevision};
use std::fmt::Write;

/// The largest number of rows of the table.
const MOST_ROWS: usize = 50;

/// The largest number of sentences about servers that could not be judged.
const MOST_NOTES: usize = 20;

/// The characters of a digest that are shown.
const ABBREVIATED: usize = 10;

/// A headline, a table, what could not be judged, where the CPU time goes if that was asked for, and how it was measured.
pub fn markdown(v: &GateVerdict) -> String {
    let mut out = format!("**{}**\n\n", headline(v));
    if !v.changes.is_empty() {
        let _ = writeln!(out, "{}", table(v));
    }
    for sentence in remarks(v) {
        let _ = writeln!(out, "{sentence}\n");
    }
    if !v.unknown.is_empty() {
        let _ = writeln!(out, "{}", notes(v));
    }
    if let Some(profile) = &v.profile {
        out.push_str(&profile::markdown(profile));
    }
    let _ = write!(out, "<details><summary>How it was measured</summary>\n\n{}\n</details>\n", details(v));
    out
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

fn table(v: &GateVerdict) -> String {
    let has_cells = v.changes.iter().any(|change| change.cell.is_some());
    let (title, rule) = if has_cells { (" workload |", " --- |") } else { ("", "") };
    let mut out = format!(
        "| server |{title} slowdown | 95 % interval | verdict |\n| --- |{rule} ---: | ---: | --- |\n"
    );
    // Whoever wrote the file may have put the worst last.
    let mut changes: Vec<&VerdictChange> = v.changes.iter().collect();
    changes.sort_by_key(|change| match change.judged {
        Outcome::Slower => 0,
        Outcome::Open => 1,
        Outcome::Passed => 2,
    });
    for change in changes.into_iter().take(MOST_ROWS) {
        let cell = if has_cells {
            let cell = change.cell.as_deref().unwrap_or_default();
            format!(" {} |", code(cell))
        } else {
            String::new()
        };
        let speed = gate::by(change.speed);
        let _ = writeln!(
            out,
            "| {} |{cell} {speed} | {} | {} |",
            code(&change.title),
            interval(change),
            verdict(change.judged, change.margin.unwrap_or(v.margin))
        );
    }
    out
}

fn interval(change: &VerdictChange) -> String {
    let known = change.low.zip(change.high);
    known.map_or_else(|| UNKNOWN.to_owned(), |(low, high)| format!("{} to {}", gate::by(low), gate::by(high)))
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

fn notes(v: &GateVerdict) -> String {
    let shown = v.unknown.iter().take(MOST_NOTES).map(|why| format!("- {}\n", code(why)));
    let more = v.unknown.len().saturating_sub(MOST_NOTES);
    shown.chain((more > 0).then(|| format!("- and {more} more\n"))).collect()
}

fn details(v: &GateVerdict) -> String {
    let mut out = format!("- title: {}\n", code(&v.title));
    let metrics: Vec<&str> = metrics(v).into_iter().map(Metric::word).collect();
    if !metrics.is_empty() {
        let _ = writeln!(out, "- metric: {}", metrics.join(", "));
    }
    let _ = writeln!(out, "- {} in {:.1} s", units::several(v.rounds, "round"), v.elapsed_s);
    if !v.warm_unknown.is_empty() {
        let titles: Vec<String> = v.warm_unknown.iter().map(|title| code(title)).collect();
        let _ = writeln!(out, "- it is unknown whether these were warm: {}", titles.join(", "));
    }
    for revision in &v.revisions {
        let _ = writeln!(out, "- {}", of_revision(revision));
    }
    let unknown = || "unknown".to_owned();
    let [cpu, kernel] =
        [&v.machine.cpu, &v.machine.kernel].map(|name| name.as_deref().map_or_else(unknown, code));
    let cores = units::several(v.machine.cores, "core");
    let _ = writeln!(out, "- machine: {cpu}, {cores}, Linux {kernel}; drome {}", code(&v.drome));
    out
}

/// `base`: commit `0123456789`.
fn of_revision(revision: &VerdictRevision) -> String {
    let short = |digest: &str| code(&digest.chars().take(ABBREVIATED).collect::<String>());
    let files = revision.files.as_deref().map(|files| format!(", and changes (files {})", short(files)));
    format!("{}: commit {}{}", code(&revision.title), short(&revision.commit), files.unwrap_or_default())
}
