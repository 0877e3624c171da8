//! The findings in sentences: which contender is best, by how much and with which confidence, which cannot be distinguished,
//! what limited the rates, the noise floor, and what was void or failed.

use super::charts::Charts;
use crate::answer;
use crate::units::{self, listed};
use crate::{page, race, ranking};
use maud::{Markup, html};
use model::Bound;
use model::findings::{CellFindings, ContenderFindings, Findings};
use std::collections::BTreeMap;

/// The first section of the page.
pub(super) fn section(f: &Findings, charts: &Charts) -> Markup {
    html! {
        section #found aria-labelledby="found-title" {
            h2 #found-title { "Findings" }
            @if f.cells.is_empty() { p { "The run has no cells." } }
            @if let Some(cell) = f.cells.first().filter(|_| f.race.is_some()) {
                ul.letters {
                    @for c in race::by_letter(cell) {
                        @let (label, command) = race::labelled(f, c);
                        li { b { (label) } " " code { (command) } }
                    }
                }
            }
            div.cells {
                @for cell in &f.cells {
                    div {
                        @if f.cells.len() > 1 { h3 { (cell.title) } }
                        ul.findings { @for sentence in sentences(f, cell) { li { (sentence) } } }
                    }
                }
            }
            (charts.of_all())
        }
    }
}

/// A cell's findings, the most important first.
pub(crate) fn sentences(f: &Findings, cell: &CellFindings) -> Vec<String> {
    if cell.contenders.iter().all(|c| c.trials + c.failed == 0) {
        return vec!["No start has finished yet.".to_owned()];
    }
    if let Some(race) = &f.race {
        return race::lines(f, race, cell).into_iter().map(|(line, _)| line).collect();
    }
    let mut told = answer::of(f, cell);
    told.extend(limits(cell));
    told.push(format!("N{}.", ranking::floor(cell).trim_start_matches('n')));
    told.push(lost(cell));
    for one in page::comparisons(f, cell).iter().filter(|one| one.is_ranked()) {
        told.push(format!(
            "Compared with the page's figures{}: {}",
            one.kind.words(),
            one.agreement().trim_end()
        ));
    }
    // A number and its % sign stay on one line.
    told.iter().map(|sentence| sentence.replace(" %", "\u{a0}%")).collect()
}

/// What limited the rates.
fn limits(cell: &CellFindings) -> Option<String> {
    let mut by_bound: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for c in &cell.contenders {
        if let Some(bound) = &c.bound {
            by_bound.entry(bound).or_default().push(&c.title);
        }
    }
    let words = |(bound, titles): (&&str, &Vec<&str>)| {
        let who = listed(titles);
        match *bound {
            b if b == Bound::Server.word() => format!("the server for {who}"),
            b if b == Bound::Client.word() => {
                format!("the load generator for {who} (rates are lower bounds)")
            }
            b if b == Bound::Both.word() => {
                format!("both server and load generator for {who} (rates are lower bounds)")
            }
            b if b == Bound::Network.word() => format!("the network for {who} (rates are lower bounds)"),
            b if b == Bound::Neither.word() => format!("neither server nor load generator for {who}"),
            _ => format!("unknown for {who}"),
        }
    };
    let told: Vec<String> = by_bound.iter().rev().map(words).collect();
    (!told.is_empty()).then(|| format!("What limited the rate: {}.", told.join("; ")))
}

/// What was void or failed.
fn lost(cell: &CellFindings) -> String {
    let all: usize = cell.contenders.iter().map(|c| c.trials + c.failed).sum();
    let nothing: usize = cell.contenders.iter().map(|c| c.void + c.failed).sum();
    if nothing == 0 {
        return format!("All {} were sound.", units::several(all, "start"));
    }
    let each = cell.contenders.iter().filter(|c| c.void + c.failed > 0).map(|c| {
        let kinds = [(c.void, "void"), (c.failed, "failed")];
        let kinds: Vec<_> =
            kinds.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let why = why(c).map_or_else(String::new, |why| format!(": {why}"));
        format!("{} ({}{why})", c.title, kinds.join(", "))
    });
    let each: Vec<String> = each.collect();
    format!("{nothing} of {} void or failed: {}.", units::several(all, "start"), each.join(", "))
}

/// The first reason among the notes, on one line. A note with a reason has the outcome, the reason and the number of trials.
fn why(c: &ContenderFindings) -> Option<&str> {
    let reason = |note: &'_ String| note.starts_with("failed: ") || note.starts_with("void: ");
    let note = c.notes.iter().find(|note| reason(note))?;
    let (_, why) = note.split_once(": ")?;
    let line = why.lines().next()?;
    Some(
        line.rsplit_once(" (")
            .filter(|(_, of)| of.ends_with(" trials)") || of.ends_with(" starts)"))
            .map_or(line, |(why, _)| why),
    )
}
