//! A race in words: which is faster, by how much, how surely.

use crate::units;
use model::Findings;
use model::findings::{CellFindings, ContenderFindings, Figure};
use std::fmt::Write;

/// The whole report.
pub fn report(f: &Findings) -> String {
    let mut out = String::new();
    for cell in &f.cells {
        let mut names: Vec<&ContenderFindings> = cell.contenders.iter().collect();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        for c in &names {
            let _ = writeln!(out, "{}: {}", c.name, c.title);
        }
        let _ = write!(out, "\n{}\n", crate::ranking::race_table(cell).plain());
        for c in &names[1..] {
            let _ = writeln!(out, "{}", verdict(cell, names[0], c));
        }
        if cell.noise_floor.is_some_and(|floor| floor < crate::ranking::FLAT) {
            let _ = writeln!(out, "{}", crate::ranking::floor(cell));
        }
        for note in crate::ranking::notes(cell) {
            let _ = writeln!(out, "{note}");
        }
    }
    let _ = writeln!(out, "ended: {}; {:.0} s of trials; run {}", f.ended, f.elapsed_s, f.run);
    out
}

/// How `other` compares with `base`.
pub fn verdict(cell: &CellFindings, base: &ContenderFindings, other: &ContenderFindings) -> String {
    let Some(floor) = cell.noise_floor else {
        let notes = if crate::ranking::notes(cell).is_empty() { "" } else { ": see the notes" };
        return format!("too few sound trials to say anything{notes}");
    };
    let Some(Figure { median, low: Some(low), high: Some(high) }) = other.of_reference else {
        return format!("{} can't be compared with {}: too few sound trials", other.name, base.name);
    };
    let floor_words = format!("noise floor {}", units::percent(floor));
    let interval = format!("{}–{}", units::ratio(low), units::ratio(high));
    // A race that stops as soon as it is sure has its own rule for that; its interval alone would be sure too often.
    let is_sure = other.differs.unwrap_or(low > 1.0 || high < 1.0);
    if !is_sure || median.ln().abs() <= floor.ln_1p() {
        let ratio = units::ratio(median);
        return format!(
            "no difference that this machine can show; {floor_words} (ratio {ratio}, 95 % {interval})"
        );
    }
    let (fast, slow, ratio, low, high) = if median > 1.0 {
        (other, base, median, low, high)
    } else {
        (base, other, 1.0 / median, 1.0 / high, 1.0 / low)
    };
    if slow.is_held_back() {
        let (fast, slow) = (&fast.name, &slow.name);
        return format!(
            "no difference that this machine can show: the load generator was the limit of {slow}, so that {fast}'s lead \
             ({ratio:.2}×, 95 % {low:.2}–{high:.2}) may be its own; {floor_words}"
        );
    }
    // A floor of the faster one makes the ratio a floor too.
    let at_least = if fast.is_held_back() { "at least " } else { "" };
    let mut words = format!(
        "{} is {at_least}{ratio:.2}× {}, 95 % {low:.2}–{high:.2}; {floor_words}",
        fast.name, slow.name
    );
    // The figures are the second one's excess over the first's; told is the slower one's over the faster's.
    let signed = |figure: Option<Figure>| if median > 1.0 { figure.map(negative) } else { figure };
    words.push_str(&more(slow, "takes", at_least, signed(other.time_ns_more), "longer"));
    words.push_str(&more(slow, "costs the server", "", signed(other.server_cpu_ns_more), "CPU more"));
    words
}

/// How much more an answer of the slower one takes.
fn more(slow: &ContenderFindings, verb: &str, at_least: &str, figure: Option<Figure>, unit: &str) -> String {
    let Some(Figure { median, low: Some(low), high: Some(high) }) = figure else { return String::new() };
    let shown = |ns: f64| format!("{}{}", if ns < 0.0 { "−" } else { "" }, units::duration(ns.abs()));
    let [ns, low, high] = [median, low, high].map(shown);
    format!("\nan answer of {} {verb} {at_least}{ns} {unit}, 95 % {low} to {high}", slow.name)
}

fn negative(f: Figure) -> Figure {
    Figure { median: -f.median, low: f.high.map(|high| -high), high: f.low.map(|low| -low) }
}
