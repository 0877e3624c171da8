//! The ranking of one cell: rows by rank, with remarks on rows that deserve caution, and what readers must know before they read it.

use crate::machine;
use crate::offered;
use crate::table::{INTERVAL, Table};
use crate::text_style::Ink;
use crate::{answer, chips, figures, units};
use model::Metric;
use model::findings::{CellFindings, ContenderFindings, ContenderInHeats, Figure, Findings, Unranked};
use model::heat::RESTING;

/// What a noise floor means.
const DETECTED: &str = "a run like this detects half of all differences of this size";

/// A smaller share of disturbed turns is shown as 0 %.
const DISTURBED: f64 = 0.005;

/// The ranking of a study's cell: contenders by title and version, ranks and ratios to the reference by the cell's metric.
pub fn table(cell: &CellFindings) -> Table {
    let label = |c: &ContenderFindings| {
        format!("{} {}", c.title, c.version.as_deref().unwrap_or_default()).trim_end().to_owned()
    };
    ranked(cell, &ratio_title(cell.metric, "reference"), label)
}

/// The table of a race: contenders by letter, ranks and ratios to the first by the race's metric.
pub fn race_table(cell: &CellFindings) -> Table {
    ranked(cell, &ratio_title(cell.metric, "A"), |c| c.name.clone())
}

/// The title of the column with the share of this contender's figure.
fn ratio_title(metric: Metric, of: &str) -> String {
    match metric {
        Metric::Rate => format!("of {of}"),
        Metric::ServerCpu => format!("CPU, of {of}"),
        Metric::Latency(_) => format!("latency, of {of}"),
        Metric::Rss => format!("RSS, of {of}"),
    }
}

/// The table; `ratio` is the title of the column of ratios, `label` names a row.
fn ranked<'c>(
    cell: &'c CellFindings,
    ratio: &str,
    label: impl Fn(&ContenderFindings) -> String + 'c,
) -> Table {
    let median = |figure: Option<Figure>, shown: fn(f64) -> String| Some(shown(figure?.median));
    let latency = |c: &ContenderFindings| match cell.metric {
        Metric::Latency(_) => c.metric,
        _ => c.latency_ns_p99,
    };
    let page = |c: &ContenderFindings| c.published.filter(|page| page.is_finite());
    let doubt = |is: bool| if is { Ink::Doubt } else { Ink::Plain };
    let chips = cell.contenders.iter().map(|c| chips::of(cell, c));
    Table::of(&cell.contenders)
        .number("rank", figures::rank)
        .known("letters", |c| figures::letters(c).map(str::to_owned))
        .if_any()
        .text("contender", label)
        .number("requests/s", figures::rate)
        .ink(|c| doubt(c.is_held_back()))
        .number(INTERVAL, |c| units::interval(c.rate_per_s, units::rate))
        .number(ratio, |c| figures::of_base(cell, c)[0].clone())
        .number(INTERVAL, |c| figures::of_base(cell, c)[1].clone())
        .figure("CPU/request", |c| median(c.server_cpu_ns_per_request, units::duration))
        .number("RSS", figures::memory)
        .figure("on the wire", |c| c.wire_bytes_per_answer.map(units::bytes))
        .figure(figures::latency_title(cell), |c| median(latency(c), units::duration))
        .figure("warm-up", |c| Some(units::duration(c.in_heats.warmup_s? * 1e9)))
        .figure("disturbed", |c| c.in_heats.disturbed_share.map(disturbed))
        .text("bound", |c| figures::bound(cell, c))
        .text("starts", figures::counted_starts)
        .ink(figures::trials_ink)
        .text("remarks", |c| remarks(c).join("; "))
        .if_any()
        .ink(|_| Ink::Doubt)
        .figure("page", |c| Some(format!("{:.1}", page(c)?)))
        .if_any()
        .table()
        .named_by("contender")
        .called("ranking")
        .filterable()
        .with_chips(chips)
}

fn disturbed(share: f64) -> String {
    if share < DISTURBED { "0 %".to_owned() } else { units::percent(share) }
}

