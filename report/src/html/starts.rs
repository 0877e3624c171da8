//! Every start of a run in heats with its figure: what ratios and ranks are computed from.

use super::table::Shown;
use crate::table::{Side, Table};
use crate::units;
use maud::{Markup, html};
use model::Metric;
use model::findings::{CellFindings, Findings, StartFigure};

pub(super) fn section(f: &Findings) -> Markup {
    let table = table(f);
    let caption = format!("{} in the order in which they were", units::several(table.rows().len(), "figure"));
    let is_tall = table.rows().len() > 30;
    let shown =
        Shown { id: "trial-table", caption: &caption, table: &table, tags: &[], has_filter: true, is_tall };
    html! {
        section #trials aria-labelledby="trials-title" {
            h2 #trials-title { "Every start" }
            @if table.rows().len() == 0 {
                p { "No start has been measured yet." }
            } @else {
                p.asked {
                    "A server is started afresh in each heat, with several others and the hub, which is in every heat. Its figure is that \
                     of all of its turns in a cell that count."
                }
                (shown.markup())
            }
        }
    }
}

fn table(f: &Findings) -> Table {
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("cell", Side::Left),
        ("round", Side::Right),
        ("heat", Side::Right),
        ("figure", Side::Right),
    ]);
    for cell in &f.cells {
        for start in cell.in_heats.iter().flat_map(|heats| &heats.starts) {
            table.row(row(f, cell, start));
        }
    }
    table
}

fn row(f: &Findings, cell: &CellFindings, start: &StartFigure) -> Vec<String> {
    let contender = cell.contenders.iter().find(|c| c.name == start.contender && f.race.is_none());
    let shown = match cell.metric {
        Metric::Rate => units::rate(start.figure),
        Metric::ServerCpu | Metric::Latency(_) => units::duration(start.figure),
        Metric::Rss => units::bytes(start.figure),
    };
    vec![
        contender.map_or_else(|| start.contender.clone(), |c| c.title.clone()),
        cell.title.clone(),
        (start.round + 1).to_string(),
        (start.heat + 1).to_string(),
        shown,
    ]
}
