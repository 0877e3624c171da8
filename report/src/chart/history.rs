//! A cell over time: the reference's own speed as a thin line, and below it each contender's ratio to the hub of the same run, with its
//! interval. A step of a contender is a solid line with its size. A step of the machine or of drome is a dashed
//! line through all panels, because it belongs to no contender.

use super::canvas::{Anchor, MARGIN, head_height, length};
use super::{Canvas, Caption, Point, Scale, Unit};
use crate::{steps, units};
use model::Metric;
use model::history::{Cause, CellHistory, ContenderHistory, Step};

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The index of the first run after the step.
    pub at: usize,
    /// The size of the step, in words.
    pub words: String,
    /// Whether it is the contender's own; otherwise it is the machine's, drome's or that of most contenders.
    pub is_own: bool,
}

/// One contender or the reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its name.
    pub label: String,
    /// Whether it is the reference.
    pub is_reference: bool,
    /// The unit of its values.
    pub unit: Unit,
    /// What the values are: `requests/s`, or what they are a share of.
    pub quantity: &'static str,
    /// One point per run; `None` if the run has none.
    pub points: Vec<Option<Point>>,
    /// The steps, in order of time.
    pub steps: Vec<Mark>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The title and the finding.
    pub caption: Caption,
    /// The day of each run, in order of time.
    pub days: Vec<String>,
    /// The panels, the reference first.
    pub panels: Vec<Panel>,
}

const WIDTH: f64 = 860.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = WIDTH - 92.0;
/// The heights of a panel, of a panel among many, and of the line of text above it.
const PANEL: f64 = 60.0;
const LOW_PANEL: f64 = 34.0;
const MANY: usize = 12;
const WORDS: f64 = 24.0;
const FOOT: f64 = 62.0;
/// The largest width of a name, so that the labels of steps fit.
const NAME: f64 = 250.0;
/// The room on the right for the unit and the latest value.
const UNITS: f64 = 104.0;

/// The smallest range of values that a panel shows, as a share of their middle, so that noise does not look like a change.
const LEAST_SPAN: f64 = 0.2;

/// The chart of a cell.
pub fn of_cell(cell: &CellHistory) -> Timeline {
    let days = cell.runs.iter().map(|run| run.started_at.chars().take(10).collect());
    let is_measured = |c: &&ContenderHistory| c.points.iter().any(Option::is_some);
    let panel = |c: &ContenderHistory| Panel {
        label: c.title.clone(),
        is_reference: false,
        unit: Unit::Ratio,
        quantity: "of the hub",
        points: points_of(c, |p| Point::new(p.of_reference?, p.low, p.high)),
        steps: c.steps.iter().map(mark).collect(),
    };
    let others = cell.contenders.iter().filter(is_measured).map(panel);
    Timeline {
        caption: Caption::new(format!("{}: history{}", cell.title, steps::by(cell)), finding(cell)),
        days: days.collect(),
        panels: std::iter::once(reference(cell)).chain(others).collect(),
    }
}

/// The reference's rate. In a cell that is not ranked by rate, its steps are steps of its speed: that is drawn there, as a share of its
/// median, because the reciprocal of a latency has no unit that is easy to read.
fn reference(cell: &CellHistory) -> Panel {
    let c = &cell.reference;
    let speeds: Vec<f64> = c.points.iter().flatten().map(|p| p.speed).collect();
    let median = stats::median(&speeds).unwrap_or(1.0);
    let (unit, quantity, points) = if cell.metric == Metric::Rate {
        (Unit::Rate, "requests/s", points_of(c, |p| Point::new(p.rate_per_s, p.low, p.high)))
    } else {
        (Unit::Ratio, "of its median", points_of(c, |p| Point::new(p.speed / median, None, None)))
    };
    let (label, steps) = (format!("{} (reference)", c.title), c.steps.iter().map(mark).collect());
    Panel { label, is_reference: true, unit, quantity, points, steps }
}

fn points_of(
    c: &ContenderHistory,
    point: impl Fn(&model::history::Point) -> Option<Point>,
) -> Vec<Option<Point>> {
    c.points.iter().map(|p| p.as_ref().and_then(&point)).collect()
}

fn mark(step: &Step) -> Mark {
    let percent = |ratio: f64| {
        let percent = (ratio - 1.0) * 100.0;
        format!("{}{:.1}", if percent < 0.0 { "−" } else { "+" }, percent.abs())
    };
    let mut words = format!("{} %", percent(step.ratio.median));
    if let (Some(low), Some(high)) = (step.ratio.low, step.ratio.high) {
        words.push_str(&format!(" ({} to {})", percent(low), percent(high)));
    }
    if let Some([Some(old), Some(new)]) = &step.versions {
        words.push_str(&format!(", {old} → {new}"));
    }
    Mark { at: step.at, words, is_own: step.cause == Cause::Contender }
}

