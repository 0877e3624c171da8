//! The ranking of one cell, with the same columns for a terminal and in Markdown.

use crate::in_heats;
use crate::machine;
use crate::offered;
use crate::table::{INTERVAL, Side, Table};
use crate::text_style::Ink;
use crate::units;
use model::findings::{CellFindings, ContenderFindings, Figure, Findings};
use model::study::REFERENCE;
use model::{Load, Metric};

/// The ranking of a study's cell: contenders by title and version, ranks and ratios to the reference by the cell's metric.
pub fn table(cell: &CellFindings) -> Table {
    let label = |c: &ContenderFindings| {
        format!("{} {}", c.title, c.version.as_deref().unwrap_or_default()).trim_end().to_owned()
    };
    let of_reference = match cell.metric {
        Metric::Rate => "of reference",
        Metric::ServerCpu => "CPU, of reference",
        Metric::Latency(_) => "latency, of reference",
        Metric::Rss => "RSS, of reference",
    };
    table_of(cell, of_reference, label)
}

/// The table of a race: contenders by letter, ranks and ratios to the first by the race's metric.
pub fn race_table(cell: &CellFindings) -> Table {
    let of_a = match cell.metric {
        Metric::Rate => "of A",
        Metric::ServerCpu => "CPU, of A",
        Metric::Latency(_) => "latency, of A",
        Metric::Rss => "RSS, of A",
    };
    table_of(cell, of_a, |c| c.name.clone())
}

fn table_of(cell: &CellFindings, ratio: &'static str, label: impl Fn(&ContenderFindings) -> String) -> Table {
    if cell.in_heats.is_some() {
        return in_heats::table(cell, ratio, label);
    }
    let is_published = cell.contenders.iter().any(|c| c.published.is_some());
    let mut head = vec![
        ("tier", Side::Right),
        ("rank", Side::Right),
        ("contender", Side::Left),
        ("requests/s", Side::Right),
        (INTERVAL, Side::Right),
        (ratio, Side::Right),
        (INTERVAL, Side::Right),
        ("CPU/request", Side::Right),
        ("RSS", Side::Right),
        ("on the wire", Side::Right),
        (latency_title(cell), Side::Right),
        ("bound", Side::Left),
        ("trials", Side::Left),
    ];
    if is_published {
        head.push(("page", Side::Right));
    }
    let mut table = Table::new(&head).named_by("contender");
    for contender in &cell.contenders {
        let mut row = row(cell, contender, label(contender));
        if is_published {
            row.push(units::known(contender.published.filter(|p| p.is_finite()), |p| format!("{p:.1}")));
        }
        table.row(row);
        table.paint("trials", trials_ink(contender));
        if contender.is_held_back() {
            table.paint("requests/s", Ink::Doubt);
        }
    }
    table
}

/// Red if no trial counts, yellow if some do not.
pub(crate) fn trials_ink(c: &ContenderFindings) -> Ink {
    match (c.trials - c.void, c.void + c.failed) {
        (0, _) => Ink::Bad,
        (_, 0) if c.errors == 0 => Ink::Plain,
        _ => Ink::Doubt,
    }
}

fn row(cell: &CellFindings, c: &ContenderFindings, label: String) -> Vec<String> {
    let [share, share_interval] = of_base(cell, c);
    let latency = if matches!(cell.metric, Metric::Latency(_)) { c.metric } else { c.latency_ns_p99 };
    let median = |figure: Option<Figure>, shown: fn(f64) -> String| units::known(figure, |f| shown(f.median));
    vec![
        units::known(c.tier, |t| t.to_string()),
        rank(c),
        label,
        rate(c),
        units::interval(c.rate_per_s, units::rate),
        share,
        share_interval,
        median(c.server_cpu_ns_per_request, units::duration),
        memory(c),
        units::known(c.wire_bytes_per_answer, units::bytes),
        median(latency, units::duration),
        bound(cell, c),
        trials(c),
    ]
}

/// The throughput, with ≥ if the load generator limited it, so that it is a lower bound.
pub(crate) fn rate(c: &ContenderFindings) -> String {
    let floor = if c.is_held_back() { "≥ " } else { "" };
    units::known(c.rate_per_s, |f| format!("{floor}{}", units::rate(f.median)))
}

/// The peak memory of all trials.
pub fn memory(c: &ContenderFindings) -> String {
    units::known(c.rss_max_bytes, |n| units::bytes(n as f64))
}

/// The share of the base's figure, and its interval. If the base's rate is a lower bound, the share is an upper bound; if both
/// rates are lower bounds, there is no share.
pub fn of_base(cell: &CellFindings, c: &ContenderFindings) -> [String; 2] {
    if cell.metric != Metric::Rate {
        let share = units::known(c.metric_of_reference, |f| units::ratio(f.median));
        return [share, units::interval(c.metric_of_reference, units::ratio)];
    }
    let is_base = |c: &ContenderFindings| c.name == REFERENCE || c.name == "A";
    let is_ceiling = cell.contenders.iter().any(|c| is_base(c) && c.is_held_back()) && !is_base(c);
    if is_ceiling && c.is_held_back() {
        return [units::UNKNOWN.to_owned(), units::UNKNOWN.to_owned()];
    }
    let sign = if is_ceiling { "≤ " } else { "" };
    let share = units::known(c.of_reference, |f| format!("{sign}{}", units::ratio(f.median)));
    [share, units::interval(c.of_reference, units::ratio)]
}

