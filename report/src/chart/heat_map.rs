//! A heat map of contenders × workloads: each cell is a ratio, hatched if its interval includes 1. As in the tables, there is no ratio
//! where both rates are lower bounds, and a ratio of which one is a lower bound is a bound itself.

use super::canvas::{Anchor, MARGIN, head_height, length};
use super::ranked::label;
use super::{Canvas, Caption, unit};
use crate::figures::{self, Share, ShareBound};
use crate::units;
use model::findings::{CellFindings, ContenderFindings};
use model::{Findings, Metric};

/// The whole chart: `ratios[row][column]`, `None` if the ratio is unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// The title and the finding.
    pub caption: Caption,
    /// The contenders.
    pub rows: Vec<String>,
    /// The workloads.
    pub columns: Vec<String>,
    /// Each contender's ratio to the base for each workload.
    pub ratios: Vec<Vec<Option<Share>>>,
}

const ROW: f64 = 26.0;
const LABELS: f64 = 230.0;
/// The bounds for the width of a column, which is otherwise that of its name.
const NARROWEST: f64 = 84.0;
const WIDEST: f64 = 170.0;
/// The total width of the columns, unless they need more.
const COLUMNS: f64 = 600.0;

/// The minimum width of the chart, so that the key below it fits.
const NARROWEST_CHART: f64 = 700.0;

/// Ratios this far from 1, or farther, have the strongest colour.
const STRONGEST: f64 = 4.0;

/// Every contender's figure as a multiple of the reference's, or in a race of the first contender's. One chart per metric that
/// has at least two cells.
pub fn of_findings(f: &Findings) -> Vec<HeatMap> {
    let mut metrics: Vec<Metric> = Vec::new();
    for cell in &f.cells {
        if !metrics.contains(&cell.metric) {
            metrics.push(cell.metric);
        }
    }
    metrics.into_iter().filter_map(|metric| of_metric(f, metric)).collect()
}

fn of_metric(f: &Findings, metric: Metric) -> Option<HeatMap> {
    let cells: Vec<&CellFindings> = f.cells.iter().filter(|cell| cell.metric == metric).collect();
    let base = cells.iter().find_map(|cell| figures::base(cell)).map(|c| &c.name);
    let mut all: Vec<&ContenderFindings> = Vec::new();
    for c in cells.iter().flat_map(|cell| &cell.contenders) {
        if Some(&c.name) != base && !all.iter().any(|there| there.name == c.name) {
            all.push(c);
        }
    }
    let ratio = |name: &str, cell: &CellFindings| {
        let own = cell.contender(name)?;
        figures::share(cell, own).filter(|share| share.figure.median.is_finite())
    };
    let ratios: Vec<Vec<Option<Share>>> =
        all.iter().map(|c| cells.iter().map(|cell| ratio(&c.name, cell)).collect()).collect();
    if cells.len() < 2 || ratios.iter().flatten().all(Option::is_none) {
        return None;
    }
    let base = if f.race.is_some() { "A's" } else { "the reference's" };
    let rows: Vec<String> = all.into_iter().map(label).collect();
    let columns: Vec<String> = cells.iter().map(|cell| cell.title.clone()).collect();
    let title = format!("{}, as a multiple of {base}", unit::axis(metric));
    let caption = Caption::new(crate::units::capital(&title), finding(&rows, &columns, &ratios));
    Some(HeatMap { caption, rows, columns, ratios })
}

fn finding(rows: &[String], columns: &[String], ratios: &[Vec<Option<Share>>]) -> String {
    let known: Vec<(usize, usize, Share)> = ratios
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().enumerate().filter_map(move |(j, p)| Some((i, j, (*p)?))))
        .collect();
    let unsure = known.iter().filter(|(_, _, share)| spans_one(*share)).count();
    let ends = known.iter().max_by(|a, b| a.2.figure.median.total_cmp(&b.2.figure.median));
    let ends = ends.zip(known.iter().min_by(|a, b| a.2.figure.median.total_cmp(&b.2.figure.median)));
    let Some((most, least)) = ends else { return "No ratio is known.".to_owned() };
    let words = |(i, j, share): &(usize, usize, Share)| {
        let (bound, ratio) = (share.bound.words(), units::ratio(share.figure.median));
        format!("{bound}{ratio} ({}, {})", rows[*i], columns[*j])
    };
    format!(
        "{} from {} to {}; {unsure} of them with an interval that includes 1.",
        units::several(known.len(), "ratio"),
        words(least),
        words(most)
    )
}

