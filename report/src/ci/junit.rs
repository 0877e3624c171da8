//! `JUnit` XML, which most services for continuous integration show: a test suite for each cell, a test case for each contender.
//! A contender without a figure is an error. With a margin, one that is slower than it allows is a failure, and one that could
//! not be judged is skipped.

use crate::chart::escaped;
use crate::{RunReport, gate, units};
use model::Gate;
use model::findings::{CellFindings, ContenderFindings};
use stats::margin::Judged;
use std::fmt::Write;

/// What a test case says besides its name.
enum Outcome {
    Passed,
    Failed(String),
    Broken(String),
    Skipped(String),
}

/// All cells of a run. A race is judged by its margin, if it has one.
pub fn junit(told: &RunReport<'_>) -> String {
    let f = told.findings;
    let gate = told.run.study.design.margin.map(|margin| Gate::of_race(f, margin));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"{}\" time=\"{:.1}\">", escaped(&f.title), f.elapsed_s);
    for cell in &f.cells {
        suite(&mut out, &f.study, cell, gate.as_ref());
    }
    out + "</testsuites>\n"
}

fn suite(out: &mut String, study: &str, cell: &CellFindings, gate: Option<&Gate>) {
    let outcomes: Vec<Outcome> = cell.contenders.iter().map(|c| outcome(c, gate)).collect();
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let _ = writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        escaped(&cell.title),
        outcomes.len(),
        count(|outcome| matches!(outcome, Outcome::Failed(_))),
        count(|outcome| matches!(outcome, Outcome::Broken(_))),
        count(|outcome| matches!(outcome, Outcome::Skipped(_)))
    );
    for (c, outcome) in cell.contenders.iter().zip(&outcomes) {
        case(out, study, c, outcome);
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, study: &str, c: &ContenderFindings, outcome: &Outcome) {
    let _ = write!(out, "    <testcase name=\"{}\" classname=\"{}\">", escaped(&c.title), escaped(study));
    let message = |tag: &str, words: &str| format!("<{tag} message=\"{}\"/>", escaped(words));
    match outcome {
        Outcome::Passed => {}
        Outcome::Failed(words) => out.push_str(&message("failure", words)),
        Outcome::Broken(words) => out.push_str(&message("error", words)),
        Outcome::Skipped(words) => out.push_str(&message("skipped", words)),
    }
    if let Some(rate) = c.rate_per_s {
        let _ = write!(out, "<system-out>{}</system-out>", units::requests_per_s(rate.median));
    }
    out.push_str("</testcase>\n");
}

fn outcome(c: &ContenderFindings, gate: Option<&Gate>) -> Outcome {
    if c.metric.or(c.rate_per_s).is_none() {
        let why = c.notes.first().map_or("it was not measured", String::as_str);
        return Outcome::Broken(why.to_owned());
    }
    let change =
        gate.and_then(|gate| Some((gate, gate.changes.iter().find(|change| change.name == c.name)?)));
    let Some((gate, change)) = change else { return Outcome::Passed };
    let words = gate::line(change, gate.margin);
    match change.judged {
        Judged::Beyond => Outcome::Failed(words),
        Judged::Within => Outcome::Passed,
        Judged::Open => Outcome::Skipped(words),
    }
}
