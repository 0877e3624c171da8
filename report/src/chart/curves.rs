//! What charts with latency curves share: the frame, the latency axis, the labels.

use super::canvas::Anchor;
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

/// Draws the latency axis: durations on the left, each with its line, and the title above.
pub fn latency_axis(canvas: &mut Canvas, y: &Scale, top: f64, title: &str) {
    for tick in y.ticks(|_| 16.0) {
        canvas.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "rule");
        canvas.text((LEFT - 8.0, y.at(tick)), Anchor::End, LEFT - 12.0, "faint", &Unit::Time.tick(tick));
    }
    let title = if y.is_log() { format!("{title} (logarithmic)") } else { title.to_owned() };
    canvas.text((LEFT, top - 12.0), Anchor::Start, RIGHT - LEFT, "faint", &title);
}

/// Draws the title of the lower axis.
pub fn lower_title(canvas: &mut Canvas, bottom: f64, title: &str) {
    canvas.text((f64::midpoint(LEFT, RIGHT), bottom + 31.0), Anchor::Middle, RIGHT - LEFT, "faint", title);
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
