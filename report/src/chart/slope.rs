//! Published against measured figures: each contender as a share of the best one, then and now.

use super::canvas::{Anchor, MARGIN, head_height, length};
use super::unit::Unit;
use super::{Canvas, Caption, Scale, labels};
use crate::published::{self, Kind};
use model::findings::CellFindings;
use model::{Findings, Metric};

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub label: String,
    /// The published figure.
    pub published: f64,
    /// The measured figure.
    pub measured: f64,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// The title and the finding.
    pub caption: Caption,
    /// The unit of the figures: for times lower is better, otherwise higher.
    pub unit: Unit,
    /// The contenders that have both figures.
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 860.0;
const ABOVE: f64 = 44.0;
const HEIGHT: f64 = 300.0;
const GAP: f64 = 16.0;
/// The distance of the two axes from the sides.
const SIDE: f64 = 310.0;

/// The chart of the figure by which a cell and its page are ranked; without lines if there is no such figure.
pub fn of_cell(f: &Findings, cell: &CellFindings) -> Slope {
    let ranked = published::comparisons(f, cell).into_iter().find(published::Comparison::is_ranked);
    let kind = ranked.as_ref().map_or(Kind::Rate, |one| one.kind);
    let line = |row: published::Compared<'_>| Line {
        label: row.title.to_owned(),
        published: row.published,
        measured: row.measured,
    };
    let rows = ranked.into_iter().flat_map(|one| one.rows);
    let lines: Vec<Line> = rows.map(line).filter(is_drawn).collect();
    let unit = if kind == Kind::LatencyMean { Unit::Time } else { Unit::Rate };
    let title = format!("{}{}: published and measured", cell.title, kind.words());
    // A leader leads only in the metric that ranks the contenders.
    let leader = f.leader(cell).filter(|_| kind == Kind::Rate && cell.metric == Metric::Rate);
    let among = if f.has_unranked(cell) { ", of those with a rank" } else { "" };
    let leader = leader.map(|c| (c.title.as_str(), among));
    Slope { caption: Caption::new(title, finding(&lines, unit, leader)), unit, lines }
}

/// A value for which higher is better, whatever the unit.
fn merit(unit: Unit, figure: f64) -> f64 {
    if unit == Unit::Time { 1.0 / figure } else { figure }
}

/// Whether both figures are positive; others have no share.
fn is_drawn(line: &Line) -> bool {
    [line.published, line.measured].iter().all(|v| v.is_normal() && *v > 0.0)
}

/// The finding in words. `leader`: the contender that certainly leads here, if any, and of which others.
fn finding(lines: &[Line], unit: Unit, leader: Option<(&str, &str)>) -> String {
    let most =
        |of: fn(&Line) -> f64| lines.iter().max_by(|a, b| merit(unit, of(a)).total_cmp(&merit(unit, of(b))));
    let (Some(then), Some(now)) = (most(|l| l.published), most(|l| l.measured)) else {
        return "No contender has both figures.".to_owned();
    };
    let lead = match leader {
        Some((leader, among)) if leader == then.label => {
            format!("{leader} was the best on the page and leads here{among}")
        }
        Some((leader, among)) => {
            format!("{} was the best on the page, {leader} leads here{among}", then.label)
        }
        None => format!(
            "{} was the best on the page; here there is no clear leader, {} has the best figure",
            then.label, now.label
        ),
    };
    let pairs: Vec<(f64, f64)> = lines.iter().map(|line| (line.published, line.measured)).collect();
    format!("{lead}. {}", published::words(&pairs))
}

/// The rank: one more than the number of better ones.
fn rank(lines: &[&Line], unit: Unit, of: fn(&Line) -> f64, own: &Line) -> usize {
    1 + lines.iter().filter(|line| merit(unit, of(line)) > merit(unit, of(own))).count()
}

