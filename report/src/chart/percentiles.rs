//! Percentile curves: latency over the share of requests that took no longer, the tail stretched so that each further 9
//! takes the same room.

use super::canvas::{Anchor, DASHES, HUES};
use super::{Canvas, Caption, Scale, labels};
use crate::units;

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

const WIDTH: f64 = 860.0;
const TOP: f64 = 40.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 190.0;

/// As many nines.
fn nines(share: f64) -> f64 {
    -(1.0 - share).max(1e-9).log10()
}

impl Percentiles {
    /// Drawn.
    pub fn svg(&self) -> String {
        let bottom = TOP + 300.0_f64.max(self.curves.len() as f64 * 15.0);
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
        for tick in y.ticks(|_| 16.0) {
            canvas.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "rule", "");
            canvas.text((LEFT - 8.0, y.at(tick)), Anchor::End, LEFT - 12.0, "faint", &units::duration(tick));
        }
        canvas.line((LEFT, bottom), (RIGHT, bottom), "axis", "");
        canvas.text((LEFT, TOP - 8.0), Anchor::Start, 300.0, "faint", "latency");
        let below = "share of requests that took no longer";
        canvas.text((f64::midpoint(LEFT, RIGHT), bottom + 31.0), Anchor::Middle, RIGHT - LEFT, "ink", below);
        self.curves(&mut canvas, &x, &y, bottom);
        canvas.svg(&self.caption)
    }

    fn curves(&self, canvas: &mut Canvas, x: &Scale, y: &Scale, bottom: f64) {
        let mut ends = Vec::new();
        for (i, curve) in self.curves.iter().enumerate() {
            let (hue, dash) = (HUES[i % HUES.len()], DASHES[i / HUES.len() % DASHES.len()]);
            let style =
                format!("stroke:{hue};stroke-dasharray:{}", if dash.is_empty() { "none" } else { dash });
            let known = curve.points.iter().filter(|(share, ns)| share.is_finite() && ns.is_finite());
            let places: Vec<_> = known.map(|(share, ns)| (x.at(nines(*share)), y.at(*ns))).collect();
            ends.push(places.last().map_or(bottom, |(_, y)| *y));
            canvas.path(&places, "curve", &style);
        }
        for (i, place) in labels::apart(&ends, 15.0, TOP + 8.0, bottom).into_iter().enumerate() {
            canvas.line((RIGHT + 4.0, ends[i]), (RIGHT + 18.0, place), "leader", "");
            canvas.rect(
                (RIGHT + 20.0, place - 4.0),
                (8.0, 8.0),
                "",
                &format!("fill:{}", HUES[i % HUES.len()]),
            );
            canvas.text((RIGHT + 32.0, place), Anchor::Start, 150.0, "ink", &self.curves[i].label);
        }
    }
}
