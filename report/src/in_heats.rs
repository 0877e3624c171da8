//! The table of a cell measured in heats: rows by rank, with remarks on rows that deserve caution.

use crate::table::{INTERVAL, Side, Table};
use crate::{answer, figures, units};
use model::Metric;
use model::findings::{CellFindings, CellInHeats, ContenderFindings, ContenderInHeats, Figure, Unranked};
use model::verdict::NEVER_ANSWERED;

/// What a noise floor means.
const DETECTED: &str = "a run like this detects half of all differences of this size";

/// CPU use during the turns of others, as a share of a core; less than this is not mentioned.
const ELSEWHERE: f64 = 0.02;

/// A smaller share of disturbed turns is shown as 0 %.
const DISTURBED: f64 = 0.005;

/// A column: its title, its alignment, and how its cells are made.
type Column<'c> = (&'static str, Side, Box<dyn Fn(&ContenderFindings) -> String + 'c>);

/// The table; `ratio` is the title of the column of ratios, `label` names a row.
pub(crate) fn table<'c>(
    cell: &'c CellFindings,
    ratio: &'static str,
    label: impl Fn(&ContenderFindings) -> String + 'c,
) -> Table {
    let columns = columns(cell, ratio, label);
    let head: Vec<(&'static str, Side)> = columns.iter().map(|(title, side, _)| (*title, *side)).collect();
    let mut table = Table::new(&head).named_by("contender");
    for contender in &cell.contenders {
        table.row(columns.iter().map(|(_, _, shown)| shown(contender)).collect());
        table.paint("starts", figures::trials_ink(contender));
        if contender.is_held_back() {
            table.paint("requests/s", crate::text_style::Ink::Doubt);
        }
        table.paint("remarks", crate::text_style::Ink::Doubt);
    }
    table
}

fn columns<'c>(
    cell: &'c CellFindings,
    ratio: &'static str,
    label: impl Fn(&ContenderFindings) -> String + 'c,
) -> Vec<Column<'c>> {
    let any = |is: &dyn Fn(&ContenderFindings) -> bool| cell.contenders.iter().any(is);
    let mut columns: Vec<Column<'c>> = vec![("rank", Side::Right, Box::new(figures::rank))];
    if any(&|c| figures::letters(c).is_some()) {
        columns.push(("letters", Side::Left, Box::new(|c| units::known(figures::letters(c), str::to_owned))));
    }
    let median = |figure: Option<Figure>, shown: fn(f64) -> String| units::known(figure, |f| shown(f.median));
    let latency = |c: &ContenderFindings| match cell.metric {
        Metric::Latency(_) => c.metric,
        _ => c.latency_ns_p99,
    };
    let more: Vec<Column<'c>> = vec![
        ("contender", Side::Left, Box::new(label)),
        ("requests/s", Side::Right, Box::new(figures::rate)),
        (INTERVAL, Side::Right, Box::new(|c| units::interval(c.rate_per_s, units::rate))),
        (ratio, Side::Right, Box::new(|c| figures::of_base(cell, c)[0].clone())),
        (INTERVAL, Side::Right, Box::new(|c| figures::of_base(cell, c)[1].clone())),
        ("CPU/request", Side::Right, Box::new(move |c| median(c.server_cpu_ns_per_request, units::duration))),
        ("RSS", Side::Right, Box::new(figures::memory)),
        ("on the wire", Side::Right, Box::new(|c| units::known(c.wire_bytes_per_answer, units::bytes))),
        (figures::latency_title(cell), Side::Right, Box::new(move |c| median(latency(c), units::duration))),
        ("warm-up", Side::Right, Box::new(warmup)),
        ("disturbed", Side::Right, Box::new(disturbed)),
        ("bound", Side::Left, Box::new(|c| figures::bound(cell, c))),
        ("starts", Side::Left, Box::new(figures::trials)),
    ];
    columns.extend(more);
    if any(&|c| !remarks(c).is_empty()) {
        columns.push(("remarks", Side::Left, Box::new(|c| remarks(c).join("; "))));
    }
    if any(&|c| c.published.is_some()) {
        let page = |c: &ContenderFindings| {
            units::known(c.published.filter(|p| p.is_finite()), |p| format!("{p:.1}"))
        };
        columns.push(("page", Side::Right, Box::new(page)));
    }
    columns
}

fn warmup(c: &ContenderFindings) -> String {
    let warmup_s = c.in_heats.warmup_s;
    units::known(warmup_s, |s| units::duration(s * 1e9))
}

fn disturbed(c: &ContenderFindings) -> String {
    let share = c.in_heats.disturbed_share;
    units::known(share, |share| if share < DISTURBED { "0 %".to_owned() } else { units::percent(share) })
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
    flags.extend(starved(c).map(|note| format!("starved: {note}")));
    if let Some(share) = own.stall_share {
        flags.push(format!("its own pauses cost {} of its rate", units::percent(share)));
    }
    if own.never_quiet > 0 {
        flags.push(format!("disturbed turns count in {}", of(own.never_quiet, own.starts)));
    }
    flags.extend(elsewhere(own));
    flags
}

/// The note that says how many connections the server left without any answer, and in how many starts.
pub(crate) fn starved(c: &ContenderFindings) -> Option<&str> {
    let note = c.notes.iter().find(|note| note.contains(NEVER_ANSWERED))?;
    Some(note.strip_prefix("void: ").unwrap_or(note))
}

fn elsewhere(own: &ContenderInHeats) -> Option<String> {
    let share = own.elsewhere_share.filter(|share| *share > ELSEWHERE)?;
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
        format!("{} ({})", units::noise_floor(floor.noise_floor), word(floor.class))
    };
    match in_heats.noise_floors.as_slice() {
        [] => "noise floor unknown: no class has two ranked contenders".to_owned(),
        [one] => format!("noise floor {}: {DETECTED}", units::noise_floor(one.noise_floor)),
        all => format!("noise floor {}: {DETECTED}", all.iter().map(class).collect::<Vec<_>>().join(", ")),
    }
}

fn word(class: model::contender::Class) -> &'static str {
    use model::contender::Class;
    match class {
        Class::Native => "native",
        Class::Managed => "managed",
        Class::Jit => "jit",
        Class::Prefork => "prefork",
    }
}
