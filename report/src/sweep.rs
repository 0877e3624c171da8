//! The report of a sweep: for a terminal, as Markdown, as CSV, and as the documented JSON.

use crate::table::{Side, Table};
use crate::text_style::{Ink, TextStyle};
use crate::{csv, markdown_text as md, units};
use model::Bound;
use model::sweep::{Common, Kept, KeptOutcome, Spread, Step, Sweep, Swept};
use std::fmt::Write;

/// For a terminal.
pub fn terminal(s: &Sweep, style: &TextStyle) -> String {
    let line = |text: &str| style.prose(text, Ink::Plain);
    let mut out = line(&asked(s));
    for c in &s.contenders {
        let title = format!("{}: {}", c.name, c.title);
        let _ = write!(out, "\n{}{}", line(&title), line(&figures(c).join("\n")));
        if !c.steps.is_empty() {
            let _ = write!(out, "\n{}", table(c).fit(style));
        }
        let notes = notes(c);
        if !notes.is_empty() {
            let _ = write!(out, "\n{}", style.prose(&notes.join("\n"), Ink::Doubt));
        }
    }
    if let Some(common) = &s.common {
        let _ = write!(out, "\n{}\n{}", line(&common_words(common)), common_table(common).fit(style));
    }
    let _ = write!(out, "\n{}", line(&ending(s).join("\n")));
    out
}

/// As Markdown.
pub fn markdown(s: &Sweep) -> String {
    let mut out = format!("{}\n", md::words(&asked(s)));
    for c in &s.contenders {
        let _ =
            write!(out, "\n## {}: {}\n\n{}", md::words(&c.name), md::code(&c.title), md::items(&figures(c)));
        if !c.steps.is_empty() {
            let _ = write!(out, "\n{}", table(c).markdown());
        }
        let notes = notes(c);
        if !notes.is_empty() {
            let _ = write!(out, "\n{}", md::items(&notes));
        }
    }
    if let Some(common) = &s.common {
        let _ = write!(
            out,
            "\n## Side by side\n\n{}\n\n{}",
            md::words(&common_words(common)),
            common_table(common).markdown()
        );
    }
    let _ =
        write!(out, "\n{}\n", ending(s).iter().map(|line| md::prose(line)).collect::<Vec<_>>().join("\n\n"));
    out
}

/// The documented JSON (schema 1).
pub fn json(s: &Sweep) -> String {
    serde_json::to_string_pretty(s).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}")) + "\n"
}

/// The header of the CSV.
const HEAD: &str = "contender,part,share,offered_per_s,trials,void,failed,due_per_s,achieved_per_s,achieved_per_s_low,\
                    achieved_per_s_high,latency_ns_p50,latency_ns_p99,latency_ns_p99_low,latency_ns_p99_high,\
                    latency_ns_p999,server_cpu_ns_per_request,server_cores\n";

/// A header, one row per step, and one row per contender at the common rate (RFC 4180): medians over the repeats, except in the columns
/// that end in `_low` and `_high`; a field is empty if the figure is unknown.
pub fn csv(s: &Sweep) -> String {
    let mut out = HEAD.to_owned();
    for c in &s.contenders {
        c.steps.iter().for_each(|step| out.push_str(&csv_row(&c.name, "step", step)));
    }
    for c in s.common.iter().flat_map(|common| &common.contenders) {
        out.push_str(&csv_row(&c.name, "common", &c.step));
    }
    out
}

fn csv_row(name: &str, part: &str, step: &Step) -> String {
    let cell = |x: Option<f64>| x.map_or_else(String::new, |x| format!("{x:.3}"));
    let median = |s: Option<Spread>| cell(s.map(|s| s.median));
    let [low, high] =
        [|s: Spread| s.low, |s: Spread| s.high].map(|of| move |s: Option<Spread>| cell(s.map(of)));
    let Step { trials, void, failed, .. } = step;
    csv::line([
        name.to_owned(),
        part.to_owned(),
        format!("{:.4}", step.share),
        format!("{:.3}", step.offered_per_s),
        trials.to_string(),
        void.to_string(),
        failed.to_string(),
        median(step.due_per_s),
        median(step.achieved_per_s),
        low(step.achieved_per_s),
        high(step.achieved_per_s),
        median(step.latency_ns_p50),
        median(step.latency_ns_p99),
        low(step.latency_ns_p99),
        high(step.latency_ns_p99),
        median(step.latency_ns_p999),
        median(step.server_cpu_ns_per_request),
        median(step.server_cores),
    ])
}

fn asked(s: &Sweep) -> String {
    format!(
        "{}: {:?} arrivals over {} connections, {} repeats of {:.1} s after {:.1} s of warm-up; seed {}",
        s.url, s.arrivals, s.connections, s.repeats, s.duration_s, s.warmup_s, s.seed
    )
}

