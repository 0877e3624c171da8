//! Every trial of a cell, by the metric that ranks it. The upper part has all trials in run order, which shows a drift of the
//! machine. The lower part has them by contender and block; where rates rank, with the rate over time within each trial. All
//! figures are relative to the contender's own median, so that fast and slow contenders fit into one chart. Void trials are
//! hatched, those without a figure have a cross.

use super::canvas::{Anchor, MARGIN, head_height, length};
use super::{Canvas, Caption, Scale, Unit, unit};
use crate::units;
use model::Metric;

mod of_cell;

pub use of_cell::of_cell;

/// The outcome of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It counts.
    Valid,
    /// It was measured but does not count, with the reason.
    Void(String),
    /// There is no measurement, with the reason.
    Failed(String),
}

/// One trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number among all trials of the cell, from 0.
    pub nth: usize,
    /// The number of its block, from 0.
    pub block: usize,
    /// The number of the contender's entry, from 0.
    pub copy: usize,
    /// The figure that ranks the cell; `None` if it is unknown, as in a trial that failed.
    pub figure: Option<f64>,
    /// The rate per second in each step of the window; empty if it was not stored, and where another figure ranks.
    pub course_per_s: Vec<f64>,
    /// The outcome.
    pub state: State,
}

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// Its trials, in any order.
    pub trials: Vec<Trial>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Trials {
    /// The title and the finding.
    pub caption: Caption,
    /// The metric of the figures.
    pub metric: Metric,
    /// The word for one of them: trial or start.
    pub one: &'static str,
    /// The word for a pass over all contenders: block or round.
    pub block: &'static str,
    /// From the best to the worst.
    pub rows: Vec<Row>,
}

const WIDTH: f64 = 860.0;
const LABELS: f64 = 190.0;
const FIGURES: f64 = 84.0;
/// The height of the upper part, all trials in run order.
const UPPER: f64 = 84.0;
/// The gap between the parts, for the title of the upper axis and the numbers of the blocks.
const BETWEEN: f64 = 66.0;
const ROW: f64 = 32.0;
const FOOT: f64 = 34.0;
/// The least width of a step of a curve.
const STEP: f64 = 3.0;
/// A trial that is not wider than this is drawn as its range.
const NARROW: f64 = 9.0;

/// The possible half-ranges of the axis around the median.
const SPANS: [f64; 6] = [0.05, 0.1, 0.2, 0.3, 0.5, 1.0];
/// The share of values that may lie beyond the axis; they are drawn at its ends.
const BEYOND: f64 = 0.05;

/// Where the parts of the chart are.
struct Places {
    left: f64,
    right: f64,
    top: f64,
    /// The top of the rows.
    rows: f64,
    bottom: f64,
    /// The half-range of the axis, which goes from 1 − span to 1 + span.
    span: f64,
    /// The numbers of the blocks, in order.
    blocks: Vec<usize>,
    trials: usize,
    metric: Metric,
    /// What a trial and a block are called here: trial and block, or start and round.
    words: [&'static str; 2],
}

impl Places {
    fn slot(&self) -> f64 {
        (self.right - self.left) / self.blocks.len().max(1) as f64
    }

    /// The position of a trial in its row, and its width.
    fn of(&self, trial: &Trial, copies: usize) -> (f64, f64) {
        let block = self.blocks.binary_search(&trial.block).unwrap_or(0) as f64;
        let width = self.slot() / copies as f64;
        (self.left + self.slot() * block + width * trial.copy.min(copies - 1) as f64, width)
    }

    fn in_order(&self, nth: usize) -> f64 {
        let each = (self.right - self.left) / self.trials.max(1) as f64;
        self.left + each * (nth.min(self.trials.saturating_sub(1)) as f64 + 0.5)
    }

    fn relative(&self, from: f64, to: f64) -> Scale {
        Scale::linear(1.0 - self.span, 1.0 + self.span, from, to)
    }
}

impl Row {
    /// The median figure of the trials that count, or of all measured ones if none counts.
    fn median(&self) -> Option<f64> {
        let median = |is_wanted: fn(&Trial) -> bool| {
            let wanted = self.trials.iter().filter(|t| is_wanted(t)).filter_map(|t| t.figure);
            let wanted: Vec<f64> = wanted.filter(|figure| figure.is_finite() && *figure > 0.0).collect();
            stats::median(&wanted)
        };
        median(|t| t.state == State::Valid).or_else(|| median(|_| true))
    }