fn finding(cell: &CellHistory) -> String {
    let runs = units::several(cell.runs.len(), "run");
    let own = cell.contenders.iter().flat_map(|c| c.steps.iter().map(move |step| (c, step)));
    let own: Vec<String> = own
        .filter(|(_, step)| step.cause == Cause::Contender)
        .map(|(c, step)| format!("{} {} from {} on", c.title, steps::change(step), steps::day(cell, step)))
        .collect();
    let machine = cell.reference.steps.len();
    let machine = match machine {
        0 => String::new(),
        n => format!(
            " The machine or drome itself changed {}.",
            if n == 1 { "once".to_owned() } else { format!("{n} times") }
        ),
    };
    if own.is_empty() {
        let why = cell.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        return format!("{runs}: no step of a contender{why}.{machine}");
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    format!("{runs}: {}.{machine}", units::listed_up_to(&own, 4))
}

/// The positions of the runs and the panels.
struct Places {
    x: Scale,
    top: f64,
    bottom: f64,
    /// The height of a panel.
    height: f64,
}

impl Places {
    /// The top of a panel.
    fn panel(&self, i: usize) -> f64 {
        self.top + (self.height + WORDS) * i as f64 + WORDS
    }
}

impl Timeline {
    /// Whether there is anything to draw.
    pub fn has_points(&self) -> bool {
        self.panels.iter().any(|panel| panel.points.iter().any(Option::is_some))
    }

    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let height = if self.panels.len() > MANY { LOW_PANEL } else { PANEL };
        let top = head_height(&self.caption, WIDTH) + 4.0;
        let bottom = top + (height + WORDS) * self.panels.len().max(1) as f64;
        let last = self.days.len().saturating_sub(1) as f64;
        // A single run is in the middle.
        let ends = if last > 0.0 { (0.0, last) } else { (-1.0, 1.0) };
        let x = Scale::linear(ends.0, ends.1, LEFT + 8.0, RIGHT - 8.0);
        let places = Places { x, top, bottom, height };
        let mut canvas = Canvas::new(WIDTH, bottom + FOOT);
        canvas.head(&self.caption);
        self.days(&mut canvas, &places);
        for i in 0..self.panels.len() {
            canvas.rect((LEFT, places.panel(i)), (RIGHT - LEFT, height), "band", 1.0);
        }
        self.shared_steps(&mut canvas, &places);
        for (i, panel) in self.panels.iter().enumerate() {
            draw(&mut canvas, &places, (i, panel));
        }
        canvas.svg(&self.caption)
    }

    /// Draws as many of the days as fit.
    fn days(&self, canvas: &mut Canvas, Places { x, bottom, .. }: &Places) {
        let widest = self.days.iter().map(|day| length(day)).fold(0.0, f64::max) + 14.0;
        let mut free = 0.0;
        for (i, day) in self.days.iter().enumerate() {
            let at = x.at(i as f64);
            if at - widest / 2.0 >= free {
                canvas.line((at, *bottom), (at, bottom + 4.0), "axis");
                canvas.text((at, bottom + 14.0), Anchor::Middle, widest, "faint", day);
                free = at + widest / 2.0;
            }
        }
        canvas.line((LEFT, *bottom), (RIGHT, *bottom), "axis");
        let middle = f64::midpoint(LEFT, RIGHT);
        let across = "runs, in order of time";
        canvas.text((middle, bottom + 31.0), Anchor::Middle, RIGHT - LEFT, "faint", across);
        let key = "whiskers: 95 % · solid line: step of the contender · dashed: step of the machine, drome or most contenders";
        canvas.text((MARGIN, bottom + 50.0), Anchor::Start, WIDTH - 2.0 * MARGIN, "faint", key);
    }

    /// Draws steps that belong to no contender through all panels.
    fn shared_steps(&self, canvas: &mut Canvas, places: &Places) {
        let mut all: Vec<usize> = self
            .panels
            .iter()
            .flat_map(|p| &p.steps)
            .filter(|step| !step.is_own)
            .map(|step| step.at)
            .collect();
        all.sort_unstable();
        all.dedup();
        for at in all {
            let x = places.x.at(at as f64 - 0.5);
            canvas.line((x, places.top + WORDS), (x, places.bottom), "axis short");
        }
    }
}

/// The axis of a panel, around its values and not too narrow.
fn axis(panel: &Panel, from: f64, to: f64) -> Scale {
    let values = || panel.points.iter().flatten().flat_map(Point::all).filter(|v| v.is_finite());
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return Scale::linear(0.0, 1.0, from, to);
    }
    let middle = f64::midpoint(low, high);
    let half = (middle.abs() * LEAST_SPAN / 2.0).max((high - low) * 0.55);
    Scale::linear(middle - half, middle + half, from, to)
}