/// Capacity, knee, and the highest rate that keeps the promise.
fn figures(c: &Swept) -> Vec<String> {
    let is_floor = c.capacity_bound.as_deref().is_some_and(Bound::is_word_held_back);
    let at_least = if is_floor { "≥ " } else { "" };
    let rate = |s: Option<Spread>| with_range(s, units::rate, " requests/s");
    let mut lines = vec![
        format!("capacity under closed load: {at_least}{}", rate(c.capacity_per_s)),
        format!("knee, where the achieved rate stops following the offered one: {}", rate(c.knee_per_s)),
    ];
    lines.extend(c.kept.as_ref().map(kept));
    lines
}

fn kept(k: &Kept) -> String {
    let rate = units::requests_per_s;
    let words = match (k.outcome, k.rate_per_s) {
        (KeptOutcome::Found, Some(found)) => {
            let low = k.low_per_s.map_or_else(|| "less than the lowest rate tried".to_owned(), rate);
            let high = k.high_per_s.map_or_else(|| "more than the capacity".to_owned(), rate);
            format!("kept up to {}, 95 % {low} to {high}", rate(found))
        }
        (KeptOutcome::LowestDoesNot, _) => "not kept even at the lowest rate".to_owned(),
        (KeptOutcome::CapacityKeeps, _) => {
            format!("kept even at its capacity, {}", units::known(k.low_per_s, rate))
        }
        _ => "inconclusive".to_owned(),
    };
    format!("{}: {words} ({} measurements; {})", k.promise, k.trials, k.ended)
}

/// The columns of [`step_cells`], after a first column of the table's own.
fn step_columns(first: (&'static str, Side)) -> [(&'static str, Side); 10] {
    [
        first,
        ("offered/s", Side::Right),
        ("achieved/s", Side::Right),
        ("p50", Side::Right),
        ("p99", Side::Right),
        ("p99 over repeats", Side::Right),
        ("p999", Side::Right),
        ("CPU/request", Side::Right),
        ("cores", Side::Right),
        ("", Side::Left),
    ]
}

fn table(c: &Swept) -> Table {
    let mut table = Table::new(&step_columns(("of capacity", Side::Right)));
    for step in &c.steps {
        let mut row = vec![format!("{:.0} %", step.share * 100.0)];
        row.extend(step_cells(step));
        table.row(row);
    }
    table
}

fn step_cells(step: &Step) -> Vec<String> {
    let time = |s: Option<Spread>| units::known(s, |s| units::duration(s.median));
    vec![
        units::rate(step.offered_per_s),
        units::known(step.achieved_per_s, |s| units::rate(s.median)),
        time(step.latency_ns_p50),
        time(step.latency_ns_p99),
        units::known(step.latency_ns_p99, |s| {
            format!("{} to {}", units::duration(s.low), units::duration(s.high))
        }),
        time(step.latency_ns_p999),
        time(step.server_cpu_ns_per_request),
        units::known(step.server_cores, |s| format!("{:.2}", s.median)),
        soundness(step),
    ]
}

fn soundness(step: &Step) -> String {
    let sound = step.trials - step.void;
    match (sound, step.void, step.failed) {
        (_, 0, 0) => String::new(),
        (0, _, 0) => "void".to_owned(),
        (0, 0, _) => "failed".to_owned(),
        (_, void, 0) => format!("{void} void"),
        (_, 0, failed) => format!("{failed} failed"),
        (_, void, failed) => format!("{void} void, {failed} failed"),
    }
}

/// Notes, and the reasons for each step that lost measurements.
fn notes(c: &Swept) -> Vec<String> {
    let lost = c.steps.iter().filter(|step| step.void + step.failed > 0);
    let steps = lost
        .map(|step| format!("{:.0} %, {}: {}", step.share * 100.0, soundness(step), step.reasons.join("; ")));
    c.notes.iter().cloned().chain(steps).collect()
}

fn common_words(common: &Common) -> String {
    format!(
        "side by side at {}, {:.0} % of the knee of {}, the slowest",
        units::requests_per_s(common.rate_per_s),
        common.share * 100.0,
        common.slowest
    )
}

fn common_table(common: &Common) -> Table {
    let mut table = Table::new(&step_columns(("", Side::Left)));
    for c in &common.contenders {
        let mut row = vec![c.name.clone()];
        row.extend(step_cells(&c.step));
        table.row(row);
    }
    table
}

fn ending(s: &Sweep) -> Vec<String> {
    let saturated =
        "past the knee the queue, and with it the latency, grows for as long as a measurement lasts";
    let mut lines = s.notes.clone();
    if s.contenders.iter().any(|c| c.knee_per_s.is_some()) {
        lines.push(saturated.to_owned());
    }
    lines.push(format!(
        "figures are medians over the repeats, ranges their lowest and highest values; ended: {}; {:.0} s",
        s.ended, s.elapsed_s
    ));
    lines
}

fn with_range(s: Option<Spread>, shown: impl Fn(f64) -> String, unit: &str) -> String {
    let words = |s: Spread| {
        let repeats = format!("{} to {} over {} repeats", shown(s.low), shown(s.high), s.n);
        format!("{}{unit} ({repeats})", shown(s.median))
    };
    units::known(s, words)
}