    fn copies(&self) -> usize {
        // No run has more entries of one contender than this.
        self.trials.iter().map(|t| t.copy + 1).max().unwrap_or(1).clamp(1, 16)
    }
}

/// The smallest of the possible half-ranges that contains nearly all values.
fn span(rows: &[Row]) -> f64 {
    let mut far: Vec<f64> = Vec::new();
    for row in rows {
        let Some(median) = row.median() else { continue };
        for trial in row.trials.iter().filter(|t| t.state == State::Valid) {
            let values = trial.course_per_s.iter().copied().chain(trial.figure);
            far.extend(values.map(|v| (v / median - 1.0).abs()).filter(|v| v.is_finite()));
        }
    }
    far.sort_by(f64::total_cmp);
    let most = far.get(((far.len() as f64) * (1.0 - BEYOND)) as usize).or(far.last()).copied().unwrap_or(0.0);
    SPANS.into_iter().find(|span| *span >= most).unwrap_or(1.0)
}

impl Trials {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let all = || self.rows.iter().flat_map(|row| &row.trials);
        let mut blocks: Vec<usize> = all().map(|t| t.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let labels = self.rows.iter().map(|row| length(&row.label)).fold(60.0, f64::max).min(LABELS);
        let top = head_height(&self.caption, WIDTH) + 24.0;
        let rows = top + UPPER + BETWEEN;
        let places = Places {
            left: MARGIN + labels + 10.0,
            right: WIDTH - FIGURES - MARGIN,
            top,
            rows,
            bottom: rows + ROW * self.rows.len() as f64,
            span: span(&self.rows),
            blocks,
            trials: all().count(),
            metric: self.metric,
            words: [self.one, self.block],
        };
        let mut canvas = Canvas::new(WIDTH, places.bottom + FOOT);
        canvas.head(&self.caption);
        self.in_order(&mut canvas, &places);
        frame(&mut canvas, &places);
        for (i, row) in self.rows.iter().enumerate() {
            draw_row(&mut canvas, &places, i, row);
        }
        self.foot(&mut canvas, &places);
        canvas.svg(&self.caption)
    }

    /// The upper part: one dot per trial with the range of its rate over time, in run order.
    fn in_order(&self, canvas: &mut Canvas, places: &Places) {
        let bottom = places.top + UPPER;
        let y = places.relative(bottom, places.top);
        for (value, sign) in [(1.0 + places.span, "+"), (1.0, ""), (1.0 - places.span, "−")] {
            let words = if sign.is_empty() {
                "median".to_owned()
            } else {
                format!("{sign}{:.0} %", places.span * 100.0)
            };
            canvas.line((places.left, y.at(value)), (places.right, y.at(value)), "rule");
            canvas.text((places.left - 8.0, y.at(value)), Anchor::End, places.left - MARGIN, "faint", &words);
        }
        let what = if self.metric == Metric::Rate { "rate".to_owned() } else { unit::axis(self.metric) };
        let title = format!("{what}, relative to the contender's own median");
        canvas.text((places.left, places.top - 12.0), Anchor::Start, WIDTH - places.left, "faint", &title);
        let mut ranges = Vec::new();
        let mut dots = Vec::new();
        for row in &self.rows {
            let median = row.median();
            for trial in &row.trials {
                let x = places.in_order(trial.nth);
                let Some((figure, median)) = trial.figure.zip(median) else {
                    canvas.cross((x, bottom - 5.0), 3.0);
                    continue;
                };
                let (low, high) = range(trial);
                ranges.push([(x, y.at(low / median)), (x, y.at(high / median))]);
                let class = if trial.state == State::Valid { "dot" } else { "hollow" };
                dots.push(((x, y.at(figure / median)), class, tip(&row.label, trial, places)));
            }
        }
        canvas.strokes(&ranges, "range");
        let radius = if places.trials > 150 { 1.6 } else { 2.5 };
        dots.iter().for_each(|(at, class, hover)| canvas.disc(*at, radius, class, hover));
        canvas.line((places.left, bottom), (places.right, bottom), "axis");
        let words = format!("{} in run order", units::several(places.trials, self.one));
        let middle = f64::midpoint(places.left, places.right);
        canvas.text((middle, bottom + 14.0), Anchor::Middle, places.right - places.left, "faint", &words);
    }

