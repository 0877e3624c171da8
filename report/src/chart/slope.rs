//! What a page published beside what this machine measured: each contender as a share of the fastest, then and now.

use super::canvas::{Anchor, HUES, length};
use super::{Canvas, Caption, Scale, labels};
use crate::units;

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is called.
    pub label: String,
    /// What the page says.
    pub published: f64,
    /// What was measured.
    pub measured: f64,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// Its words.
    pub caption: Caption,
    /// Those that have both figures.
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 860.0;
const TOP: f64 = 72.0;
const GAP: f64 = 16.0;

impl Slope {
    /// Drawn. Figures that are not positive have no share and are left out.
    pub fn svg(&self) -> String {
        let is_drawn =
            |line: &&Line| [line.published, line.measured].iter().all(|v| v.is_finite() && *v > 0.0);
        let lines: Vec<&Line> = self.lines.iter().filter(is_drawn).collect();
        let tall = (GAP * lines.len() as f64).max(300.0);
        let (top, bottom) = (TOP + 8.0, TOP + tall);
        let mut canvas = Canvas::new(WIDTH, bottom + 40.0);
        canvas.text((12.0, 16.0), Anchor::Start, WIDTH - 24.0, "ink bold", &self.caption.title);
        let shares = |figure: fn(&Line) -> f64| -> Vec<f64> {
            let most = lines.iter().map(|line| figure(line)).fold(0.0, f64::max);
            lines.iter().map(|line| figure(line) / most).collect()
        };
        let (then, now) = (shares(|l| l.published), shares(|l| l.measured));
        let scale = Scale::log(then.iter().chain(&now).copied(), bottom, top);
        let (left, right) = (310.0, WIDTH - 310.0);
        for (x, anchor, words) in [(left, Anchor::End, "published"), (right, Anchor::Start, "measured here")]
        {
            canvas.line((x, top), (x, bottom), "axis", "");
            canvas.text((x, TOP - 16.0), anchor, 260.0, "ink bold", words);
        }
        let at = |shares: &[f64]| shares.iter().map(|share| scale.at(*share)).collect::<Vec<_>>();
        let (from, to) = (at(&then), at(&now));
        side(&mut canvas, &lines, &from, (left, Anchor::End), |l| l.published, (top, bottom));
        side(&mut canvas, &lines, &to, (right, Anchor::Start), |l| l.measured, (top, bottom));
        for (i, line) in lines.iter().enumerate() {
            let hue = HUES[i % HUES.len()];
            canvas.path(&[(left, from[i]), (right, to[i])], "curve", &format!("stroke:{hue}"));
            for (x, y) in [(left, from[i]), (right, to[i])] {
                canvas.disc((x, y), 3.0, "", &format!("fill:{hue}"), &line.label);
            }
        }
        let foot = "height: the share of the fastest, logarithmic";
        canvas.text((WIDTH / 2.0, bottom + 22.0), Anchor::Middle, WIDTH - 24.0, "faint", foot);
        canvas.svg(&self.caption)
    }
}

/// The labels of one side, moved apart, each with a line to its point.
fn side(
    canvas: &mut Canvas,
    lines: &[&Line],
    places: &[f64],
    (x, anchor): (f64, Anchor),
    figure: fn(&Line) -> f64,
    (top, bottom): (f64, f64),
) {
    let out = if anchor == Anchor::End { -1.0 } else { 1.0 };
    for ((line, place), y) in lines.iter().zip(places).zip(labels::apart(places, GAP, top, bottom)) {
        canvas.line((x + out * 5.0, *place), (x + out * 22.0, y), "leader", "");
        let rate = units::rate(figure(line));
        let room = 270.0 - length(&format!("  {rate}"));
        let name = super::canvas::cut(&line.label, room);
        let text = if anchor == Anchor::End { format!("{name}  {rate}") } else { format!("{rate}  {name}") };
        canvas.text((x + out * 26.0, y), anchor, 276.0, "ink", &text);
    }
}
