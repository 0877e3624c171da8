//! The findings of a cell measured in heats, in at most three sentences: which contender is certainly the fastest, by how much, and how far
//! it is from the reference; which others cannot be distinguished; and what may be wrong.

mod doubts;

pub(crate) use doubts::{mostly, never_quiet};

use crate::figures;
use crate::units;
use model::Metric;
use model::findings::{CellFindings, CellInHeats, ContenderFindings, Figure, Findings, Pairs};
use model::study::REFERENCE;

/// More groups than this are counted instead of listed.
const GROUPS: usize = 4;

/// A sentence lists at most this many names.
const NAMES: usize = 6;

/// The sentences, the most important first.
pub fn of(f: &Findings, cell: &CellFindings) -> Vec<String> {
    let in_heats = &cell.in_heats;
    if cell.contenders.iter().all(|c| c.trials + c.failed == 0) {
        return vec!["No start has finished yet.".to_owned()];
    }
    let leading = format!("{}{}.", lead(f, cell, in_heats), reference(cell, in_heats).unwrap_or_default());
    [Some(leading), apart(cell, in_heats), doubts::of(cell, in_heats)].into_iter().flatten().collect()
}

/// Names as in a sentence; of a long list the first names and the number of the others.
fn some(names: &[&str]) -> String {
    units::listed_up_to(names, NAMES)
}

fn titles<'c>(cell: &'c CellFindings, names: &[String]) -> Vec<&'c str> {
    names.iter().filter_map(|name| cell.contender(name)).map(|c| c.title.as_str()).collect()
}

fn superlative(metric: Metric) -> String {
    match metric {
        Metric::Rate => "the fastest".to_owned(),
        Metric::ServerCpu => "the one that uses the least CPU per request".to_owned(),
        Metric::Latency(p) => format!("the one with the shortest {}", p.word()),
        Metric::Rss => "the one that uses the least memory".to_owned(),
    }
}

/// Which contender is certainly the best, and by how much; the beginning of a sentence.
fn lead(f: &Findings, cell: &CellFindings, in_heats: &CellInHeats) -> String {
    let best = superlative(cell.metric);
    let Some(front) = &in_heats.front else {
        let field = || cell.contenders.iter().filter(|c| c.name != REFERENCE && c.metric.is_some());
        let why = if f.quick { "A first look gives no ranks" } else { "No contender has a rank" };
        let first = field().next().map(|c| format!(": {} has the best figure", c.title));
        return format!("{why}{}", first.unwrap_or_default());
    };
    let leaders = titles(cell, &front.leaders);
    let is_partial = f.has_unranked(cell);
    let [only] = leaders.as_slice() else {
        let no = if is_partial { "Among those with a rank, no" } else { "No" };
        let any = if leaders.len() == 2 { "either" } else { "any" };
        return format!(
            "{no} significant difference between {}: {any} of them may be {best}",
            some(&leaders)
        );
    };
    let Some(next) = front.next.as_ref().and_then(|name| cell.contender(name)) else {
        return format!("{only} is the only contender with a rank, so there is none to compare it with");
    };
    let by = front.ratio.map(|ratio| by_how_much(cell, only, next, ratio));
    let among = if is_partial { "Of those with a rank, " } else { "" };
    format!("{among}{only} is {best}{}", by.unwrap_or_default())
}

/// `: 1.23 times the rate of B, the next (95 %: 1.18 to 1.28)`
fn by_how_much(cell: &CellFindings, title: &str, next: &ContenderFindings, ratio: Figure) -> String {
    let turned = |f: Figure| Figure {
        median: 1.0 / f.median,
        low: f.high.map(|high| 1.0 / high),
        high: f.low.map(|low| 1.0 / low),
    };
    let is_floor = cell.contenders.iter().any(|c| c.title == title && c.is_held_back());
    let ratio = if cell.metric == Metric::Rate { ratio } else { turned(ratio) };
    let what = match cell.metric {
        Metric::Rate => "times the rate of",
        Metric::ServerCpu | Metric::Rss => "times less than",
        Metric::Latency(_) => "times shorter than that of",
    };
    let than = format!("{what} {}, the next", next.title);
    match (cell.metric, ratio.low) {
        // It may be faster still, so only the lower end of the interval is sure.
        (Metric::Rate, Some(low)) if is_floor => {
            format!(": at least {} {than}, and {} as measured", times(low), times(ratio.median))
        }
        (Metric::Rate, None) if is_floor => format!(": {} {than}, or more", times(ratio.median)),
        _ => format!(": {} {than}{}", times(ratio.median), between(ratio)),
    }
}

fn times(ratio: f64) -> String {
    match ratio {
        x if x < 1.095 => format!("{x:.3}"),
        x if x < 10.0 => format!("{x:.2}"),
        x => units::ratio(x),
    }
}

/// The interval by which the pair was decided; the table has that of the pair by itself.
fn between(f: Figure) -> String {
    match (f.low, f.high) {
        (Some(low), Some(high)) => format!(" (95 %: {} to {})", times(low), times(high)),
        _ => String::new(),
    }
}

