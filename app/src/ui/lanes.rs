//! Intervals drawn as lanes: one a contender, as wide as its table's column, on an axis that all share. What is drawn is
//! also said in words.

use maud::{Markup, html};
use report::chart::Scale;
use report::units;

/// What a lane shows: the dot, the bar around it, the trials behind it.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    /// The estimate.
    pub value: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// Single blocks.
    pub ticks: Vec<f64>,
    /// The value is at least, or at most, that: it is drawn hollow.
    pub is_bound: bool,
}

/// The axis of all lanes of a table. Places are percentages of the column, whatever its width.
#[derive(Clone, Copy, Debug)]
pub struct Axis(Scale);

/// A label of the axis takes so much of the width of a telephone.
const LABEL: f64 = 13.0;

impl Axis {
    /// From 0, or logarithmic where the values' range asks for it.
    pub fn of_sizes(lanes: &[Lane]) -> Self {
        Self(Scale::for_sizes(values(lanes), 3.0, 97.0))
    }

    /// Logarithmic, for ratios around 1.
    pub fn of_ratios(lanes: &[Lane]) -> Self {
        Self(Scale::log(values(lanes).chain([0.98, 1.02]), 3.0, 97.0))
    }

    fn ticks(&self) -> Vec<f64> {
        self.0.ticks(|_| LABEL)
    }

    /// The labels, for the head of the column.
    pub fn head(&self) -> Markup {
        html! {
            svg.axis width="100%" height="16" aria-hidden="true" {
                @for tick in self.ticks() {
                    text x=(percent(self.0.at(tick))) y="12" text-anchor="middle" { (label(tick)) }
                }
            }
        }
    }

    /// What kind of axis it is, for the words beside it.
    pub fn kind(&self) -> &'static str {
        if self.0.is_log() { ", on a logarithmic axis" } else { "" }
    }

    /// A lane. `mark`: a value that all are compared with.
    pub fn draw(&self, lane: &Lane, mark: f64) -> Markup {
        let at = |value: f64| percent(self.0.at(value));
        html! {
            svg.lane width="100%" height="26" aria-hidden="true" {
                @for tick in self.ticks() {
                    line.rule x1=(at(tick)) x2=(at(tick)) y1="0" y2="26" {}
                }
                line.mark x1=(at(mark)) x2=(at(mark)) y1="0" y2="26" {}
                @for tick in &lane.ticks {
                    line.tick x1=(at(*tick)) x2=(at(*tick)) y1="8" y2="18" {}
                }
                @if let Some((low, high)) = lane.interval {
                    line.bar x1=(at(low)) x2=(at(high)) y1="13" y2="13" {}
                    line.end x1=(at(low)) x2=(at(low)) y1="8" y2="18" {}
                    line.end x1=(at(high)) x2=(at(high)) y1="8" y2="18" {}
                }
                @if let Some(value) = lane.value {
                    circle.dot.hollow[lane.is_bound] cx=(at(value)) cy="13" r="5" {}
                }
            }
        }
    }
}

/// All values that must find room.
fn values(lanes: &[Lane]) -> impl Iterator<Item = f64> + Clone {
    let of = |lane: &Lane| {
        let (low, high) = lane.interval.unzip();
        let all: Vec<f64> = lane.ticks.iter().copied().chain(lane.value).chain(low).chain(high).collect();
        all
    };
    let all: Vec<f64> = lanes.iter().flat_map(of).filter(|value| value.is_finite() && *value > 0.0).collect();
    all.into_iter()
}

fn percent(place: f64) -> String {
    format!("{place:.2}%")
}

/// A round value without zeros that say nothing.
fn label(value: f64) -> String {
    match value {
        v if v >= 10.0 => units::count(v.round() as u64),
        v => format!("{v}"),
    }
}
