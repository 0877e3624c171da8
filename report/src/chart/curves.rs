//! What charts of latency curves share: the frame, the axis of latency, the names beside.

use super::canvas::Anchor;
use super::{Canvas, Scale, Unit, labels, theme};

pub const WIDTH: f64 = 860.0;
pub const LEFT: f64 = 76.0;
pub const RIGHT: f64 = WIDTH - 224.0;

/// So many pixels from one name to the next.
pub const NAME: f64 = 15.0;

/// Above the frame: what the axis on the left shows.
pub const ABOVE: f64 = 30.0;

/// Durations along the left side, each with its line; above them what they are.
pub fn latency_axis(canvas: &mut Canvas, y: &Scale, top: f64, title: &str) {
    for tick in y.ticks(|_| 16.0) {
        canvas.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "rule");
        canvas.text((LEFT - 8.0, y.at(tick)), Anchor::End, LEFT - 12.0, "faint", &Unit::Time.tick(tick));
    }
    let title = if y.is_log() { format!("{title} (logarithmic)") } else { title.to_owned() };
    canvas.text((LEFT, top - 12.0), Anchor::Start, RIGHT - LEFT, "faint", &title);
}

/// What the lower axis shows.
pub fn lower_title(canvas: &mut Canvas, bottom: f64, title: &str) {
    canvas.text((f64::midpoint(LEFT, RIGHT), bottom + 31.0), Anchor::Middle, RIGHT - LEFT, "faint", title);
}

/// Each name beside the height at which its curve ends, after a piece of the curve.
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
