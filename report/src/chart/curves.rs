//! What charts of latency curves share: the frame, how curves are told apart, the axis of latency, the names beside.

use super::canvas::{Anchor, DASHES, HUES};
use super::{Canvas, Scale, labels};
use crate::units;

pub const WIDTH: f64 = 860.0;
pub const TOP: f64 = 40.0;
pub const LEFT: f64 = 76.0;
pub const RIGHT: f64 = WIDTH - 190.0;

/// So many pixels from one name to the next.
pub const NAME: f64 = 15.0;

/// The colour of the curve with this number.
pub fn hue(i: usize) -> &'static str {
    HUES[i % HUES.len()]
}

/// Colour and pattern of the curve with this number.
pub fn style(i: usize) -> String {
    let dash = DASHES[i / HUES.len() % DASHES.len()];
    format!("stroke:{};stroke-dasharray:{}", hue(i), if dash.is_empty() { "none" } else { dash })
}

/// Durations along the left side, each with its line.
pub fn latency_axis(canvas: &mut Canvas, y: &Scale, title: &str) {
    for tick in y.ticks(|_| 16.0) {
        canvas.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "rule", "");
        canvas.text((LEFT - 8.0, y.at(tick)), Anchor::End, LEFT - 12.0, "faint", &units::duration(tick));
    }
    canvas.text((LEFT, TOP - 8.0), Anchor::Start, RIGHT - LEFT, "faint", title);
}

/// What the lower axis shows.
pub fn lower_title(canvas: &mut Canvas, bottom: f64, title: &str) {
    canvas.text((f64::midpoint(LEFT, RIGHT), bottom + 31.0), Anchor::Middle, RIGHT - LEFT, "ink", title);
}

/// Each name beside the height at which its curve ends.
pub fn names<'n>(canvas: &mut Canvas, curves: impl Iterator<Item = (&'n str, f64)>, bottom: f64) {
    let (names, ends): (Vec<&str>, Vec<f64>) = curves.unzip();
    for (i, place) in labels::apart(&ends, NAME, TOP + 8.0, bottom).into_iter().enumerate() {
        canvas.line((RIGHT + 4.0, ends[i]), (RIGHT + 18.0, place), "leader", "");
        canvas.rect((RIGHT + 20.0, place - 4.0), (8.0, 8.0), "", &format!("fill:{}", hue(i)));
        canvas.text((RIGHT + 32.0, place), Anchor::Start, 150.0, "ink", names[i]);
    }
}
