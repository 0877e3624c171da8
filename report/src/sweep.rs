//! The report of a sweep: as a document, and as rows.

use crate::document::Document;
use crate::records::{Field, Records, decimals, text};
use crate::table::{Rows, Table};
use crate::text_style::Ink;
use crate::units;
use model::Bound;
use model::sweep::{Common, Kept, KeptOutcome, Spread, Step, Sweep, Swept};

/// The whole report.
pub fn document(s: &Sweep) -> Document {
    let mut document = Document::default().sentence(asked(s));
    for c in &s.contenders {
        document = document.heading(2, format!("{}: {}", c.name, c.title)).items(figures(c));
        if !c.steps.is_empty() {
            document = document.table(steps(c));
        }
        document = document.painted_items(notes(c).into_iter().map(|note| (note, Ink::Doubt)));
    }
    if let Some(common) = &s.common {
        document =
            document.heading(2, "Side by side").sentence(common_words(common)).table(common_table(common));
    }
    document.sentences(ending(s))
}

/// A row: the contender, the part of the sweep, and the step.
type Measured<'s> = (&'s str, &'static str, &'s Step);

/// The columns: medians over the repeats, except in those that end in `_low` and `_high`.
fn fields<'s>() -> [Field<Measured<'s>>; 18] {
    [
        ("contender", |(name, ..)| text(name)),
        ("part", |(_, part, _)| text(part)),
        ("share", |(.., step)| decimals(step.share, 4)),
        ("offered_per_s", |(.., step)| decimals(step.offered_per_s, 3)),
        ("trials", |(.., step)| text(step.trials)),
        ("void", |(.., step)| text(step.void)),
        ("failed", |(.., step)| text(step.failed)),
        ("due_per_s", |(.., step)| decimals(step.due_per_s?.median, 3)),
        ("achieved_per_s", |(.., step)| decimals(step.achieved_per_s?.median, 3)),
        ("achieved_per_s_low", |(.., step)| decimals(step.achieved_per_s?.low, 3)),
        ("achieved_per_s_high", |(.., step)| decimals(step.achieved_per_s?.high, 3)),
        ("latency_ns_p50", |(.., step)| decimals(step.latency_ns_p50?.median, 3)),
        ("latency_ns_p99", |(.., step)| decimals(step.latency_ns_p99?.median, 3)),
        ("latency_ns_p99_low", |(.., step)| decimals(step.latency_ns_p99?.low, 3)),
        ("latency_ns_p99_high", |(.., step)| decimals(step.latency_ns_p99?.high, 3)),
        ("latency_ns_p999", |(.., step)| decimals(step.latency_ns_p999?.median, 3)),
        ("server_cpu_ns_per_request", |(.., step)| decimals(step.server_cpu_ns_per_request?.median, 3)),
        ("server_cores", |(.., step)| decimals(step.server_cores?.median, 3)),
    ]
}

/// One row per step, and one row per contender at the common rate.
pub fn records(s: &Sweep) -> Records {
    let steps = s.contenders.iter().flat_map(|c| c.steps.iter().map(|step| (c.name.as_str(), "step", step)));
    let common = s.common.iter().flat_map(|common| &common.contenders);
    Records::of(steps.chain(common.map(|c| (c.name.as_str(), "common", &c.step))), fields())
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

/// A step, under the first column's words.
type Row<'s> = (String, &'s Step);

/// Steps beside a first column.
fn with_steps(first: Rows<Row>) -> Table {
    let time = |s: Option<Spread>| Some(units::duration(s?.median));
    let over_repeats = |s: Spread| format!("{} to {}", units::duration(s.low), units::duration(s.high));
    first
        .number("offered/s", |(_, step)| units::rate(step.offered_per_s))
        .figure("achieved/s", |(_, step)| Some(units::rate(step.achieved_per_s?.median)))
        .figure("p50", |(_, step)| time(step.latency_ns_p50))
        .figure("p99", |(_, step)| time(step.latency_ns_p99))
        .figure("p99 over repeats", |(_, step)| step.latency_ns_p99.map(over_repeats))
        .figure("p999", |(_, step)| time(step.latency_ns_p999))
        .figure("CPU/request", |(_, step)| time(step.server_cpu_ns_per_request))
        .figure("cores", |(_, step)| Some(format!("{:.2}", step.server_cores?.median)))
        .text("", |(_, step)| soundness(step))
        .table()
}

fn steps(c: &Swept) -> Table {
    let rows: Vec<Row> = c.steps.iter().map(|step| (format!("{:.0} %", step.share * 100.0), step)).collect();
    with_steps(Table::of(&rows).number("of capacity", |(share, _)| share.clone()))
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
        "All at {}, {:.0} % of the knee of {}, the slowest.",
        units::requests_per_s(common.rate_per_s),
        common.share * 100.0,
        common.slowest
    )
}

fn common_table(common: &Common) -> Table {
    let rows: Vec<Row> = common.contenders.iter().map(|c| (c.name.clone(), &c.step)).collect();
    with_steps(Table::of(&rows).text("", |(name, _)| name.clone()))
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
