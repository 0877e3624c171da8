//! The findings in sentences: which contender is best, by how much and with which confidence, which cannot be distinguished,
//! what limited the rates, the noise floor, and what was void or failed.

use super::charts::Charts;
use crate::answer;
use crate::units::{self, listed};
use crate::{in_heats, page, race, ranking};
use maud::{Markup, html};
use model::findings::{CellFindings, ContenderFindings, Figure, Findings};
use model::study::REFERENCE;
use model::{Bound, Metric};
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
        return vec![format!("No {} has finished yet.", in_heats::start(cell))];
    }
    if let Some(race) = &f.race {
        return race::lines(f, race, cell).into_iter().map(|(line, _)| line).collect();
    }
    let field: Vec<&ContenderFindings> =
        cell.contenders.iter().filter(|c| c.name != REFERENCE && figure(cell, c).is_some()).collect();
    let mut told = answer::of(f, cell);
    if told.is_empty() {
        told.push(best(f, cell, &field));
        told.extend(equals(cell));
        told.extend(reference(cell, &field));
    }
    told.extend(limits(cell));
    told.push(format!("N{}.", ranking::floor(cell).trim_start_matches('n')));
    told.push(lost(cell));
    told.extend(still_changing(cell).filter(|_| cell.in_heats.is_none()));
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

/// The figure by which contenders are ranked, if it is a finite number.
fn figure(cell: &CellFindings, c: &ContenderFindings) -> Option<Figure> {
    let figure = if cell.metric == Metric::Rate { c.rate_per_s } else { c.metric };
    figure.filter(|f| f.median.is_finite())
}

/// Which contender is best, by how much and with which confidence.
fn best(f: &Findings, cell: &CellFindings, field: &[&ContenderFindings]) -> String {
    let Some((first, own)) = field.first().and_then(|c| Some((*c, figure(cell, c)?))) else {
        return "No contender has a valid figure.".to_owned();
    };
    let figure_of_first = does(cell, first, own);
    let Some(tier) = first.tier else {
        let why =
            if f.quick { "a first look gives no ranks" } else { "too few sound measurements for ranks" };
        return format!("Inconclusive: {why}. {} has the best figure: it {figure_of_first}.", first.title);
    };
    let alike: Vec<&str> = field.iter().filter(|c| c.tier == Some(tier)).map(|c| c.title.as_str()).collect();
    let behind = field.iter().find(|c| c.tier.is_some() && c.tier != Some(tier));
    let ahead = behind.map(|next| ahead(cell, first, next)).unwrap_or_default();
    if alike.len() > 1 {
        return format!(
            "No significant difference between {}. {} has the best figure: it {figure_of_first}{ahead}.",
            listed(&alike),
            first.title
        );
    }
    if f.leader(cell).is_none_or(|leader| leader.name != first.name) {
        let best = superlative(cell.metric);
        return format!(
            "It is undecided which is {best}. {} has the best figure: it {figure_of_first}{ahead}.",
            first.title
        );
    }
    format!("{} is {}: it {figure_of_first}{ahead}.", first.title, superlative(cell.metric))
}

fn superlative(metric: Metric) -> &'static str {
    match metric {
        Metric::Rate => "the fastest",
        Metric::ServerCpu => "the one that uses the least CPU per request",
        Metric::Latency(_) => "the one with the lowest latency",
        Metric::Rss => "the one that uses the least memory",
    }
}

/// `answers 148,450 requests/s (95 % 119,182–150,189)`
fn does(cell: &CellFindings, c: &ContenderFindings, own: Figure) -> String {
    let least = if cell.metric == Metric::Rate && c.is_held_back() { "at least " } else { "" };
    let (before, shown, after): (_, fn(f64) -> String, _) = match cell.metric {
        Metric::Rate => ("answers ", units::rate, " requests/s"),
        Metric::ServerCpu => ("uses ", units::duration, " of CPU per request"),
        Metric::Latency(p) => {
            return format!(
                "has a {} of {}{}",
                p.word(),
                units::duration(own.median),
                interval(cell, own, units::duration)
            );
        }
        Metric::Rss => ("uses ", units::bytes, " of memory"),
    };
    format!("{before}{least}{}{after}{}", shown(own.median), interval(cell, own, shown))
}

