//! Contenders × workloads: each cell a ratio, hatched where its interval has 1 in it.

use super::canvas::{Anchor, length};
use super::{Canvas, Caption, Point};
use crate::units;

/// The whole chart: `ratios[row][column]`, none where nothing is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Its words.
    pub caption: Caption,
    /// Contenders.
    pub rows: Vec<String>,
    /// Workloads.
    pub columns: Vec<String>,
    /// Each contender's ratio to the base, for each workload.
    pub ratios: Vec<Vec<Option<Point>>>,
}

const CELL: (f64, f64) = (92.0, 24.0);
const TOP: f64 = 62.0;
const LABELS: f64 = 230.0;

/// Ratios so far from 1 have the strongest colour.
const STRONGEST: f64 = 4.0;

impl Heat {
    /// Drawn.
    pub fn svg(&self) -> String {
        let labels = self.rows.iter().map(|row| length(row)).fold(60.0, f64::max).min(LABELS);
        let left = labels + 24.0;
        let width = (left + CELL.0 * self.columns.len() as f64 + 12.0).max(480.0);
        let mut canvas = Canvas::new(width, TOP + CELL.1 * self.rows.len() as f64 + 36.0);
        canvas.text((12.0, 16.0), Anchor::Start, width - 24.0, "ink bold", &self.caption.title);
        for (j, column) in self.columns.iter().enumerate() {
            let x = left + CELL.0 * (j as f64 + 0.5);
            canvas.text((x, TOP - 14.0), Anchor::Middle, CELL.0 - 8.0, "ink", column);
        }
        for (i, row) in self.rows.iter().enumerate() {
            let y = TOP + CELL.1 * i as f64;
            canvas.text((left - 10.0, y + CELL.1 / 2.0), Anchor::End, left - 22.0, "ink", row);
            for (j, _) in self.columns.iter().enumerate() {
                let ratio = self.ratios.get(i).and_then(|row| row.get(j)).copied().flatten();
                cell(&mut canvas, (left + CELL.0 * j as f64, y), ratio);
            }
        }
        let foot = TOP + CELL.1 * self.rows.len() as f64 + 18.0;
        let key = "blue: above 1 · orange: below 1 · hatched: not surely either";
        canvas.text((12.0, foot), Anchor::Start, width - 24.0, "faint", key);
        canvas.svg(&self.caption)
    }
}

fn cell(canvas: &mut Canvas, (x, y): (f64, f64), ratio: Option<Point>) {
    let (place, size) = ((x + 1.0, y + 1.0), (CELL.0 - 2.0, CELL.1 - 2.0));
    let middle = (x + CELL.0 / 2.0, y + CELL.1 / 2.0);
    let Some(point) = ratio.filter(|p| p.value > 0.0) else {
        canvas.rect(place, size, "band", "");
        canvas.text(middle, Anchor::Middle, CELL.0 - 8.0, "faint", units::UNKNOWN);
        return;
    };
    let hue = if point.value >= 1.0 { "#0072b2" } else { "#d55e00" };
    let share = (point.value.ln().abs() / STRONGEST.ln()).clamp(0.0, 1.0);
    canvas.rect(place, size, "", &format!("fill:{hue};fill-opacity:{:.2}", 0.06 + 0.4 * share));
    if point.interval.is_none_or(|(low, high)| low <= 1.0 && 1.0 <= high) {
        canvas.rect(place, size, "hatch", "");
    }
    canvas.text(middle, Anchor::Middle, CELL.0 - 8.0, "ink", &units::ratio(point.value));
}