impl Slope {
    /// The chart as SVG, without figures that are not positive.
    pub fn svg(&self) -> String {
        let lines: Vec<&Line> = self.lines.iter().filter(|line| is_drawn(line)).collect();
        let top = head_height(&self.caption, WIDTH) + ABOVE;
        let bottom = top + HEIGHT.max(GAP * lines.len() as f64);
        let mut canvas = Canvas::new(WIDTH, bottom + 40.0);
        canvas.head(&self.caption);
        let shares = |figure: fn(&Line) -> f64| -> Vec<f64> {
            let merits: Vec<f64> = lines.iter().map(|line| merit(self.unit, figure(line))).collect();
            let most = merits.iter().copied().fold(0.0, f64::max);
            merits.into_iter().map(|own| own / most).collect()
        };
        let (then, now) = (shares(|l| l.published), shares(|l| l.measured));
        let scale = Scale::log(then.iter().chain(&now).copied(), bottom, top);
        let (left, right) = (SIDE, WIDTH - SIDE);
        let sides = [(left, Anchor::End, "published"), (right, Anchor::Start, "measured here")];
        for (x, anchor, words) in sides {
            canvas.line((x, top - 8.0), (x, bottom + 4.0), "axis");
            canvas.text(
                (x, top - 22.0),
                anchor,
                SIDE - MARGIN,
                "ink bold",
                &format!("{words}{}", self.per()),
            );
        }
        let at = |shares: &[f64]| shares.iter().map(|share| scale.at(*share)).collect::<Vec<_>>();
        let (from, to) = (at(&then), at(&now));
        let label = |figure: fn(&Line) -> f64| {
            lines.iter().map(|line| (line.label.as_str(), self.unit.shown(figure(line)))).collect::<Vec<_>>()
        };
        side(&mut canvas, &label(|l| l.published), &from, (left, Anchor::End), (top, bottom));
        side(&mut canvas, &label(|l| l.measured), &to, (right, Anchor::Start), (top, bottom));
        for (i, line) in lines.iter().enumerate() {
            let place = |of: fn(&Line) -> f64| rank(&lines, self.unit, of, line);
            let (before, after) = (place(|l| l.published), place(|l| l.measured));
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
        let foot = "height: the share of the best, logarithmic · blue: a better rank now · orange dashes: a worse one";
        canvas.text((WIDTH / 2.0, bottom + 24.0), Anchor::Middle, WIDTH - 2.0 * MARGIN, "faint", foot);
        canvas.svg(&self.caption)
    }

    /// The unit that follows the title of a side.
    fn per(&self) -> &'static str {
        if self.unit == Unit::Rate { ", requests/s" } else { "" }
    }
}

/// Draws the labels of one side, moved apart, each with a line to its point.
fn side(
    canvas: &mut Canvas,
    labelled: &[(&str, String)],
    places: &[f64],
    (x, anchor): (f64, Anchor),
    (top, bottom): (f64, f64),
) {
    let out = if anchor == Anchor::End { -1.0 } else { 1.0 };
    // Figures have a column of their own.
    let figures = labelled.iter().map(|(_, figure)| length(figure)).fold(0.0, f64::max);
    let end = if anchor == Anchor::End { x - 26.0 } else { x + 26.0 + figures };
    let beside = x + out * (26.0 + figures + 10.0);
    let room = SIDE - 36.0 - figures - MARGIN;
    for (((name, figure), place), y) in
        labelled.iter().zip(places).zip(labels::apart(places, GAP, top, bottom))
    {
        canvas.line((x + out * 5.0, *place), (x + out * 22.0, y), "leader");
        canvas.text((end, y), Anchor::End, figures, "faint", figure);
        canvas.text((beside, y), anchor, room, "ink", name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_leads_where_nothing_is_decided() {
        let line = |label: &str, published, measured| Line { label: label.to_owned(), published, measured };
        let lines = [line("a", 100.0, 50.0), line("b", 90.0, 51.0)];
        let found = |leader| finding(&lines, Unit::Rate, leader);
        let same = found(Some(("a", "")));
        assert!(same.starts_with("a was the best on the page and leads here. "), "{same}");
        let other = found(Some(("b", ", of those with a rank")));
        assert!(
            other.starts_with("a was the best on the page, b leads here, of those with a rank. "),
            "{other}"
        );
        let open = found(None);
        assert!(open.contains("here there is no clear leader, b has the best figure"), "{open}");
        assert_eq!(finding(&[], Unit::Rate, None), "No contender has both figures.");
    }
}
