//! Charts as SVG: text in, text out, the same bytes for the same findings. Each names its finding in words for those who
//! do not see it, follows the reader's choice of light or dark, and never tells things apart by colour alone.

mod canvas;
mod curves;
pub mod heat;
pub mod labels;
pub mod load;
pub mod percentiles;
pub mod ranked;
mod scale;
pub mod slope;

pub use canvas::Canvas;
pub use scale::Scale;

/// What a chart is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    /// What is shown.
    pub title: String,
    /// What it says, in a sentence: the alternative text.
    pub finding: String,
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
    fn all(&self) -> impl Iterator<Item = f64> {
        let (low, high) = self.interval.unwrap_or((self.value, self.value));
        [self.value, low, high].into_iter()
    }
}
