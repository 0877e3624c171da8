//! Charts as SVG: text in, text out, the same bytes for the same findings. Each names its finding in words for those who
//! do not see it, follows the reader's choice of light or dark, and never tells things apart by colour alone.

mod canvas;
pub mod course;
mod curves;
pub mod heat;
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
mod unit;

pub use canvas::Canvas;
pub use of_run::of;
pub use scale::Scale;
pub use theme::{bare, css, light};
pub use unit::Unit;

use model::Sweep;
use model::history::History;

/// A chart, drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// What it is asked for by, and what its file is called: `ranked-1`. Of several cells each has its number, from 1.
    pub name: String,
    /// Its words.
    pub caption: Caption,
    /// A document of its own, light or dark as the reader has chosen.
    pub svg: String,
}

/// What a chart is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    /// What is shown.
    pub title: String,
    /// What it says, in a sentence: the alternative text.
    pub finding: String,
}

impl Caption {
    /// Of these words.
    pub fn new(title: impl Into<String>, finding: impl Into<String>) -> Self {
        Self { title: title.into(), finding: finding.into() }
    }
}

/// A value with its 95 % interval, where there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The value.
    pub value: f64,
    /// The interval.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    /// None for a value that can't be drawn.
    pub fn new(value: f64, low: Option<f64>, high: Option<f64>) -> Option<Self> {
        let interval = low.zip(high).filter(|(low, high)| low.is_finite() && high.is_finite());
        value.is_finite().then_some(Self { value, interval })
    }

    /// A figure of the findings.
    pub fn of(figure: model::findings::Figure) -> Option<Self> {
        Self::new(figure.median, figure.low, figure.high)
    }

    /// The value and its bounds.
    fn all(&self) -> impl Iterator<Item = f64> + use<> {
        let (low, high) = self.interval.unwrap_or((self.value, self.value));
        [self.value, low, high].into_iter()
    }
}

/// Every chart of a study's history: one a cell that has a point.
pub fn of_history(told: &History) -> Vec<Chart> {
    let cells = told.cells.iter().enumerate();
    let shown = cells.map(|(i, cell)| (i, history::of_cell(cell))).filter(|(_, chart)| chart.has_points());
    shown
        .map(|(i, chart)| Chart {
            name: format!("history-{}", told.cells[i].number.unwrap_or(i + 1)),
            svg: chart.svg(),
            caption: chart.caption,
        })
        .collect()
}

/// The chart of a sweep, where any step was measured.
pub fn of_sweep(sweep: &Sweep) -> Option<Chart> {
    let chart = load::of_sweep(sweep);
    let is_known = chart.courses.iter().flat_map(|course| &course.steps).any(|s| s.latency_ns.is_some());
    is_known.then(|| Chart { name: "load".to_owned(), svg: chart.svg(), caption: chart.caption })
}

/// A section of a Markdown report that shows charts, which are in this folder as SVG; empty where there are none.
pub fn markdown(charts: &[Chart], folder: &str) -> String {
    let plain = |text: &str| text.replace(['[', ']', '\n'], " ");
    let folder = folder.trim_end_matches('/').replace('<', "%3C").replace('>', "%3E");
    let shown = charts.iter().map(|chart| {
        let Caption { title, finding } = &chart.caption;
        format!("\n![{}. {}](<{folder}/{}.svg>)\n", plain(title), plain(finding), chart.name)
    });
    if charts.is_empty() { String::new() } else { format!("\n## Charts\n{}", shown.collect::<String>()) }
}

/// `drome, nginx and 3 others`: no more than `most` by name.
fn listed(names: &[&str], most: usize) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => (*one).to_owned(),
        [all @ .., last] if names.len() <= most => format!("{} and {last}", all.join(", ")),
        _ => {
            let others = names.len() - (most - 1);
            format!("{} and {others} others", names[..most - 1].join(", "))
        }
    }
}
