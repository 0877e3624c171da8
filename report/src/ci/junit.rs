//! `JUnit` XML, which most services for continuous integration show: a test suite for each cell, a test case for each contender.
//! A contender without a figure is an error. With a margin, a contender that is slower than the margin allows is a failure, and a contender
//! that could not be judged is skipped.

use crate::chart::escaped;
use crate::{RunReport, gate, units};
use model::comparison::{CellComparison, Change, Comparison, ContenderComparison};
use model::findings::{ContenderFindings, Findings};
use model::gate::{Changed, Gate};
use stats::margin::Judged;
use std::fmt::Write;

/// Why a comparison has no judgement where it gives no reason itself.
const UNKNOWN: &str = "nothing is known about it";

/// What a test case says besides its name.
enum Outcome {
    Passed,
    Failed(String),
    Broken(String),
    Skipped(String),
}

/// A contender in a cell.
struct Case {
    title: String,
    outcome: Outcome,
    figure: Option<String>,
}

/// All cells of a run. A race is judged by its margin, if it has one.
pub fn junit(told: &RunReport<'_>) -> String {
    let f = told.findings;
    let gate = told.run.study.design.margin.map(|margin| Gate::of_race(f, margin));
    let case = |c: &ContenderFindings| Case {
        title: c.title.clone(),
        outcome: outcome(f, c, gate.as_ref()),
        figure: c.rate_per_s.map(|rate| units::requests_per_s(rate.median)),
    };
    let cells = f.cells.iter().map(|cell| (cell.title.as_str(), cell.contenders.iter().map(case).collect()));
    document(&f.title, Some(f.elapsed_s), &f.study, cells.collect())
}

/// All cells of a comparison of two runs. Without a gate, no change is a failure. What is only in the earlier run has a suite of its own.
pub fn junit_of_comparison(comparison: &Comparison, gate: Option<&Gate>) -> String {
    let Comparison { old, new, .. } = comparison;
    let only = format!("only in {old}");
    let case = |cell: &CellComparison, c: &ContenderComparison| Case {
        title: c.title.clone(),
        outcome: compared(comparison, cell, c, gate),
        figure: c.ratio.map(|ratio| gate::by(ratio.median)),
    };
    let of = |cell: &CellComparison| cell.contenders.iter().map(|c| case(cell, c)).collect();
    let mut suites: Vec<(&str, Vec<Case>)> =
        comparison.cells.iter().map(|cell| (cell.title.as_str(), of(cell))).collect();
    let is_compared = |name: &str, title: &str| {
        let cell = comparison.cells.iter().find(|cell| cell.title == title);
        cell.is_some_and(|cell| cell.contenders.iter().any(|c| c.name == name))
    };
    for f in comparison.failed.iter().filter(|f| !is_compared(&f.name, &f.cell)) {
        let outcome = Outcome::Broken(failed(f.failed, f.trials, new));
        let case = Case { title: f.title.clone(), outcome, figure: None };
        match suites.iter_mut().find(|(title, _)| *title == f.cell) {
            Some((_, cases)) => cases.push(case),
            None => suites.push((f.cell.as_str(), vec![case])),
        }
    }
    let gone =
        |what: &String| Case { title: what.clone(), outcome: Outcome::Skipped(only.clone()), figure: None };
    if !comparison.gone.is_empty() {
        suites.push((only.as_str(), comparison.gone.iter().map(gone).collect()));
    }
    document(&format!("{new} against {old}"), None, "compare", suites)
}

/// The document. `elapsed_s`: how long all of it took, if that is known. `class`: the class name of all cases.
fn document(title: &str, elapsed_s: Option<f64>, class: &str, suites: Vec<(&str, Vec<Case>)>) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let time = elapsed_s.map_or_else(String::new, |s| format!(" time=\"{s:.1}\""));
    let _ = writeln!(out, "<testsuites name=\"{}\"{time}>", escaped(title));
    for (title, cases) in suites {
        suite(&mut out, title, class, &cases);
    }
    out + "</testsuites>\n"
}

fn suite(out: &mut String, title: &str, class: &str, cases: &[Case]) {
    let count = |is: fn(&Outcome) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        escaped(title),
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Broken(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_)))
    );
    for case in cases {
        write_case(out, class, case);
    }
    out.push_str("  </testsuite>\n");
}

fn write_case(out: &mut String, class: &str, case: &Case) {
    let _ = write!(out, "    <testcase name=\"{}\" classname=\"{}\">", escaped(&case.title), escaped(class));
    let message = |tag: &str, words: &str| format!("<{tag} message=\"{}\"/>", escaped(words));
    match &case.outcome {
        Outcome::Passed => {}
        Outcome::Failed(words) => out.push_str(&message("failure", words)),
        Outcome::Broken(words) => out.push_str(&message("error", words)),
        Outcome::Skipped(words) => out.push_str(&message("skipped", words)),
    }
    if let Some(figure) = &case.figure {
        let _ = write!(out, "<system-out>{}</system-out>", escaped(figure));
    }
    out.push_str("</testcase>\n");
}

fn outcome(f: &Findings, c: &ContenderFindings, gate: Option<&Gate>) -> Outcome {
    if c.metric.or(c.rate_per_s).is_none() {
        let why = c.notes.first().map_or("it was not measured", String::as_str);
        return Outcome::Broken(why.to_owned());
    }
    let Some(gate) = gate else { return Outcome::Passed };
    match gate.changes.iter().find(|change| change.name == c.name) {
        Some(change) => judged(change),
        // The first contender, with which the others are compared, is not judged.
        None => unjudged(f, &c.name, gate).map_or(Outcome::Passed, |why| Outcome::Skipped(why.to_owned())),
    }
}

/// Why the gate of a race could not judge this contender: it has a sentence for each pair without a judgement, in their order.
fn unjudged<'g>(f: &Findings, name: &str, gate: &'g Gate) -> Option<&'g str> {
    let pairs = f.race.as_ref()?.with_first();
    let is_judged = |name: &str| gate.changes.iter().any(|change| change.name == name);
    let mut without = pairs.filter(|pair| !is_judged(&pair.contender)).zip(&gate.unknown);
    without.find(|(pair, _)| pair.contender == name).map(|(_, why)| why.as_str())
}

fn judged(change: &Changed) -> Outcome {
    let words = gate::line(change);
    match change.judged {
        Judged::Beyond => Outcome::Failed(words),
        Judged::Within => Outcome::Passed,
        Judged::Open => Outcome::Skipped(words),
    }
}

/// What a comparison says of a contender in a cell.
fn compared(
    all: &Comparison,
    cell: &CellComparison,
    c: &ContenderComparison,
    gate: Option<&Gate>,
) -> Outcome {
    let is_it =
        |change: &&Changed| change.name == c.name && change.cell.as_deref() == Some(cell.title.as_str());
    if let Some(f) = all.failed.iter().find(|f| f.name == c.name && f.cell == cell.title) {
        return Outcome::Broken(failed(f.failed, f.trials, &all.new));
    }
    match (gate, gate.and_then(|gate| gate.changes.iter().find(is_it))) {
        (Some(_), Some(change)) => judged(change),
        (None, _) if c.change != Change::Unknown => Outcome::Passed,
        _ => Outcome::Skipped(c.note.clone().unwrap_or_else(|| UNKNOWN.to_owned())),
    }
}

fn failed(failed: usize, starts: usize, run: &str) -> String {
    format!("failed in {failed} of {starts} starts of {run}")
}
