//! The ranking of a cell: a dot with its interval for every contender, tiers as bands, the reference as a line, the noise
//! floor as a strip around the first.

use super::canvas::{Anchor, length};
use super::{Canvas, Caption, Point, Scale};
use crate::units;
use model::findings::{CellFindings, ContenderFindings};
use model::study::REFERENCE;

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is called.
    pub label: String,
    /// Its figure; none: nothing is known.
    pub point: Option<Point>,
    /// The client was the bound: the figure is a floor.
    pub is_floor: bool,
    /// Contenders of one tier can't be told from its fastest.
    pub tier: Option<usize>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Its words.
    pub caption: Caption,
    /// What the axis shows, with its unit.
    pub axis: String,
    /// From the best to the worst.
    pub rows: Vec<Row>,
    /// What the machine does at best.
    pub ceiling: Option<f64>,
    /// What separates equals in this run, as a ratio less one.
    pub noise_floor: Option<f64>,
}

const WIDTH: f64 = 860.0;
const ROW: f64 = 24.0;
const TOP: f64 = 62.0;
const FOOT: f64 = 44.0;
/// The most that labels take, and the column of figures.
const LABELS: f64 = 230.0;
const FIGURES: f64 = 96.0;

/// The chart of a cell's rates.
pub fn of_cell(cell: &CellFindings) -> Ranked {
    let row = |c: &ContenderFindings| Row {
        label: c.title.clone(),
        point: c.rate_per_s.and_then(Point::of),
        is_floor: c.is_held_back(),
        tier: c.tier,
    };
    let reference = cell.contenders.iter().find(|c| c.name == REFERENCE);
    Ranked {
        caption: Caption { title: cell.title.clone(), finding: finding(cell) },
        axis: "answers per second".to_owned(),
        rows: cell.contenders.iter().map(row).collect(),
        ceiling: reference.and_then(|c| Some(c.rate_per_s?.median)),
        noise_floor: cell.noise_floor,
    }
}

/// What the chart says, in words.
fn finding(cell: &CellFindings) -> String {
    let mut others = cell.contenders.iter().filter(|c| c.name != REFERENCE && c.rate_per_s.is_some());
    let Some((first, rate)) = others.next().and_then(|c| Some((c, c.rate_per_s?.median))) else {
        return "No contender has a figure that may be believed".to_owned();
    };
    let floor = if first.is_held_back() { "at least " } else { "" };
    let lead = format!("{} answers {floor}{} requests per second", first.title, units::rate(rate));
    let alike: Vec<&str> = cell
        .contenders
        .iter()
        .filter(|c| c.name != REFERENCE && c.name != first.name && c.tier == first.tier && c.tier.is_some())
        .map(|c| c.title.as_str())
        .collect();
    let alike =
        if alike.is_empty() { String::new() } else { format!("; not surely slower: {}", alike.join(", ")) };
    let last = others.next_back().and_then(|c| Some((c, c.rate_per_s?.median)));
    let last = last.map_or(String::new(), |(c, slowest)| {
        format!(
            "; the slowest, {}, {} ({} of the first)",
            c.title,
            units::rate(slowest),
            units::ratio(slowest / rate)
        )
    });
    format!("{lead}{alike}{last}")
}

impl Ranked {
    /// Drawn.
    pub fn svg(&self) -> String {
        let height = TOP + ROW * self.rows.len().max(1) as f64 + FOOT;
        let bottom = height - FOOT;
        let labels = self.rows.iter().map(|row| length(&row.label)).fold(60.0, f64::max).min(LABELS);
        let (left, right) = (44.0 + labels, WIDTH - FIGURES - 12.0);
        let values = self.rows.iter().filter_map(|row| row.point).flat_map(|p| p.all().collect::<Vec<_>>());
        let values: Vec<f64> = values.chain(self.ceiling).collect();
        let scale = Scale::for_sizes(values.iter().copied(), left, right);
        let mut canvas = Canvas::new(WIDTH, height);
        canvas.text((12.0, 16.0), Anchor::Start, WIDTH - 24.0, "ink bold", &self.caption.title);
        self.bands(&mut canvas);
        self.axis(&mut canvas, &scale, (left, right), bottom);
        self.lines(&mut canvas, &scale, right, bottom);
        for (i, row) in self.rows.iter().enumerate() {
            draw_row(&mut canvas, &scale, (left, right), i, row);
        }
        canvas.svg(&self.caption)
    }