/// Reasons to treat a row with caution.
fn remarks(c: &ContenderFindings) -> Vec<String> {
    let own = &c.in_heats;
    let starts = c.trials + c.failed;
    let of = |n: usize, all: usize| format!("{n} of {}", units::several(all, "start"));
    let mut flags = Vec::new();
    let rank = |why: Unranked| if own.unranked == Some(why) { ", so no rank" } else { "" };
    if c.failed > 0 {
        flags.push(format!("{} failed{}", of(c.failed, starts), rank(Unranked::Failed)));
    }
    if own.unranked == Some(Unranked::Void) {
        flags.push(format!("{} void{}", of(c.void, starts), rank(Unranked::Void)));
    }
    if own.not_settled > 0 {
        let rank = rank(Unranked::NotSettled);
        flags.push(format!("not settled in {}{rank}", of(own.not_settled, own.starts)));
    }
    flags.extend(figures::starved(c).map(|note| format!("starved: {note}")));
    if let Some(share) = own.stall_share {
        flags.push(format!("its own pauses cost {} of its rate", units::percent(share)));
    }
    if own.never_quiet > 0 {
        flags.push(format!("disturbed turns count in {}", of(own.never_quiet, own.starts)));
    }
    flags.extend(elsewhere(own));
    flags
}

fn elsewhere(own: &ContenderInHeats) -> Option<String> {
    let share = own.elsewhere_share.filter(|share| *share > RESTING)?;
    Some(format!("uses CPU while others are loaded ({} of a core)", units::percent(share)))
}

/// The workload, the load, and how much was measured and is decided: `hello, …; 6 rounds in 12 heats; of 45 pairs: 39 decided, 6 inconclusive`.
pub fn asked(cell: &CellFindings) -> String {
    let own = &cell.in_heats;
    let pairs = answer::counted(own.pairs).map(|pairs| format!("; {pairs}")).unwrap_or_default();
    let (rounds, heats) = (units::several(own.rounds, "round"), units::several(own.heats, "heat"));
    format!(
        "{}, {}; {rounds} in {heats}{pairs}",
        cell.workload,
        offered::cell_words(&cell.load, cell.transport)
    )
}

/// The same, and the noise floor with its meaning.
pub fn about(cell: &CellFindings) -> String {
    format!("{}; {}.", asked(cell), floor(cell))
}

/// What readers must know before they read the figures.
pub fn preface(f: &Findings) -> Vec<String> {
    let e = &f.environment;
    let mut lines =
        vec![format!("run {}, {}, seed {}; starts took {:.0} s", f.run, f.started_at, f.seed, f.elapsed_s)];
    lines.extend(machine::origin(f));
    lines.push(machine::name(e));
    lines.extend(machine::of_servers(e));
    let load = format!("load generator on core {}", units::cores(&e.client_cpus));
    lines.push(if f.race.as_ref().is_some_and(|race| race.running) {
        format!("servers that already ran, which drome did not pin to cores; {load}")
    } else {
        format!("servers on core {}, {load}", units::cores(&e.server_cpus))
    });
    lines.extend(e.core_notes.iter().cloned());
    lines.extend(machine::setup(e));
    lines.extend(machine::conditions(&f.conditions));
    lines.push(format!("ended: {}", f.ended));
    if f.quick {
        lines.push("A first look: the starts are too few and too short for ranks.".to_owned());
    }
    lines
}

/// The noise floor of a cell, for each class, and what it means.
pub fn floor(cell: &CellFindings) -> String {
    let class = |floor: &model::findings::ClassFloor| {
        format!("{} ({})", units::noise_floor(floor.noise_floor), floor.class.word())
    };
    match cell.in_heats.noise_floors.as_slice() {
        [] => "noise floor unknown: no class has two ranked contenders".to_owned(),
        [one] => format!("noise floor {}: {DETECTED}", units::noise_floor(one.noise_floor)),
        all => format!("noise floor {}: {DETECTED}", all.iter().map(class).collect::<Vec<_>>().join(", ")),
    }
}
