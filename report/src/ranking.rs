//! The ranking of one cell, with the same columns for a terminal and in Markdown.

use crate::figures;
use crate::in_heats;
use crate::machine;
use crate::offered;
use crate::table::{INTERVAL, Side, Table};
use crate::text_style::Ink;
use crate::units;
use model::Metric;
use model::findings::{CellFindings, ContenderFindings, Figure, Findings};

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
        (figures::latency_title(cell), Side::Right),
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
        table.paint("trials", figures::trials_ink(contender));
        if contender.is_held_back() {
            table.paint("requests/s", Ink::Doubt);
        }
    }
    table
}

fn row(cell: &CellFindings, c: &ContenderFindings, label: String) -> Vec<String> {
    let [share, share_interval] = figures::of_base(cell, c);
    let latency = if matches!(cell.metric, Metric::Latency(_)) { c.metric } else { c.latency_ns_p99 };
    let median = |figure: Option<Figure>, shown: fn(f64) -> String| units::known(figure, |f| shown(f.median));
    vec![
        units::known(c.tier, |t| t.to_string()),
        figures::rank(c),
        label,
        figures::rate(c),
        units::interval(c.rate_per_s, units::rate),
        share,
        share_interval,
        median(c.server_cpu_ns_per_request, units::duration),
        figures::memory(c),
        units::known(c.wire_bytes_per_answer, units::bytes),
        median(latency, units::duration),
        figures::bound(cell, c),
        figures::trials(c),
    ]
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
