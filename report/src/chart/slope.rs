//! What a page published beside what this machine measured: each contender as a share of the fastest, then and now.

use super::canvas::{Anchor, MARGIN, head_height, length};
use super::{Canvas, Caption, Scale, labels};
use crate::{page, units};
use model::findings::CellFindings;

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
const ABOVE: f64 = 44.0;
const HEIGHT: f64 = 300.0;
const GAP: f64 = 16.0;
/// The two axes are so far from the sides.
const SIDE: f64 = 310.0;

/// A cell's figures beside those of the page.
pub fn of_cell(cell: &CellFindings) -> Slope {
    let both = cell.contenders.iter().filter_map(|c| {
        let (published, measured) = (c.published?, c.rate_per_s?.median);
        Some(Line { label: c.title.clone(), published, measured })
    });
    let lines: Vec<Line> = both.filter(is_drawn).collect();
    let caption = Caption::new(format!("{}: published and measured", cell.title), finding(&lines));
    Slope { caption, lines }
}

/// Figures that are not positive have no share.
fn is_drawn(line: &Line) -> bool {
    [line.published, line.measured].iter().all(|v| v.is_finite() && *v > 0.0)
}

fn finding(lines: &[Line]) -> String {
    let most = |of: fn(&Line) -> f64| lines.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
    let (Some(then), Some(now)) = (most(|l| l.published), most(|l| l.measured)) else {
        return "No contender has both figures.".to_owned();
    };
    let lead = if then.label == now.label {
        format!("{} led then and leads now", then.label)
    } else {
        format!("{} led then, {} leads now", then.label, now.label)
    };
    let pairs: Vec<(f64, f64)> = lines.iter().map(|line| (line.published, line.measured)).collect();
    format!("{lead}. {}", page::words(&pairs).trim_end())
}

/// One more than there are larger ones.
fn rank(lines: &[&Line], of: fn(&Line) -> f64, own: &Line) -> usize {
    1 + lines.iter().filter(|line| of(line) > of(own)).count()
}

impl Slope {
    /// Drawn. Figures that are not positive are left out.
    pub fn svg(&self) -> String {
        let lines: Vec<&Line> = self.lines.iter().filter(|line| is_drawn(line)).collect();
        let top = head_height(&self.caption, WIDTH) + ABOVE;
        let bottom = top + HEIGHT.max(GAP * lines.len() as f64);
        let mut canvas = Canvas::new(WIDTH, bottom + 40.0);
        canvas.head(&self.caption);
        let shares = |figure: fn(&Line) -> f64| -> Vec<f64> {
            let most = lines.iter().map(|line| figure(line)).fold(0.0, f64::max);
            lines.iter().map(|line| figure(line) / most).collect()
        };
        let (then, now) = (shares(|l| l.published), shares(|l| l.measured));
        let scale = Scale::log(then.iter().chain(&now).copied(), bottom, top);
        let (left, right) = (SIDE, WIDTH - SIDE);
        let sides = [(left, Anchor::End, "published"), (right, Anchor::Start, "measured here")];
        for (x, anchor, words) in sides {
            canvas.line((x, top - 8.0), (x, bottom + 4.0), "axis");
            canvas.text((x, top - 22.0), anchor, SIDE - MARGIN, "ink bold", &format!("{words}, /s"));
        }
        let at = |shares: &[f64]| shares.iter().map(|share| scale.at(*share)).collect::<Vec<_>>();
        let (from, to) = (at(&then), at(&now));
        side(&mut canvas, &lines, &from, (left, Anchor::End), |l| l.published, (top, bottom));
        side(&mut canvas, &lines, &to, (right, Anchor::Start), |l| l.measured, (top, bottom));
        for (i, line) in lines.iter().enumerate() {
            let (before, after) = (rank(&lines, |l| l.published, line), rank(&lines, |l| l.measured, line));
            let (stroke, fill) = match after.cmp(&before) {
                std::cmp::Ordering::Less => ("s0", "f0"),
                std::cmp::Ordering::Greater => ("s1 long", "f1"),
                std::cmp::Ordering::Equal => ("rest", "frest"),
            };
            let hover = format!("{}: rank {before} then, {after} now", line.label);
            canvas.path(&[(left, from[i]), (right, to[i])], &format!("curve {stroke}"), &hover);
            for (x, y) in [(left, from[i]), (right, to[i])] {
                canvas.disc((x, y), 3.0, fill, &hover);
            }
        }
        let foot = "height: the share of the fastest, logarithmic · blue: a better rank now · orange dashes: a worse one";
        canvas.text((WIDTH / 2.0, bottom + 24.0), Anchor::Middle, WIDTH - 2.0 * MARGIN, "faint", foot);
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
    // Figures stand in a column of their own.
    let figures = lines.iter().map(|line| length(&units::rate(figure(line)))).fold(0.0, f64::max);
    let end = if anchor == Anchor::End { x - 26.0 } else { x + 26.0 + figures };
    let beside = x + out * (26.0 + figures + 10.0);
    let room = SIDE - 36.0 - figures - MARGIN;
    for ((line, place), y) in lines.iter().zip(places).zip(labels::apart(places, GAP, top, bottom)) {
        canvas.line((x + out * 5.0, *place), (x + out * 22.0, y), "leader");
        canvas.text((end, y), Anchor::End, figures, "faint", &units::rate(figure(line)));
        canvas.text((beside, y), anchor, room, "ink", &line.label);
    }
}