fn interval(cell: &CellFindings, figure: Figure, shown: fn(f64) -> String) -> String {
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!(" (95 % {}–{})", shown(low), shown(high)),
        _ => format!(" (no interval: too few {}s)", in_heats::start(cell)),
    }
}

/// How far the best is ahead of the next, block by block if every block has a rate.
fn ahead(cell: &CellFindings, first: &ContenderFindings, second: &ContenderFindings) -> String {
    let next = format!("the next, {}", second.title);
    if cell.metric != Metric::Rate {
        let both = figure(cell, first).zip(figure(cell, second)).map(|(a, b)| a.median / b.median);
        return both
            .filter(|r| r.is_finite())
            .map_or_else(String::new, |r| format!(", {} times that of {next}", units::ratio(r)));
    }
    let ratio = stats::paired_ratio(&first.rate_per_s_by_block, &second.rate_per_s_by_block);
    let Some(ratio) = ratio.map(|e| Figure::from(e.with_systematic_ratio())).filter(|r| r.median.is_finite())
    else {
        return String::new();
    };
    let least = if first.is_held_back() { "at least " } else { "" };
    format!(
        ", {least}{} times as much as {next}{}",
        units::ratio(ratio.median),
        interval(cell, ratio, units::ratio)
    )
}

/// The groups without a significant difference below the best.
fn equals(cell: &CellFindings) -> Option<String> {
    let mut tiers: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for c in &cell.contenders {
        tiers.entry(c.tier?).or_default().push(&c.title);
    }
    let is_first = |c: &ContenderFindings| c.name != REFERENCE;
    let best = cell.contenders.iter().find(|c| is_first(c)).and_then(|c| c.tier);
    let alike = tiers.iter().filter(|(tier, titles)| Some(**tier) != best && titles.len() > 1);
    let groups: Vec<String> = alike.map(|(_, titles)| format!("between {}", listed(titles))).collect();
    (!groups.is_empty()).then(|| format!("No significant difference {}.", groups.join("; ")))
}

/// What the machine can do at best, and how close the best contender comes to it.
fn reference(cell: &CellFindings, field: &[&ContenderFindings]) -> Option<String> {
    let reference = cell.contenders.iter().find(|c| c.name == REFERENCE)?;
    let own = figure(cell, reference)?;
    let first = field.first()?;
    let lead = format!("The reference, {}, {}", reference.title, does(cell, reference, own));
    let is_comparable = !(cell.metric == Metric::Rate && reference.is_held_back() && first.is_held_back());
    let share = if cell.metric == Metric::Rate { first.of_reference } else { first.metric_of_reference };
    match share.filter(|s| is_comparable && s.median.is_finite()) {
        Some(share) => {
            let most = if cell.metric == Metric::Rate && reference.is_held_back() { "at most " } else { "" };
            let (ratio, interval) = (units::ratio(share.median), interval(cell, share, units::ratio));
            Some(format!("{lead}; {} has {most}{ratio} times that{interval}.", first.title))
        }
        None => Some(format!("{lead}.")),
    }
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
        return format!("All {} were sound.", units::several(all, in_heats::start(cell)));
    }
    let each = cell.contenders.iter().filter(|c| c.void + c.failed > 0).map(|c| {
        let kinds = [(c.void, "void"), (c.failed, "failed")];
        let kinds: Vec<_> =
            kinds.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let why = why(c).map_or_else(String::new, |why| format!(": {why}"));
        format!("{} ({}{why})", c.title, kinds.join(", "))
    });
    let each: Vec<String> = each.collect();
    format!(
        "{nothing} of {} void or failed: {}.",
        units::several(all, in_heats::start(cell)),
        each.join(", ")
    )
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

fn still_changing(cell: &CellFindings) -> Option<String> {
    let is_unsteady = |c: &&ContenderFindings| c.steady.and_then(|steady| steady.is_steady) == Some(false);
    let who: Vec<&str> = cell.contenders.iter().filter(is_unsteady).map(|c| c.title.as_str()).collect();
    (!who.is_empty()).then(|| {
        format!(
            "Not settled when measured, so the figures depend on the moment of the measurement: {}.",
            listed(&who)
        )
    })
}