/// The least share of idle time that is shown; every server has less than that.
const IDLE: f64 = 0.01;

/// What limited the rate; under closed load also the server's idle time.
pub(crate) fn bound(cell: &CellFindings, c: &ContenderFindings) -> String {
    let bound = c.bound.as_deref().unwrap_or(units::UNKNOWN);
    let is_closed = matches!(cell.load, Load::Closed { .. });
    match c.server_idle_share.filter(|idle| is_closed && *idle >= IDLE) {
        Some(idle) => format!("{bound}, idle {}", units::percent(idle)),
        None => bound.to_owned(),
    }
}

/// How many trials or starts count, and how many were void, failed or had errors.
pub fn trials(c: &ContenderFindings) -> String {
    let mut text = (c.trials - c.void).to_string();
    for (n, what) in [(c.void as u64, "void"), (c.failed as u64, "failed"), (c.errors, "errors")] {
        if n > 0 {
            text.push_str(&format!(", {} {what}", units::count(n)));
        }
    }
    text
}

/// The range of ranks: `1–3`.
pub fn rank(c: &ContenderFindings) -> String {
    match (c.rank_low, c.rank_high) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (Some(low), Some(high)) => format!("{low}–{high}"),
        _ => units::UNKNOWN.to_owned(),
    }
}

/// The title of the latency column. Under closed load the latency is that of a saturated server, and the title says so.
pub(crate) fn latency_title(cell: &CellFindings) -> &'static str {
    match (cell.metric, &cell.load) {
        (Metric::Latency(p), Load::Open { .. }) => p.word(),
        (_, Load::Closed { .. }) => "p99 at saturation",
        (_, Load::Open { .. }) => "p99",
    }
}

/// The workload, the load and the number of blocks or rounds.
pub fn asked(cell: &CellFindings) -> String {
    let measured = match &cell.in_heats {
        Some(heats) => in_heats::asked(heats),
        None => units::several(cell.blocks, "block"),
    };
    format!("{}, {}; {measured}", cell.workload, load_words(cell))
}

/// The load in words.
pub fn load_words(cell: &CellFindings) -> String {
    let connections = units::several(cell.load.connections(), "connection");
    let reuse = match cell.load.per_connection() {
        None => "kept open".to_owned(),
        Some(1) => "a new one for every request".to_owned(),
        Some(n) => format!("a new one after {n} requests"),
    };
    let load = match cell.load.rate_per_s() {
        None => "closed load".to_owned(),
        Some(rate) => format!("open load {}", offered::words(rate)),
    };
    format!("{load}, {connections}, {reuse}")
}

/// What readers must know before they read the figures.
pub fn preface(f: &Findings) -> Vec<String> {
    let e = &f.environment;
    let is_in_heats = f.cells.iter().any(|cell| cell.in_heats.is_some());
    let what = if is_in_heats { "starts" } else { "trials" };
    let mut lines =
        vec![format!("run {}, {}, seed {}; {what} took {:.0} s", f.run, f.started_at, f.seed, f.elapsed_s)];
    lines.push(machine::name(e));
    lines.push(format!(
        "servers on core {}, load generator on core {}",
        units::cores(&e.server_cpus),
        units::cores(&e.client_cpus)
    ));
    lines.extend(e.core_notes.iter().cloned());
    lines.extend(machine::setup(e));
    lines.extend(machine::conditions(&f.conditions));
    lines.push(format!("ended: {}", f.ended));
    if f.quick {
        lines.push(format!("A first look: the {what} are too few and too short for ranks."));
    }
    lines
}

/// Fewer blocks give no interval.
const LEAST_BLOCKS: usize = 6;

/// A noise floor below this is no measurement noise: no machine repeats a rate so exactly.
pub const FLAT: f64 = 1e-9;

/// The noise floor of a cell and what it means.
pub fn floor(cell: &CellFindings) -> String {
    if let Some(heats) = &cell.in_heats {
        return in_heats::floor(heats);
    }
    match cell.noise_floor {
        Some(floor) if floor < FLAT => "noise floor 0: two entries of the same contender did not differ at all, as if a limit or a timer, not the \
                      server, set the pace; the uncertainty of any difference is unknown"
            .to_owned(),
        Some(floor) => format!("noise floor {}: smaller differences are treated as noise", units::noise_floor(floor)),
        None if cell.blocks < LEAST_BLOCKS => "noise floor unknown: too few blocks to detect any difference".to_owned(),
        None => "noise floor unknown: no contender has enough sound trials in both of its entries".to_owned(),
    }
}
