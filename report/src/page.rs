//! The end of a study's report: what its page published beside what was measured here, and what was unequal there.

use crate::look::{Ink, Look};
use crate::table::{Side, Table};
use crate::{markdown, units};
use model::Findings;
use model::findings::{CellFindings, ContenderFindings};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A section of the Markdown report; empty where the study is of no page.
pub fn section(f: &Findings) -> String {
    let Some(page) = &f.page else { return String::new() };
    let mut out =
        format!("\n## Published and measured\n\nPublished: on {}.\n", markdown::words(&page.hardware));
    for cell in &f.cells {
        let rows: Vec<Compared> = compared(cell);
        if !rows.is_empty() {
            let _ = write!(
                out,
                "\n### {}\n\n{}\n{}",
                markdown::words(&cell.title),
                table(&rows).markdown(),
                agreement(&rows)
            );
        }
        if let Some(details) = page.details.get(&cell.title) {
            let _ = write!(out, "\nThe page's other figures:\n\n{}", others(details));
        }
    }
    if !f.unequal.is_empty() {
        let _ = write!(out, "\n### Unequal on the page\n\n{}", markdown::items(&f.unequal));
    }
    out
}

/// The end of the terminal's report: what Markdown has, less the page's other figures.
pub fn plain(f: &Findings, look: &Look) -> String {
    let line = |text: &str| look.prose(text, Ink::Plain);
    let mut out = String::new();
    for cell in &f.cells {
        let rows = compared(cell);
        if !rows.is_empty() {
            let title = line(&format!("published and measured: {}", cell.title));
            let _ = write!(out, "\n{title}{}{}", table(&rows).fit(look), line(agreement(&rows).trim_end()));
        }
    }
    if !f.unequal.is_empty() && !out.is_empty() {
        out += "unequal on the page:\n";
        out.extend(f.unequal.iter().map(|unequal| line(&format!("  {unequal}"))));
    }
    out
}

/// A contender with both figures.
pub(crate) struct Compared<'f> {
    pub title: &'f str,
    pub published: f64,
    pub measured: f64,
    is_floor: bool,
}

/// Those that have both figures, by the page's order.
pub(crate) fn compared(cell: &CellFindings) -> Vec<Compared<'_>> {
    let both = |c: &'_ ContenderFindings| {
        Some((c.published?, c.rate_per_s?.median)).filter(|(a, b)| a.is_finite() && b.is_finite())
    };
    let of = |c| {
        let (published, measured) = both(c)?;
        Some(Compared { title: &c.title, published, measured, is_floor: c.is_held_back() })
    };
    let mut rows: Vec<Compared> = cell.contenders.iter().filter_map(of).collect();
    rows.sort_by(|a, b| b.published.total_cmp(&a.published));
    rows
}

/// Then and now, and the rank in both.
pub(crate) fn table(rows: &[Compared<'_>]) -> Table {
    let mut table = Table::new(&[
        ("contender", Side::Left),
        ("published", Side::Right),
        ("measured", Side::Right),
        ("ratio", Side::Right),
        ("rank then", Side::Right),
        ("rank now", Side::Right),
    ]);
    for row in rows {
        let floor = if row.is_floor { "≥ " } else { "" };
        table.row(vec![
            row.title.to_owned(),
            format!("{:.1}", row.published),
            format!("{floor}{}", units::rate(row.measured)),
            format!("{floor}{}", times(row.measured / row.published)),
            rank(rows, |r| r.published, row.published),
            rank(rows, |r| r.measured, row.measured),
        ]);
    }
    table
}

/// How many times as fast as published.
pub fn times(ratio: f64) -> String {
    if !ratio.is_finite() {
        return units::UNKNOWN.to_owned();
    }
    if ratio >= 100.0 { format!("{ratio:.0} ×") } else { format!("{ratio:.2} ×") }
}

/// One more than there are faster ones.
fn rank(rows: &[Compared<'_>], of: impl Fn(&Compared<'_>) -> f64, own: f64) -> String {
    (1 + rows.iter().filter(|r| of(r) > own).count()).to_string()
}

/// How far the two orders agree, of these.
pub(crate) fn agreement(rows: &[Compared<'_>]) -> String {
    let pairs: Vec<(f64, f64)> = rows.iter().map(|r| (r.published, r.measured)).collect();
    words(&pairs)
}

/// How far the two orders agree.
pub fn words(pairs: &[(f64, f64)]) -> String {
    match stats::kendall::tau(pairs) {
        Some(tau) => {
            format!(
                "The two orders agree by Kendall's τ = {tau:.2} (1: the same, −1: reversed) over {}.\n",
                pairs.len()
            )
        }
        None => "There are too few figures to compare the two orders.\n".to_owned(),
    }
}

fn others(details: &BTreeMap<String, BTreeMap<String, f64>>) -> String {
    let figures = |all: &BTreeMap<String, f64>| {
        all.iter()
            .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    details.iter().map(|(name, all)| format!("- {}: {}\n", markdown::words(name), figures(all))).collect()
}
