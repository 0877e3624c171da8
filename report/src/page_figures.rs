//! The other figures of a page beside the measured ones, in the units of the page. If the page's own command line was run, all
//! of them are shown; in a fair run (drome's own load), only those that measure the same thing under both loads.

use crate::table::{Rows, Table};
use crate::units;
use model::findings::{CellFindings, ContenderFindings, Figure};
use model::page::{Published, Replay};
use model::page_figures::counterpart;
use model::{Findings, Load};

/// The name of a figure in a table: with spaces in place of underscores.
fn label(figure: &str) -> String {
    figure.replace('_', " ")
}

/// All figures of a page's command line that was run, each with the measured value or the reason why there is none. `None` if
/// the page has no such figures.
pub fn of_replay(replay: &Replay) -> Option<Table> {
    if replay.page_figures.is_empty() || replay.figures.is_empty() {
        return None;
    }
    let rows: Vec<Row> = replay
        .page_figures
        .iter()
        .map(|(figure, published)| {
            let measured = counterpart(figure).and_then(|c| Some(replay.figures.get(&c.name)? / c.unit));
            let why = replay.without.get(figure).cloned().unwrap_or_default();
            Row { who: String::new(), figure: label(figure), published: *published, measured, why }
        })
        .collect();
    Some(with_figures(Table::of(&rows)).text("", |row| row.why.clone()).table())
}

/// The page's figures that can be compared with a cell of a fair run (drome's own load, not the page's command line), each beside
/// the measured one; `None` if there are none.
pub fn of_cell(f: &Findings, cell: &CellFindings) -> Option<Table> {
    let page = f.page.as_ref()?;
    let mut rows = Vec::new();
    for c in &cell.contenders {
        rows.extend(comparable(page, cell, c).into_iter().map(|(figure, published, measured)| Row {
            who: c.title.clone(),
            figure,
            published,
            measured: Some(measured),
            why: String::new(),
        }));
    }
    let table = with_figures(Table::of(&rows).text("contender", |row| row.who.clone())).table();
    (!rows.is_empty()).then_some(table)
}

/// The comparable figures of a contender: name, published value, measured value.
fn comparable(page: &Published, cell: &CellFindings, c: &ContenderFindings) -> Vec<(String, f64, f64)> {
    let others = page.others(&cell.title, &c.name).into_iter().flatten();
    let both = others.filter_map(|(figure, published)| {
        let counterpart = counterpart(figure)?;
        let measured = fair(&counterpart.name, &cell.load, c)? / counterpart.unit;
        Some((label(figure), *published, measured))
    });
    both.collect()
}

/// The value from a fair run; for latencies, the median over starts. With a new connection for every request, a tool's latency includes the
/// time to connect and drome's does not; the time from the send to the end is the same for both.
fn fair(name: &str, load: &Load, c: &ContenderFindings) -> Option<f64> {
    let median = |figure: Option<Figure>| figure.map(|figure| figure.median);
    let is_open = matches!(load, Load::Open { .. });
    let reconnects = matches!(load, Load::Closed { per_connection: Some(_), .. });
    match name {
        // Under open load it has a table of its own.
        "latency_ns_mean" if !reconnects && !is_open => median(c.latency_ns_mean),
        "latency_ns_p50" if !reconnects => median(c.latency_ns_p50),
        "latency_ns_p99" if !reconnects => median(c.latency_ns_p99),
        "service_ns_mean" if !is_open => median(c.latency_ns_mean),
        "service_ns_p50" if !is_open => median(c.latency_ns_p50),
        "service_ns_p99" if !is_open => median(c.latency_ns_p99),
        "received_bytes_per_s" => Some(median(c.rate_per_s)? * c.wire_bytes_per_answer?),
        "rss_bytes" => c.rss_max_bytes.map(|n| n as f64),
        _ => None,
    }
}

/// A figure of the page and, if it is known, of this machine.
struct Row {
    /// The contender, where the table has several.
    who: String,
    figure: String,
    published: f64,
    measured: Option<f64>,
    /// Why there is no measured one, where there is none.
    why: String,
}

/// The columns that both tables have.
fn with_figures(rows: Rows<'_, Row>) -> Rows<'_, Row> {
    let measured = |row: &Row| row.measured.filter(|value| value.is_finite());
    rows.text("figure", |row| row.figure.clone())
        .number("published", |row| figure_text(row.published))
        .figure("measured", |row| measured(row).map(digits))
        .figure("ratio", |row| {
            let measured = measured(row).filter(|_| row.published != 0.0)?;
            Some(units::times(measured / row.published))
        })
}

/// A published figure as it is on the page.
fn figure_text(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { units::UNKNOWN.to_owned() }
}

/// A figure with four significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = value.abs().log10().floor();
    let after = (3.0 - before).clamp(0.0, 9.0) as usize;
    units::without_zeros(&format!("{value:.after$}"))
}

/// A sentence that says where the page's figures other than the rate are compared.
pub fn elsewhere(f: &Findings) -> Option<String> {
    let page = f.page.as_ref()?;
    let has_others = page.details.values().any(|cell| !cell.is_empty());
    has_others.then(|| {
        "The report of `--as-published` compares all the other figures of the page with those of the same tool on this machine."
            .to_owned()
    })
}

/// The versions on the page and here; `None` if the page names none.
pub fn versions(f: &Findings) -> Option<Table> {
    let page = f.page.as_ref().filter(|page| !page.versions.is_empty())?;
    let all = || f.cells.iter().flat_map(|cell| &cell.contenders);
    let here = page.versions.iter().filter_map(|(name, then)| Some((all().find(|c| c.name == *name)?, then)));
    let here: Vec<(&ContenderFindings, &String)> = here.collect();
    (!here.is_empty()).then(|| {
        Table::of(&here)
            .text("contender", |(c, _)| c.title.clone())
            .text("version on the page", |(_, then)| (*then).clone())
            .known("here", |(c, _)| c.version.clone())
            .table()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_measured_figure_has_four_digits() {
        let cases = [
            (0.0, "0"),
            (0.000_123_456, "0.0001235"),
            (1.5, "1.5"),
            (28.4567, "28.46"),
            (123_456.0, "123456"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn a_page_and_the_same_tool_here_stand_side_by_side_in_the_pages_units() {
        let named = |all: &[(&str, f64)]| -> BTreeMap<String, f64> {
            all.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let replay = Replay {
            page_figures: named(&[("longest_s", 2.36), ("failed", 0.0), ("horsepower", 3.0)]),
            figures: named(&[("latency_ns_max", 118_000_000.0), ("failed", 7.0)]),
            without: [("horsepower".to_owned(), "no tool counts them".to_owned())].into(),
            ..Replay::default()
        };
        let text = of_replay(&replay).unwrap().markdown();
        assert!(text.contains("| longest s | 2.36 | 0.118 | 0.050 × |  |"), "{text}");
        assert!(text.contains("| failed | 0 | 7 | – |  |"), "{text}");
        assert!(text.contains("| horsepower | 3 | – | – | no tool counts them |"), "{text}");
        assert!(of_replay(&Replay { figures: BTreeMap::new(), ..replay }).is_none(), "nothing was measured");
    }
}