    fn foot(&self, canvas: &mut Canvas, places: &Places) {
        let all = || self.rows.iter().flat_map(|row| &row.trials);
        let mut words = vec![format!(
            "each row from −{0:.0} % to +{0:.0} % of the contender's own median",
            places.span * 100.0
        )];
        if all().any(|t| matches!(t.state, State::Void(_))) {
            words.push("hatched, hollow: void".to_owned());
        }
        let has_failed = all().any(|t| matches!(t.state, State::Failed(_)));
        let has_no_figure = all().any(|t| t.figure.is_none() && !matches!(t.state, State::Failed(_)));
        match (has_failed, has_no_figure) {
            (true, true) => words.push("cross: failed, or without a figure".to_owned()),
            (true, false) => words.push("cross: failed".to_owned()),
            (false, true) => words.push("cross: without a figure".to_owned()),
            (false, false) => {}
        }
        let foot = (MARGIN, places.bottom + 20.0);
        canvas.text(foot, Anchor::Start, WIDTH - 2.0 * MARGIN, "faint", &words.join(" · "));
    }
}

/// The lowest and the highest step of a trial, or its figure if the steps are unknown.
fn range(trial: &Trial) -> (f64, f64) {
    let figure = trial.figure.unwrap_or(0.0);
    let known = || trial.course_per_s.iter().copied().filter(|v| v.is_finite());
    (known().fold(figure, f64::min), known().fold(figure, f64::max))
}

/// Draws the blocks, with as many of their numbers as fit.
fn frame(canvas: &mut Canvas, places: &Places) {
    let slot = places.slot();
    let mut free = places.left;
    for (i, block) in places.blocks.iter().enumerate() {
        let x = places.left + slot * i as f64;
        if slot >= 4.0 {
            canvas.line((x, places.rows), (x, places.bottom), "rule");
        }
        let (number, middle) = (block.saturating_add(1).to_string(), x + slot / 2.0);
        let half = length(&number) / 2.0 + 4.0;
        if middle - half >= free && middle + half <= places.right {
            canvas.text((middle, places.rows - 12.0), Anchor::Middle, 2.0 * half, "faint", &number);
            free = middle + half;
        }
    }
    canvas.line((places.right, places.rows), (places.right, places.bottom), "rule");
    canvas.text((places.left - 10.0, places.rows - 12.0), Anchor::End, 50.0, "faint", places.words[1]);
    let title = if places.metric == Metric::Rate { "median, /s" } else { "median" };
    canvas.text((places.right + 10.0, places.rows - 12.0), Anchor::Start, FIGURES, "faint", title);
}

fn draw_row(canvas: &mut Canvas, places: &Places, i: usize, row: &Row) {
    let top = places.rows + ROW * i as f64;
    let middle = top + ROW / 2.0;
    canvas.text((places.left - 10.0, middle), Anchor::End, places.left - 10.0 - MARGIN, "ink", &row.label);
    let median = row.median();
    let shown = units::known(median, |median| Unit::of(places.metric).shown(median));
    canvas.text((places.right + 10.0, middle), Anchor::Start, FIGURES, "ink", &shown);
    canvas.line((places.left, middle), (places.right, middle), "rule");
    let y = places.relative(top + ROW - 3.0, top + 3.0);
    let (copies, mut ranges) = (row.copies(), Vec::new());
    for trial in &row.trials {
        let (x, width) = places.of(trial, copies);
        if matches!(trial.state, State::Void(_)) {
            canvas.hatch((x + 0.5, top + 1.0), ((width - 1.0).max(0.5), ROW - 2.0));
        }
        match trial.figure.zip(median) {
            None => canvas.cross((x + width / 2.0, middle), 4.0),
            Some((_, median)) if width <= NARROW || trial.course_per_s.is_empty() => {
                let (low, high) = range(trial);
                let x = x + width / 2.0;
                // A trial with a single value is drawn as a point large enough to see.
                let (low, high) = (y.at(low / median), y.at(high / median));
                let bottom = low.max(high + 2.0).min(top + ROW);
                ranges.push([(x, bottom), (x, high)]);
            }
            Some((_, median)) => course(canvas, (x, width), &y, median, trial),
        }
        if width > NARROW {
            canvas.hover((x, top), (width, ROW), &tip(&row.label, trial, places));
        }
    }
    canvas.strokes(&ranges, "whisker");
}

/// Draws the rate over time within a trial; steps are averaged so that each is wide enough to see.
fn course(canvas: &mut Canvas, (x, width): (f64, f64), y: &Scale, median: f64, trial: &Trial) {
    let steps = &trial.course_per_s;
    let room = width - 4.0;
    let most = ((room / STEP) as usize).max(2);
    let together = steps.len().div_ceil(most).max(1);
    let means: Vec<f64> = steps.chunks(together).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
    let each = room / means.len().saturating_sub(1).max(1) as f64;
    let places = means.iter().enumerate().map(|(i, v)| (x + 2.0 + each * i as f64, y.at(v / median)));
    let class = if trial.state == State::Valid { "curve thin s0" } else { "curve thin s5 short" };
    canvas.path(&places.collect::<Vec<_>>(), class, "");
}

/// The text that appears on hovering over a trial.
fn tip(label: &str, trial: &Trial, places: &Places) -> String {
    let shown = |figure: f64| match places.metric {
        Metric::Rate => units::requests_per_s(figure),
        metric => Unit::of(metric).shown(figure),
    };
    let figure = trial.figure.map_or_else(String::new, |figure| format!(": {}", shown(figure)));
    let why = match &trial.state {
        State::Valid => String::new(),
        State::Void(why) => format!("; void: {why}"),
        State::Failed(why) => format!("; failed: {why}"),
    };
    let (number, nth, [one, block]) = (trial.block.saturating_add(1), trial.nth + 1, places.words);
    format!("{label}, {block} {number}, {one} {nth} of {}{figure}{why}", places.trials)
}
