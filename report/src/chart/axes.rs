//! What charts with axes share: the frame, the ticks and titles, and the labels of curves.

use super::canvas::{Anchor, length};
use super::{Canvas, Scale, Unit, labels, theme};

/// The width of the chart in pixels.
pub const WIDTH: f64 = 860.0;
/// The left edge of the frame in pixels.
pub const LEFT: f64 = 76.0;
/// The right edge of the frame in pixels; the labels of the curves are to the right of it.
pub const RIGHT: f64 = WIDTH - 224.0;

/// The height of a label in pixels.
pub const NAME: f64 = 15.0;

/// The room above the frame, for the title of the left axis.
pub const ABOVE: f64 = 30.0;

/// Draws the ticks of the lower axis: each with a line through all frames, which are below each other. `gap`: the least space between texts.
pub fn ticks_below(canvas: &mut Canvas, x: &Scale, unit: Unit, gap: f64, frames: &[(f64, f64)]) {
    let lowest = frames.iter().map(|(_, bottom)| *bottom).fold(0.0, f64::max);
    for tick in x.ticks(|v| length(&unit.tick(v)) + gap) {
        let (at, text) = (x.at(tick), unit.tick(tick));
        frames.iter().for_each(|(top, bottom)| canvas.line((at, *top), (at, *bottom), "rule"));
        canvas.text((at, lowest + 12.0), Anchor::Middle, 90.0, "faint", &text);
    }
}

/// Draws the ticks of the left axis: each with a line through the frame.
pub fn ticks_left(canvas: &mut Canvas, y: &Scale, right: f64, shown: impl Fn(f64) -> String) {
    for tick in y.ticks(|_| 16.0) {
        canvas.line((LEFT, y.at(tick)), (right, y.at(tick)), "rule");
        canvas.text((LEFT - 8.0, y.at(tick)), Anchor::End, LEFT - 12.0, "faint", &shown(tick));
    }
}

/// Draws the title of the left axis, above it.
pub fn title_above(canvas: &mut Canvas, y: &Scale, top: f64, right: f64, title: &str) {
    canvas.text((LEFT, top - 12.0), Anchor::Start, right - LEFT, "faint", &y.titled(title));
}

/// Draws the title of the lower axis.
pub fn title_below(canvas: &mut Canvas, x: &Scale, (left, right): (f64, f64), bottom: f64, title: &str) {
    let middle = f64::midpoint(left, right);
    canvas.text((middle, bottom + 31.0), Anchor::Middle, right - left, "faint", &x.titled(title));
}

/// Draws the label of each curve beside its end, with a sample of the curve.
pub fn names<'n>(
    canvas: &mut Canvas,
    curves: impl Iterator<Item = (&'n str, f64)>,
    (top, bottom): (f64, f64),
) {
    let (names, ends): (Vec<&str>, Vec<f64>) = curves.unzip();
    for (i, place) in labels::apart(&ends, NAME, top + 8.0, bottom).into_iter().enumerate() {
        canvas.line((RIGHT + 4.0, ends[i]), (RIGHT + 18.0, place), "leader");
        let sample = format!("curve {}", theme::stroke(i));
        canvas.line((RIGHT + 20.0, place), (RIGHT + 38.0, place), &sample);
        canvas.text((RIGHT + 44.0, place), Anchor::Start, WIDTH - RIGHT - 48.0, "ink", names[i]);
    }
}
