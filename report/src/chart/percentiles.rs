//! Percentile curves: latency over the share of requests that took no longer. The tail is stretched so that each further 9 takes
//! the same room.

use super::axes::{self, ABOVE, LEFT, RIGHT, WIDTH};
use super::canvas::{Anchor, head_height};
use super::ranked::label;
use super::{Canvas, Caption, Scale, Unit, theme};
use crate::units;
use model::findings::CellFindings;
use model::metric::LEAST_BEYOND;
use model::study::REFERENCE;
use model::{Load, StartInCell};
use stats::Histogram;

/// One distribution: pairs of share and latency in nanoseconds, both increasing.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name of the contender.
    pub label: String,
    /// Shares below 1 and their latencies.
    pub points: Vec<(f64, f64)>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles {
    /// The title and the finding.
    pub caption: Caption,
    /// The title of the latency axis.
    pub axis: String,
    /// One per contender.
    pub curves: Vec<Curve>,
}

const HEIGHT: f64 = 300.0;

/// The number of points per nine.
const POINTS: u32 = 16;

const MARKS: [(f64, &str); 7] = [
    (0.0, "0 %"),
    (0.5, "50 %"),
    (0.9, "90 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.99999, "99.999 %"),
];

/// The chart of a cell: one curve for each contender, of the merged latencies of its valid starts.
pub fn of_cell(cell: &CellFindings, number: usize, starts: &[StartInCell<'_>]) -> Percentiles {
    let curve = |c: &model::findings::ContenderFindings| {
        let mut all = Histogram::new();
        let own = starts.iter().filter(|o| o.cell == number && o.start.contender == c.name);
        own.filter_map(StartInCell::valid).for_each(|m| all.merge(&m.tally.latency));
        Curve { label: label(c), points: points(&all) }
    };
    let all = cell.contenders.iter().map(|c| (c, curve(c))).filter(|(_, curve)| curve.points.len() > 1);
    let all: Vec<_> = all.collect();
    let others: Vec<&Curve> =
        all.iter().filter(|(c, _)| c.name != REFERENCE).map(|(_, curve)| curve).collect();
    let axis = match cell.load {
        Load::Closed { .. } => "latency at saturation",
        Load::Open { .. } => "latency from when a request was due",
    };
    let caption = Caption::new(format!("{}: {axis}", cell.title), finding(&others));
    Percentiles { caption, axis: axis.to_owned(), curves: all.into_iter().map(|(_, curve)| curve).collect() }
}

/// Points in equal steps along the axis, without the minimum, which says little and would take half of the height.
fn points(all: &Histogram) -> Vec<(f64, f64)> {
    let last = nines(1.0 - LEAST_BEYOND / all.count().max(1) as f64);
    let steps = (last.max(0.0) * f64::from(POINTS)).floor() as u32;
    let shares = (1..=steps).map(|i| 1.0 - 10_f64.powf(-f64::from(i) / f64::from(POINTS)));
    shares.filter_map(|share| Some((share, all.quantile_ns(share)? as f64))).collect()
}

fn finding(curves: &[&Curve]) -> String {
    let at_99 = |curve: &Curve| {
        curve.points.iter().min_by(|a, b| (a.0 - 0.99).abs().total_cmp(&(b.0 - 0.99).abs())).copied()
    };
    let known = curves.iter().filter_map(|c| Some((*c, at_99(c).filter(|(share, _)| *share > 0.98)?.1)));
    let known: Vec<(&Curve, f64)> = known.collect();
    let (Some(best), Some(worst)) =
        (known.iter().min_by(|a, b| a.1.total_cmp(&b.1)), known.iter().max_by(|a, b| a.1.total_cmp(&b.1)))
    else {
        return "There are too few responses for a 99th percentile.".to_owned();
    };
    let lead = format!(
        "In all measurements together, 99 % of responses take at most {} from {}",
        units::duration(best.1),
        best.0.label
    );
    if known.len() < 2 {
        return format!("{lead}.");
    }
    format!("{lead}, and {} from {}, the slowest.", units::duration(worst.1), worst.0.label)
}

/// The share as a number of nines: 2 for 0.99.
fn nines(share: f64) -> f64 {
    -(1.0 - share).max(1e-9).log10()
}

impl Percentiles {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let top = head_height(&self.caption, WIDTH) + ABOVE;
        let bottom = top + HEIGHT.max((self.curves.len() + 1) as f64 * axes::NAME);
        let mut canvas = Canvas::new(WIDTH, bottom + 46.0);
        canvas.head(&self.caption);
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter());
        let most = points().map(|(share, _)| nines(*share)).filter(|n| n.is_finite()).fold(2.0, f64::max);
        let x = Scale::linear(0.0, most, LEFT, RIGHT);
        let y = Scale::log(points().map(|(_, ns)| *ns), bottom, top + 8.0);
        for (share, text) in MARKS.into_iter().filter(|(share, _)| nines(*share) <= most + 1e-9) {
            let at = x.at(nines(share));
            canvas.line((at, top), (at, bottom), "rule");
            canvas.text((at, bottom + 12.0), Anchor::Middle, 80.0, "faint", text);
        }
        axes::ticks_left(&mut canvas, &y, RIGHT, |tick| Unit::Time.tick(tick));
        axes::title_above(&mut canvas, &y, top, RIGHT, &self.axis);
        canvas.line((LEFT, bottom), (RIGHT, bottom), "axis");
        axes::title_below(&mut canvas, &x, (LEFT, RIGHT), bottom, "share of requests that took no longer");
        self.curves(&mut canvas, &x, &y, (top, bottom));
        canvas.svg(&self.caption)
    }

    fn curves(&self, canvas: &mut Canvas, x: &Scale, y: &Scale, (top, bottom): (f64, f64)) {
        let mut ends = Vec::new();
        let mut lines = Vec::new();
        for curve in &self.curves {
            let known = curve.points.iter().filter(|(share, ns)| share.is_finite() && ns.is_finite());
            let places: Vec<_> = known.map(|(share, ns)| (x.at(nines(*share)), y.at(*ns))).collect();
            ends.push(places.last().map_or(bottom, |(_, y)| *y));
            lines.push(places);
        }
        // Earlier curves are drawn over later ones.
        for (i, places) in lines.iter().enumerate().rev() {
            canvas.path(places, &format!("curve {}", theme::stroke(i)), &self.curves[i].label);
        }
        let labels = self.curves.iter().map(|curve| curve.label.as_str());
        axes::names(canvas, labels.zip(ends), (top, bottom));
    }
}
