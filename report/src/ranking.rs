//! The ranking of one cell, and what readers must know before they read it.

use crate::in_heats;
use crate::machine;
use crate::offered;
use crate::table::Table;
use crate::units;
use model::Metric;
use model::findings::{CellFindings, ContenderFindings, Findings};

/// The ranking of a study's cell: contenders by title and version, ranks and ratios to the reference by the cell's metric.
pub fn table(cell: &CellFindings) -> Table {
    let label = |c: &ContenderFindings| {
        format!("{} {}", c.title, c.version.as_deref().unwrap_or_default()).trim_end().to_owned()
    };
    in_heats::table(cell, &ratio_title(cell.metric, "reference"), label)
}

/// The table of a race: contenders by letter, ranks and ratios to the first by the race's metric.
pub fn race_table(cell: &CellFindings) -> Table {
    in_heats::table(cell, &ratio_title(cell.metric, "A"), |c| c.name.clone())
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

/// The workload, the load and the number of rounds.
pub fn asked(cell: &CellFindings) -> String {
    format!("{}, {}; {}", cell.workload, offered::load_words(&cell.load), in_heats::asked(&cell.in_heats))
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

/// The noise floor of a cell and what it means.
pub fn floor(cell: &CellFindings) -> String {
    in_heats::floor(&cell.in_heats)
}
