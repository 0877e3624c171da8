//! Charts as SVG: the same findings give the same bytes. Each chart states its finding in words for readers who cannot see it,
//! follows the reader's choice of light or dark, and never distinguishes things by colour alone.

mod axes;
mod canvas;
pub mod heat_map;
pub mod history;
pub mod labels;
pub mod load;
mod of_run;
pub mod percentiles;
pub mod ranked;
mod scale;
pub mod scatter;
pub mod slope;
mod theme;
pub mod trials;
mod unit;

pub use canvas::Canvas;
pub(crate) use canvas::escaped;
pub use of_run::{of, overview};
pub use scale::Scale;
pub use theme::{bare, css, light};
pub use unit::Unit;

use model::Sweep;
use model::history::History;
use std::collections::BTreeSet;

/// A finished chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The name by which it is selected and saved: `ranked-1`, with the number of the cell, from 1.
    pub name: String,
    /// The title and the finding.
    pub caption: Caption,
    /// A complete SVG document, light or dark as the reader has chosen.
    pub svg: String,
}

/// The title and the finding of a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    /// What the chart shows.
    pub title: String,
    /// What the chart says, in a sentence: the alternative text.
    pub finding: String,
}

impl Caption {
    /// A caption with these words.
    pub fn new(title: impl Into<String>, finding: impl Into<String>) -> Self {
        Self { title: title.into(), finding: finding.into() }
    }
}

/// A value with its 95 % interval, if there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The value.
    pub value: f64,
    /// The interval: low, high.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// A point, or `None` for a value that cannot be drawn.
    pub fn new(value: f64, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        let interval = low.zip(high).filter(|(low, high)| low.is_finite() && high.is_finite());
        value.is_finite().then_some(Self { value, interval })
    }

    /// The point of a figure.
    pub fn of(figure: model::findings::Figure) -> Option<Self> {
        Self::new(figure.median, figure.low, figure.high)
    }

    /// The value and its bounds.
    fn all(&self) -> impl Iterator<Item = f64> + use<> {
        let (low, high) = self.interval.unwrap_or((self.value, self.value));
        [self.value, low, high].into_iter()
    }
}

/// The charts of a study's history: one per cell that has a point. A cell is named by its number in the study; one that the study no
/// longer has comes after those.
pub fn of_history(told: &History) -> Vec<Chart> {
    let mut free = told.cells.iter().filter_map(|cell| cell.number).max().unwrap_or(0) + 1..;
    let mut taken = BTreeSet::new();
    let mut charts = Vec::new();
    for cell in &told.cells {
        let chart = history::of_cell(cell);
        let own = cell.number.filter(|number| taken.insert(*number));
        if let Some(number) = own.or_else(|| free.next()).filter(|_| chart.has_points()) {
            let svg = chart.svg();
            charts.push(Chart { name: format!("history-{number}"), svg, caption: chart.caption });
        }
    }
    charts
}

/// The chart of a sweep, if any step has a latency.
pub fn of_sweep(sweep: &Sweep) -> Option<Chart> {
    let chart = load::of_sweep(sweep);
    let is_known = chart.load_curves.iter().flat_map(|curve| &curve.steps).any(|s| s.latency_ns.is_some());
    is_known.then(|| Chart { name: "load".to_owned(), svg: chart.svg(), caption: chart.caption })
}

/// A section of a Markdown report that shows charts, which are in `folder` as SVG files; empty if there are none.
pub fn markdown(charts: &[Chart], folder: &str) -> String {
    let plain = |text: &str| text.replace(['[', ']', '\n'], " ");
    let folder = folder.trim_end_matches('/').replace('<', "%3C").replace('>', "%3E");
    let shown = charts.iter().map(|chart| {
        let Caption { title, finding } = &chart.caption;
        format!("\n![{}. {}](<{folder}/{}.svg>)\n", plain(title), plain(finding), chart.name)
    });
    if charts.is_empty() { String::new() } else { format!("\n## Charts\n{}", shown.collect::<String>()) }
}
