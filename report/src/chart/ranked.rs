//! The ranking of a cell: a dot with its interval for every contender, bands for tiers, a line for the reference, and a strip
//! around the first contender for the noise floor.

use super::canvas::{Anchor, MARGIN, head_height, length};
use super::{Canvas, Caption, Point, Scale, Unit, axes, unit};
use crate::figures::ShareBound;
use crate::units;
use model::Metric;
use model::findings::{CellFindings, ContenderFindings, Findings};
use model::study::REFERENCE;

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// Its figure; `None` if it is unknown.
    pub point: Option<Point>,
    /// Whether the load generator was the limit, so that the figure is a lower bound.
    pub is_floor: bool,
    /// The tier; its contenders cannot be distinguished from its fastest one.
    pub tier: Option<usize>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The title and the finding.
    pub caption: Caption,
    /// The title of the axis, with its unit.
    pub axis: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The contenders, from the best to the worst.
    pub rows: Vec<Row>,
    /// The reference's figure: what the machine can do at best.
    pub ceiling: Option<f64>,
    /// The noise floor of the run: a ratio minus one.
    pub noise_floor: Option<f64>,
}

const WIDTH: f64 = 860.0;
const ROW: f64 = 24.0;
/// The room above the rows, for the labels of the strip and of the line.
const ABOVE: f64 = 40.0;
const FOOT: f64 = 44.0;
/// The largest width of the labels, and the width of the column of figures.
const LABELS: f64 = 230.0;
const FIGURES: f64 = 96.0;

/// The chart of a cell, by the metric that ranks it.
pub fn of_cell(f: &Findings, cell: &CellFindings) -> Ranked {
    let is_rate = cell.metric == Metric::Rate;
    let row = |c: &ContenderFindings| Row {
        label: label(c),
        point: figure(cell, c).and_then(Point::of),
        is_floor: is_rate && c.is_held_back(),
        tier: c.tier,
    };
    let reference = cell.contenders.iter().find(|c| c.name == REFERENCE);
    let axis = unit::axis(cell.metric);
    Ranked {
        caption: Caption::new(format!("{}: {axis}", cell.title), finding(f, cell)),
        axis,
        unit: Unit::of(cell.metric),
        rows: cell.contenders.iter().map(row).collect(),
        ceiling: reference.and_then(|c| Some(figure(cell, c)?.median)),
        noise_floor: noise_floor(cell),
    }
}

/// The noise floor for the first contender whose figure is not a lower bound: that of its class.
fn noise_floor(cell: &CellFindings) -> Option<f64> {
    let is_floor = |c: &ContenderFindings| cell.metric == Metric::Rate && c.is_held_back();
    let first = cell.contenders.iter().find(|c| !is_floor(c) && figure(cell, c).is_some());
    let class = first.and_then(|c| c.in_heats.class);
    let of_class = cell.in_heats.noise_floors.iter().find(|floor| Some(floor.class) == class);
    of_class.map(|floor| floor.noise_floor).or(cell.noise_floor)
}

/// The label of a contender; in a race its letter and its command.
pub fn label(c: &ContenderFindings) -> String {
    let is_letter = c.name.len() == 1 && c.title.len() > 1;
    if is_letter { format!("{}: {}", c.name, c.title) } else { c.title.clone() }
}

/// The figure that ranks the cell; findings of older versions have only the rate.
fn figure(cell: &CellFindings, c: &ContenderFindings) -> Option<model::findings::Figure> {
    c.metric.or(c.rate_per_s.filter(|_| cell.metric == Metric::Rate))
}

/// The finding of the chart, in words.
fn finding(f: &Findings, cell: &CellFindings) -> String {
    let shown = |value: f64| match cell.metric {
        Metric::Rate => units::requests_per_s(value),
        metric => Unit::of(metric).shown(value),
    };
    let known = |c: &'_ ContenderFindings| Some(figure(cell, c)?.median);
    let mut others =
        cell.contenders.iter().filter(|c| c.name != REFERENCE).filter_map(|c| Some((c, known(c)?)));
    let Some((first, best)) = others.next() else {
        return "No contender has a valid figure.".to_owned();
    };
    let is_floor = |c: &ContenderFindings| cell.metric == Metric::Rate && c.is_held_back();
    let floor = if is_floor(first) { "at least " } else { "" };
    let alike = cell
        .contenders
        .iter()
        .filter(|c| c.name != REFERENCE && c.name != first.name && c.tier == first.tier && c.tier.is_some());
    let alike: Vec<&str> = alike.map(|c| c.title.as_str()).collect();
    let alike = if alike.is_empty() {
        String::new()
    } else {
        format!("; no significant difference from {}", units::listed_up_to(&alike, 4))
    };
    let last = others.next_back().map_or(String::new(), |(c, worst)| {
        let share = ShareBound::of(is_floor(c), is_floor(first)).map_or(String::new(), |bound| {
            format!(" ({}{} of the first)", bound.words(), units::ratio(worst / best))
        });
        format!("; last is {}, {}{share}", c.title, shown(worst))
    });
    let figure = format!("{floor}{}", shown(best));
    if f.leader(cell).is_some_and(|leader| leader.name == first.name) {
        let among = if f.has_unranked(cell) { "Of those with a rank, " } else { "" };
        return format!("{among}{} leads with {figure}{alike}{last}.", first.title);
    }
    format!("There is no clear leader. {} has the best figure, {figure}{alike}{last}.", first.title)
}