/// Whether the interval of the ratio includes 1; always true without an interval.
fn spans_one(share: Share) -> bool {
    share.figure.low.zip(share.figure.high).is_none_or(|(low, high)| low <= 1.0 && 1.0 <= high)
}

impl HeatMap {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let labels = self.rows.iter().map(|row| length(row)).fold(60.0, f64::max).min(LABELS);
        let left = MARGIN + labels + 12.0;
        let named = self.columns.iter().map(|column| length(column)).fold(0.0, f64::max) + 12.0;
        let fitting = (COLUMNS / self.columns.len().max(1) as f64).clamp(NARROWEST, WIDEST);
        let column = named.clamp(NARROWEST, fitting);
        let width = (left + column * self.columns.len() as f64 + MARGIN).max(NARROWEST_CHART);
        let top = head_height(&self.caption, width) + 32.0;
        let mut canvas = Canvas::new(width, top + ROW * self.rows.len() as f64 + 36.0);
        canvas.head(&self.caption);
        for (j, name) in self.columns.iter().enumerate() {
            let x = left + column * (j as f64 + 0.5);
            canvas.text((x, top - 13.0), Anchor::Middle, column - 8.0, "faint", name);
        }
        for (i, row) in self.rows.iter().enumerate() {
            let y = top + ROW * i as f64;
            canvas.text((left - 10.0, y + ROW / 2.0), Anchor::End, left - 10.0 - MARGIN, "ink", row);
            for (j, of) in self.columns.iter().enumerate() {
                let ratio = self.ratios.get(i).and_then(|row| row.get(j)).copied().flatten();
                cell(&mut canvas, (left + column * j as f64, y), column, ratio, &format!("{row}, {of}"));
            }
        }
        let foot = top + ROW * self.rows.len() as f64 + 18.0;
        let mut key = "blue, bold: above 1 · orange: below 1 · hatched: its interval includes 1".to_owned();
        for bound in [ShareBound::AtMost, ShareBound::AtLeast] {
            if self.ratios.iter().flatten().flatten().any(|share| share.bound == bound) {
                key.push_str(&format!(" · {}: {}", bound.sign().trim_end(), bound.words().trim_end()));
            }
        }
        canvas.text((MARGIN, foot), Anchor::Start, width - 2.0 * MARGIN, "faint", &key);
        canvas.svg(&self.caption)
    }
}

fn cell(canvas: &mut Canvas, (x, y): (f64, f64), column: f64, ratio: Option<Share>, of: &str) {
    let (place, size) = ((x + 1.0, y + 1.0), (column - 2.0, ROW - 2.0));
    let middle = (x + column / 2.0, y + ROW / 2.0);
    let Some(share) = ratio.filter(|share| share.figure.median > 0.0) else {
        canvas.rect(place, size, "band", 1.0);
        canvas.text(middle, Anchor::Middle, column - 8.0, "faint", units::UNKNOWN);
        return;
    };
    let value = share.figure.median;
    let hue = if value >= 1.0 { "f0" } else { "f1" };
    let strength = (value.ln().abs() / STRONGEST.ln()).clamp(0.0, 1.0);
    canvas.rect(place, size, hue, 0.06 + 0.4 * strength);
    if spans_one(share) {
        canvas.hatch(place, size);
    }
    let class = if value > 1.0 { "ink bold" } else { "ink" };
    let shown = format!("{}{}", share.bound.sign(), units::ratio(value));
    canvas.text(middle, Anchor::Middle, column - 8.0, class, &shown);
    if let Some((low, high)) = share.figure.low.zip(share.figure.high) {
        let (low, high) = (units::ratio(low), units::ratio(high));
        canvas.hover(place, size, &format!("{of}: {shown}, 95 %: {low} to {high}"));
    }
}