    /// A band for every other tier, with the tier's number beside its first.
    fn bands(&self, canvas: &mut Canvas) {
        let mut before = None;
        for (i, row) in self.rows.iter().enumerate() {
            let y = TOP + ROW * i as f64;
            if row.tier.is_some_and(|tier| tier % 2 == 1) {
                canvas.rect((8.0, y), (WIDTH - 16.0, ROW), "band", "");
            }
            if let Some(tier) = row.tier.filter(|_| row.tier != before) {
                canvas.text((22.0, y + ROW / 2.0), Anchor::Middle, 24.0, "faint", &tier.to_string());
            }
            before = row.tier;
        }
        if self.rows.iter().any(|row| row.tier.is_some()) {
            canvas.text((12.0, TOP - 12.0), Anchor::Start, 40.0, "faint", "tier");
        }
    }

    fn axis(&self, canvas: &mut Canvas, scale: &Scale, (left, right): (f64, f64), bottom: f64) {
        for tick in scale.ticks(|v| length(&tick_text(v))) {
            let x = scale.at(tick);
            canvas.line((x, TOP), (x, bottom), "rule", "");
            canvas.text((x, bottom + 12.0), Anchor::Middle, 90.0, "faint", &tick_text(tick));
        }
        canvas.line((left, bottom), (right, bottom), "axis", "");
        let axis = if scale.is_log() { format!("{} (logarithmic)", self.axis) } else { self.axis.clone() };
        canvas.text((f64::midpoint(left, right), bottom + 31.0), Anchor::Middle, right - left, "ink", &axis);
    }

    /// The noise floor around the first, and the ceiling.
    fn lines(&self, canvas: &mut Canvas, scale: &Scale, right: f64, bottom: f64) {
        // A floor says nothing of what is near to it.
        let first = self.rows.iter().filter(|row| !row.is_floor).find_map(|row| row.point);
        if let Some((first, floor)) = first.zip(self.noise_floor.filter(|floor| floor.is_finite())) {
            let (low, high) = (scale.at(first.value / (1.0 + floor)), scale.at(first.value * (1.0 + floor)));
            canvas.rect((low, TOP), ((high - low).max(1.0), bottom - TOP), "strip", "");
        }
        if let Some(ceiling) = self.ceiling {
            let x = scale.at(ceiling);
            canvas.line((x, TOP - 6.0), (x, bottom), "ceiling", "");
        }
        let floor = self.noise_floor.map(|floor| format!("strip: noise floor {}", units::percent(floor)));
        let ceiling = self.ceiling.map(|_| "dashes: the reference".to_owned());
        let legend: Vec<String> = floor.into_iter().chain(ceiling).collect();
        canvas.text((right, TOP - 26.0), Anchor::End, right - 60.0, "faint", &legend.join(" · "));
    }
}

fn draw_row(canvas: &mut Canvas, scale: &Scale, (left, right): (f64, f64), i: usize, row: &Row) {
    let y = TOP + ROW * (i as f64 + 0.5);
    canvas.text((left - 10.0, y), Anchor::End, left - 48.0, "ink", &row.label);
    let Some(point) = row.point else {
        canvas.text((right + 10.0, y), Anchor::Start, FIGURES, "faint", units::UNKNOWN);
        return;
    };
    if let Some((low, high)) = point.interval {
        canvas.line((scale.at(low), y), (scale.at(high), y), "whisker", "");
    }
    let shown = format!("{}{}", if row.is_floor { "≥ " } else { "" }, units::rate(point.value));
    let class = if row.is_floor { "hollow" } else { "dot" };
    let bounds = point.interval.map_or("no interval".to_owned(), |(low, high)| {
        format!("95 %: {} to {}", units::rate(low), units::rate(high))
    });
    canvas.disc((scale.at(point.value), y), 4.5, class, "", &format!("{}: {shown}, {bounds}", row.label));
    canvas.text((right + 10.0, y), Anchor::Start, FIGURES, "ink", &shown);
}

fn tick_text(value: f64) -> String {
    match value {
        v if v >= 1.0 => units::count(v.round() as u64),
        0.0 => "0".to_owned(),
        v => format!("{v}"),
    }
}