/// The positions of the parts of the chart.
struct Places {
    scale: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Ranked {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let top = head_height(&self.caption, WIDTH) + ABOVE;
        let bottom = top + ROW * self.rows.len().max(1) as f64;
        let labels = self.rows.iter().map(|row| length(&row.label)).fold(60.0, f64::max).min(LABELS);
        let (left, right) = (48.0 + labels, WIDTH - FIGURES - MARGIN);
        let values = self.rows.iter().filter_map(|row| row.point).flat_map(|p| p.all());
        let values: Vec<f64> = values.chain(self.ceiling).collect();
        let scale = Scale::for_sizes(values.iter().copied(), left, right);
        let places = Places { scale, left, right, top, bottom };
        let mut canvas = Canvas::new(WIDTH, bottom + FOOT);
        canvas.head(&self.caption);
        self.bands(&mut canvas, top);
        self.axis(&mut canvas, &places);
        self.lines(&mut canvas, &places);
        for (i, row) in self.rows.iter().enumerate() {
            self.row(&mut canvas, &places, i, row);
        }
        canvas.svg(&self.caption)
    }

    /// Draws a band for every second tier, and the number of each tier beside its first contender.
    fn bands(&self, canvas: &mut Canvas, top: f64) {
        let mut before = None;
        for (i, row) in self.rows.iter().enumerate() {
            let y = top + ROW * i as f64;
            if row.tier.is_some_and(|tier| tier % 2 == 1) {
                canvas.rect((MARGIN - 6.0, y), (WIDTH - 2.0 * MARGIN + 12.0, ROW), "band", 1.0);
            }
            if let Some(tier) = row.tier.filter(|tier| before != Some(*tier)) {
                canvas.text((MARGIN, y + ROW / 2.0), Anchor::Start, 24.0, "faint", &tier.to_string());
            }
            before = row.tier;
        }
        if self.rows.iter().any(|row| row.tier.is_some()) {
            canvas.text((MARGIN, top - 10.0), Anchor::Start, 40.0, "faint", "tier");
        }
    }

    fn axis(&self, canvas: &mut Canvas, Places { scale, left, right, top, bottom }: &Places) {
        axes::ticks_below(canvas, scale, self.unit, 0.0, &[(*top, *bottom)]);
        canvas.line((*left, *bottom), (*right, *bottom), "axis");
        axes::title_below(canvas, scale, (*left, *right), *bottom, &self.axis);
    }

    /// Draws the noise floor as a strip around the first contender's value, and the reference as a line; each is named above.
    fn lines(&self, canvas: &mut Canvas, Places { scale, left, right, top, bottom }: &Places) {
        // A noise floor around a lower bound would mean nothing.
        let first = self.rows.iter().filter(|row| !row.is_floor).find_map(|row| row.point);
        let name = |canvas: &mut Canvas, x: f64, y: f64, words: &str| {
            let half = length(words) / 2.0;
            let x = x.min(right + FIGURES - half).max(left + half);
            canvas.text((x, y), Anchor::Middle, right - left, "faint", words);
        };
        if let Some((first, floor)) = first.zip(self.noise_floor.filter(|f| f.is_finite() && *f >= 0.0)) {
            let (low, high) = (scale.at(first.value / (1.0 + floor)), scale.at(first.value * (1.0 + floor)));
            canvas.rect((low, top - 18.0), ((high - low).max(1.0), bottom - top + 18.0), "strip", 1.0);
            let sign = if floor < 1.0 { "±" } else { "" };
            let words = format!("noise floor {sign}{}", units::noise_floor(floor));
            name(canvas, f64::midpoint(low, high), top - 27.0, &words);
        }
        if let Some(ceiling) = self.ceiling.filter(|c| c.is_finite() && *c > 0.0) {
            let x = scale.at(ceiling);
            canvas.line((x, top - 3.0), (x, *bottom), "ceiling");
            name(canvas, x, top - 10.0, "reference");
        }
    }

    fn row(&self, canvas: &mut Canvas, places: &Places, i: usize, row: &Row) {
        let Places { scale, left, right, top, .. } = places;
        let y = top + ROW * (i as f64 + 0.5);
        canvas.text((left - 10.0, y), Anchor::End, left - 48.0, "ink", &row.label);
        let Some(point) = row.point else {
            canvas.text((right + 10.0, y), Anchor::Start, FIGURES, "faint", units::UNKNOWN);
            return;
        };
        if let Some((low, high)) = point.interval {
            canvas.line((scale.at(low), y), (scale.at(high), y), "whisker");
        }
        let shown = format!("{}{}", if row.is_floor { "≥ " } else { "" }, self.unit.shown(point.value));
        let class = if row.is_floor { "hollow" } else { "dot" };
        let bounds = point.interval.map_or("no interval".to_owned(), |(low, high)| {
            format!("95 %: {} to {}", self.unit.shown(low), self.unit.shown(high))
        });
        let hover = format!("{}: {shown}, {bounds}", row.label);
        canvas.disc((scale.at(point.value), y), 4.5, class, &hover);
        canvas.text((right + 10.0, y), Anchor::Start, FIGURES, "ink", &shown);
    }
}
