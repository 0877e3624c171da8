//! An estimate of how long a wanted precision takes, in words.

use crate::table::{Side, Table};
use crate::units;
use model::Forecast;
use model::forecast::CellForecast;
use std::fmt::Write;

/// The whole report.
pub fn terminal(f: &Forecast) -> String {
    let mut out = format!("{}: time needed for ±{}\n", f.study, units::percent(f.precision));
    let _ = writeln!(
        out,
        "estimated from {} of run {}, begun {}; the fewer blocks, the less reliable\n",
        units::several(f.blocks_seen, "block"),
        f.run,
        f.started_at
    );
    let mut table = Table::new(&[
        ("cell", Side::Left),
        ("widest interval", Side::Left),
        ("block to block", Side::Right),
        ("time per block", Side::Right),
        ("blocks", Side::Right),
        ("minutes", Side::Right),
    ]);
    for cell in &f.cells {
        table.row(row(cell));
    }
    let _ = writeln!(out, "{}", table.plain());
    for cell in &f.cells {
        for line in remarks(f, cell) {
            let _ = writeln!(out, "{line}");
        }
    }
    let _ = writeln!(out, "{}", over_all(f));
    out
}

fn row(cell: &CellForecast) -> Vec<String> {
    let minutes = cell.blocks.map(|blocks| blocks as f64 * cell.block_s / 60.0);
    vec![
        cell.title.clone(),
        cell.least_known.clone().unwrap_or_else(|| units::UNKNOWN.to_owned()),
        units::known(cell.deviation, |sd| format!("±{}", units::percent(sd))),
        format!("{:.1} s", cell.block_s),
        units::known(cell.blocks, |n| units::count(n as u64)),
        units::known(minutes, |m| format!("{m:.1}")),
    ]
}

/// Which precision is out of reach, and for which contenders there is no estimate.
fn remarks(f: &Forecast, cell: &CellForecast) -> Vec<String> {
    let (title, most) = (&cell.title, f.blocks_most);
    let mut lines = Vec::new();
    if cell.blocks.is_none_or(|blocks| blocks > most) {
        lines.extend(cell.best.map(|best| {
            format!(
                "{title}: needs more than the {most} blocks that the study allows; they give about ±{}",
                units::percent(best)
            )
        }));
    }
    if !cell.unknown.is_empty() {
        let names = cell.unknown.join(", ");
        lines.push(format!("{title}: no estimate for {names}: fewer than three sound blocks"));
    }
    lines
}

fn over_all(f: &Forecast) -> String {
    let (Some(blocks), Some(seconds)) = (f.blocks, f.elapsed_s) else {
        return "all cells: unknown, or far too long".to_owned();
    };
    let minutes = |s: f64| format!("{:.0} min", (s / 60.0).ceil());
    let words = format!("all cells: {blocks} blocks, about {}", minutes(seconds));
    if seconds > f.budget_s {
        return format!("{words}: more than the study's budget of {}", minutes(f.budget_s));
    }
    words
}
