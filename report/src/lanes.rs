//! Draws estimates with their intervals: one per row, as wide as the table's column, on a shared axis. The table also
//! has the values as text.

use crate::chart::Scale;
use crate::figures::ShareBound;
use crate::units;
use maud::{Markup, html};

/// An estimate, its interval, and the values of single rounds.
#[derive(Clone, Debug, Default)]
pub struct LaneEstimate {
    /// The value, drawn as a dot.
    pub value: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// The values of single rounds.
    pub ticks: Vec<f64>,
    /// What the value says of the true one; a bound is drawn as a hollow dot.
    pub bound: ShareBound,
}

/// The axis of all estimates of a table, or of several tables. Positions are percentages of the column's width.
#[derive(Clone, Copy, Debug)]
pub struct Axis(Scale);

/// The width of an axis label, in per cent of the column on a phone.
const LABEL: f64 = 13.0;

impl Axis {
    /// An axis from 0, or a logarithmic one if the values' range is large.
    pub fn of_sizes(estimates: &[LaneEstimate]) -> Self {
        Self(Scale::for_sizes(values(estimates), 3.0, 97.0))
    }

    /// A logarithmic axis for ratios around 1.
    pub fn of_ratios(estimates: &[LaneEstimate]) -> Self {
        Self(Scale::log(values(estimates).chain([0.98, 1.02]), 3.0, 97.0))
    }

    fn ticks(&self) -> Vec<f64> {
        self.0.ticks(|_| LABEL)
    }

    /// The labels, for the column's head.
    pub fn head(&self) -> Markup {
        html! {
            svg.axis width="100%" height="16" aria-hidden="true" {
                @for tick in self.ticks() {
                    text x=(percent(self.0.at(tick))) y="12" text-anchor="middle" { (label(tick)) }
                }
            }
        }
    }

    /// The kind of axis, in words.
    pub fn kind(&self) -> &'static str {
        if self.0.is_log() { ", on a logarithmic axis" } else { "" }
    }

    /// Draws an estimate. `mark`: the value that all of them are compared with.
    pub fn draw(&self, estimate: &LaneEstimate, mark: f64) -> Markup {
        let at = |value: f64| percent(self.0.at(value));
        html! {
            svg.lane width="100%" height="26" aria-hidden="true" {
                @for tick in self.ticks() {
                    line.rule x1=(at(tick)) x2=(at(tick)) y1="0" y2="26" {}
                }
                line.mark x1=(at(mark)) x2=(at(mark)) y1="0" y2="26" {}
                @for tick in &estimate.ticks {
                    line.tick x1=(at(*tick)) x2=(at(*tick)) y1="8" y2="18" {}
                }
                @if let Some((low, high)) = estimate.interval {
                    line.bar x1=(at(low)) x2=(at(high)) y1="13" y2="13" {}
                    line.end x1=(at(low)) x2=(at(low)) y1="8" y2="18" {}
                    line.end x1=(at(high)) x2=(at(high)) y1="8" y2="18" {}
                }
                @if let Some(value) = estimate.value {
                    circle.dot.hollow[estimate.bound != ShareBound::Exact] cx=(at(value)) cy="13" r="5" {}
                }
            }
        }
    }
}

/// All values that the axis must cover.
fn values(estimates: &[LaneEstimate]) -> impl Iterator<Item = f64> + Clone {
    let of = |e: &LaneEstimate| {
        let (low, high) = e.interval.unzip();
        let all: Vec<f64> = e.ticks.iter().copied().chain(e.value).chain(low).chain(high).collect();
        all
    };
    let all = estimates.iter().flat_map(of).filter(|value| value.is_finite() && *value > 0.0);
    all.collect::<Vec<f64>>().into_iter()
}

fn percent(place: f64) -> String {
    format!("{place:.2}%")
}

/// The label of a round value, without trailing zeros.
fn label(value: f64) -> String {
    match value {
        v if v >= 10.0 => units::count(v.round() as u64),
        v => format!("{v}"),
    }
}