fn draw(canvas: &mut Canvas, places: &Places, (i, panel): (usize, &Panel)) {
    let top = places.panel(i);
    let bottom = top + places.height;
    let y = axis(panel, bottom - 3.0, top + 3.0);
    for tick in few(&y) {
        canvas.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "rule");
        let words = panel.unit.tick(tick);
        canvas.text((LEFT - 8.0, y.at(tick)), Anchor::End, LEFT - 8.0 - MARGIN, "faint", &words);
    }
    canvas.text((LEFT, top - 10.0), Anchor::Start, NAME, "ink bold", &panel.label);
    canvas.text((WIDTH - MARGIN, top - 10.0), Anchor::End, UNITS, "faint", panel.quantity);
    steps(canvas, places, (top, bottom), panel, length(&panel.label).min(NAME));
    levels(canvas, places, &y, panel);
    points(canvas, places, &y, panel);
    if let Some(latest) = panel.points.iter().rev().find_map(|p| *p) {
        let shown = panel.unit.shown(latest.value);
        canvas.text((RIGHT + 8.0, y.at(latest.value)), Anchor::Start, WIDTH - RIGHT - 12.0, "ink", &shown);
    }
}

/// Two or three of the ticks that fit.
fn few(y: &Scale) -> Vec<f64> {
    let ticks = y.ticks(|_| 8.0);
    let every = ticks.len().div_ceil(3).max(1);
    ticks.into_iter().step_by(every).collect()
}

/// Draws the points with their intervals; the reference is only a thin line.
fn points(canvas: &mut Canvas, places: &Places, y: &Scale, panel: &Panel) {
    let known = panel.points.iter().enumerate().filter_map(|(i, p)| Some((i, (*p)?)));
    let known: Vec<(usize, Point)> = known.collect();
    let at = |(i, p): &(usize, Point)| (places.x.at(*i as f64), y.at(p.value));
    let bounds = |(i, p): &(usize, Point)| {
        let (low, high) = p.interval?;
        Some([(places.x.at(*i as f64), y.at(low)), (places.x.at(*i as f64), y.at(high))])
    };
    if panel.is_reference {
        canvas.path(&known.iter().map(at).collect::<Vec<_>>(), "curve thin s5", "");
    } else {
        canvas.strokes(&known.iter().filter_map(bounds).collect::<Vec<_>>(), "range");
    }
    let (radius, class) = match (panel.is_reference, known.len()) {
        (true, _) => (1.5, "f5"),
        (false, 0..=60) => (3.0, "dot"),
        (false, _) => (2.0, "dot"),
    };
    for point in &known {
        let (low, high) = point.1.interval.unzip();
        let interval = units::known(low.zip(high), |(low, high)| {
            format!("{} to {}", panel.unit.shown(low), panel.unit.shown(high))
        });
        let shown = panel.unit.shown(point.1.value);
        let hover = format!("{}, run {}: {shown}, 95 %: {interval}", panel.label, point.0 + 1);
        canvas.disc(at(point), radius, class, &hover);
    }
}

/// Draws a contender's own steps, with their sizes where the name and the previous step leave room.
fn steps(canvas: &mut Canvas, places: &Places, (top, bottom): (f64, f64), panel: &Panel, name: f64) {
    let mut free = LEFT + name + 12.0;
    for step in panel.steps.iter().filter(|step| step.is_own || panel.is_reference) {
        let x = places.x.at(step.at as f64 - 0.5);
        if step.is_own {
            canvas.line((x, top - 2.0), (x, bottom), "s1");
        }
        let words = length(&step.words);
        let left = (x - words / 2.0).max(free).min(WIDTH - MARGIN - UNITS - words);
        if left >= free && (left - (x - words / 2.0)).abs() < 150.0 {
            canvas.text((left, top - 10.0), Anchor::Start, words, "ink", &step.words);
            free = left + words + 12.0;
        }
    }
}

/// Draws a line at the median between steps.
fn levels(canvas: &mut Canvas, places: &Places, y: &Scale, panel: &Panel) {
    if panel.is_reference {
        return;
    }
    let runs = panel.points.len();
    let mut ends: Vec<usize> = panel.steps.iter().map(|step| step.at.min(runs)).collect();
    ends.push(runs);
    let mut from = 0;
    for end in ends {
        let part = panel.points.get(from..end).unwrap_or_default();
        let values: Vec<f64> = part.iter().flatten().map(|p| p.value).collect();
        if let Some(level) = stats::median(&values).filter(|_| values.len() > 1) {
            let (left, right) = (places.x.at(from as f64 - 0.5), places.x.at(end as f64 - 0.5));
            canvas.line((left, y.at(level)), (right, y.at(level)), "level");
        }
        from = end.max(from);
    }
}
