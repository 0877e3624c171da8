//! The table of a cell measured in heats: rows by rank, with remarks on rows that deserve caution.

use crate::table::{INTERVAL, Table};
use crate::text_style::Ink;
use crate::{answer, chips, figures, units};
use model::Metric;
use model::findings::{CellFindings, CellInHeats, ContenderFindings, ContenderInHeats, Figure, Unranked};
use model::heat::RESTING;

/// What a noise floor means.
const DETECTED: &str = "a run like this detects half of all differences of this size";

/// A smaller share of disturbed turns is shown as 0 %.
const DISTURBED: f64 = 0.005;

/// The table; `ratio` is the title of the column of ratios, `label` names a row.
pub(crate) fn table<'c>(
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
pub(crate) fn remarks(c: &ContenderFindings) -> Vec<String> {
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

/// How much was measured, and how much of it is decided: `6 rounds in 12 heats; of 45 pairs: 39 decided, 6 inconclusive`.
pub(crate) fn asked(in_heats: &CellInHeats) -> String {
    let pairs = answer::counted(in_heats.pairs).map(|pairs| format!("; {pairs}")).unwrap_or_default();
    let (rounds, heats) = (units::several(in_heats.rounds, "round"), units::several(in_heats.heats, "heat"));
    format!("{rounds} in {heats}{pairs}")
}

/// The noise floor of a cell, for each class, and what it means.
pub(crate) fn floor(in_heats: &CellInHeats) -> String {
    let class = |floor: &model::findings::ClassFloor| {
        format!("{} ({})", units::noise_floor(floor.noise_floor), floor.class.word())
    };
    match in_heats.noise_floors.as_slice() {
        [] => "noise floor unknown: no class has two ranked contenders".to_owned(),
        [one] => format!("noise floor {}: {DETECTED}", units::noise_floor(one.noise_floor)),
        all => format!("noise floor {}: {DETECTED}", all.iter().map(class).collect::<Vec<_>>().join(", ")),
    }
}
