//! Percentile curves: latency over the share of requests that took no longer, the tail stretched so that each further 9
//! takes the same room.

use super::canvas::Anchor;
use super::curves::{self, LEFT, RIGHT, TOP, WIDTH};
use super::{Canvas, Caption, Scale};

/// One distribution: `(share, latency in ns)`, both growing.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Whose.
    pub label: String,
    /// Shares below 1 and their latencies.
    pub points: Vec<(f64, f64)>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Percentiles {
    /// Its words.
    pub caption: Caption,
    /// One a contender.
    pub curves: Vec<Curve>,
}

/// As many nines.
fn nines(share: f64) -> f64 {
    -(1.0 - share).max(1e-9).log10()
}

impl Percentiles {
    /// Drawn.
    pub fn svg(&self) -> String {
        let bottom = TOP + 300.0_f64.max(self.curves.len() as f64 * curves::NAME);
        let mut canvas = Canvas::new(WIDTH, bottom + 46.0);
        canvas.text((12.0, 16.0), Anchor::Start, WIDTH - 24.0, "ink bold", &self.caption.title);
        let points = || self.curves.iter().flat_map(|curve| curve.points.iter());
        let most = points().map(|(share, _)| nines(*share)).filter(|n| n.is_finite()).fold(2.0, f64::max);
        let x = Scale::linear(0.0, most, LEFT, RIGHT);
        let y = Scale::log(points().map(|(_, ns)| *ns), bottom, TOP + 8.0);
        let marks = [
            (0.0, "0 %"),
            (0.5, "50 %"),
            (0.9, "90 %"),
            (0.99, "99 %"),
            (0.999, "99.9 %"),
            (0.9999, "99.99 %"),
            (0.99999, "99.999 %"),
        ];
        for (share, text) in marks.into_iter().filter(|(share, _)| nines(*share) <= most + 1e-9) {
            let at = x.at(nines(share));
            canvas.line((at, TOP), (at, bottom), "rule", "");
            canvas.text((at, bottom + 12.0), Anchor::Middle, 80.0, "faint", text);
        }
        curves::latency_axis(&mut canvas, &y, "latency");
        canvas.line((LEFT, bottom), (RIGHT, bottom), "axis", "");
        curves::lower_title(&mut canvas, bottom, "share of requests that took no longer");
        self.curves(&mut canvas, &x, &y, bottom);
        canvas.svg(&self.caption)
    }

    fn curves(&self, canvas: &mut Canvas, x: &Scale, y: &Scale, bottom: f64) {
        let mut ends = Vec::new();
        for (i, curve) in self.curves.iter().enumerate() {
            let known = curve.points.iter().filter(|(share, ns)| share.is_finite() && ns.is_finite());
            let places: Vec<_> = known.map(|(share, ns)| (x.at(nines(*share)), y.at(*ns))).collect();
            ends.push(places.last().map_or(bottom, |(_, y)| *y));
            canvas.path(&places, "curve", &curves::style(i));
        }
        let labels = self.curves.iter().map(|curve| curve.label.as_str());
        curves::names(canvas, labels.zip(ends), bottom);
    }
}