/// The groups without a significant difference besides the leaders: by letters, which name every such pair, or by tiers, where there are
/// too many contenders for letters.
fn apart(cell: &CellFindings, in_heats: &CellInHeats) -> Option<String> {
    let leaders = in_heats.front.as_ref().map(|front| front.leaders.as_slice()).unwrap_or_default();
    let field: Vec<&ContenderFindings> =
        cell.contenders.iter().filter(|c| c.tier.is_some() && c.name != REFERENCE).collect();
    let has_letters = field.iter().any(|c| figures::letters(c).is_some());
    let groups = if has_letters { by_letter(&field, leaders) } else { by_tier(&field, leaders) };
    let between: Vec<String> = groups.iter().map(|titles| format!("between {}", some(titles))).collect();
    let among = if has_letters { "" } else { ", among others," };
    match between.as_slice() {
        [] => None,
        groups if groups.len() > GROUPS => Some(format!(
            "{} more groups show no significant difference within them: their ranks overlap.",
            groups.len()
        )),
        groups => Some(format!("No significant difference{among} {}.", groups.join("; "))),
    }
}

/// The contenders of each letter, unless all of them are leaders or in another group, too.
fn by_letter<'c>(field: &[&'c ContenderFindings], leaders: &[String]) -> Vec<Vec<&'c str>> {
    let letters = |c: &ContenderFindings| figures::letters(c).unwrap_or_default().to_owned();
    let mut all: Vec<char> = field.iter().flat_map(|c| letters(c).chars().collect::<Vec<_>>()).collect();
    all.sort_unstable();
    all.dedup();
    let of = |letter: &char| field.iter().filter(|c| letters(c).contains(*letter)).copied().collect();
    let groups: Vec<Vec<&ContenderFindings>> = all.iter().map(of).collect();
    let is_within = |one: &[&ContenderFindings], other: &[&ContenderFindings]| {
        one.len() < other.len() && one.iter().all(|c| other.iter().any(|o| o.name == c.name))
    };
    let is_told = |group: &[&ContenderFindings]| {
        group.len() < 2
            || group.iter().all(|c| leaders.contains(&c.name))
            || groups.iter().any(|other| is_within(group, other))
    };
    groups
        .iter()
        .filter(|group| !is_told(group))
        .map(|group| group.iter().map(|c| c.title.as_str()).collect())
        .collect()
}

/// The contenders of each tier, the leaders aside.
fn by_tier<'c>(field: &[&'c ContenderFindings], leaders: &[String]) -> Vec<Vec<&'c str>> {
    let mut groups: Vec<(Option<usize>, Vec<&str>)> = Vec::new();
    for c in field.iter().filter(|c| !leaders.contains(&c.name)) {
        match groups.iter_mut().find(|(tier, _)| *tier == c.tier) {
            Some((_, titles)) => titles.push(&c.title),
            None => groups.push((c.tier, vec![&c.title])),
        }
    }
    groups.into_iter().map(|(_, titles)| titles).filter(|titles| titles.len() > 1).collect()
}

/// `of 45 pairs: 39 decided, 6 inconclusive`; `None` where there are fewer than two.
pub(crate) fn counted(pairs: Pairs) -> Option<String> {
    let kinds =
        [(pairs.decided, "decided"), (pairs.equal, "within 2 % of each other"), (pairs.open, "inconclusive")];
    let all: usize = kinds.iter().map(|(n, _)| n).sum();
    let parts: Vec<String> = kinds
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, words)| format!("{} {words}", units::count(*n as u64)))
        .collect();
    (all > 1).then(|| format!("of {}: {}", units::several(all, "pair"), parts.join(", ")))
}

/// How close the best contender comes to the reference; the end of the sentence that names it. `None`: unknown.
fn reference(cell: &CellFindings, in_heats: &CellInHeats) -> Option<String> {
    let reference = cell.contender(REFERENCE)?;
    let leaders = &in_heats.front.as_ref()?.leaders;
    let best = cell.contender(leaders.first()?)?;
    let share = figures::share(cell, best).filter(|share| share.figure.median.is_finite())?;
    let ceiling = reference.held_back_by().filter(|_| cell.metric == Metric::Rate);
    let (it, its) = match leaders.len() {
        1 => ("it".to_owned(), "its".to_owned()),
        _ => (best.title.clone(), format!("{}'s", best.title)),
    };
    let ratio = format!("{}{}", share.bound.words(), units::ratio(share.figure.median));
    Some(match (cell.metric, ceiling) {
        (Metric::Rate, Some(by)) => {
            format!("; {it} reaches {ratio} of the reference, which {by} limited")
        }
        (Metric::Rate, None) => format!("; {it} reaches {ratio} of the reference"),
        (Metric::ServerCpu, _) => {
            format!("; {it} uses {ratio} times the reference's CPU time per request")
        }
        (Metric::Latency(p), _) => format!("; {its} {} is {ratio} times the reference's", p.word()),
        (Metric::Rss, _) => format!("; {it} uses {ratio} times the reference's memory"),
    })
}
