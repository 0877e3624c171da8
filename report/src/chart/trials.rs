//! Every start of a cell, by the metric that ranks it. The upper part has all starts in run order, which shows a drift of the
//! machine. The lower part has them by contender and round. All
//! figures are relative to the contender's own median, so that fast and slow contenders fit into one chart. Void trials are
//! hatched, those without a figure have a cross.

use super::canvas::{Anchor, MARGIN, head_height, length};
use super::{Canvas, Caption, Scale, Unit, unit};
use crate::units;
use model::Metric;

mod of_cell;

pub use crate::outcome::StartState;
pub use of_cell::of_cell;

/// One trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number among all trials of the cell, from 0.
    pub nth: usize,
    /// The number of its round, from 0.
    pub round: usize,
    /// The number of the contender's entry, from 0.
    pub copy: usize,
    /// The figure that ranks the cell; `None` if it is unknown, as in a trial that failed.
    pub figure: Option<f64>,
    /// The outcome.
    pub state: StartState,
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
    /// From the best to the worst.
    pub rows: Vec<Row>,
}

const WIDTH: f64 = 860.0;
const LABELS: f64 = 190.0;
const FIGURES: f64 = 84.0;
/// The height of the upper part, all trials in run order.
const UPPER: f64 = 84.0;
/// The gap between the parts, for the title of the upper axis and the numbers of the rounds.
const BETWEEN: f64 = 66.0;
const ROW: f64 = 32.0;
const FOOT: f64 = 34.0;
/// A start that is not wider than this has no hover text.
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
    /// The numbers of the rounds, in order.
    rounds: Vec<usize>,
    trials: usize,
    metric: Metric,
}

impl Places {
    fn slot(&self) -> f64 {
        (self.right - self.left) / self.rounds.len().max(1) as f64
    }

    /// The position of a trial in its row, and its width.
    fn of(&self, trial: &Trial, copies: usize) -> (f64, f64) {
        let round = self.rounds.binary_search(&trial.round).unwrap_or(0) as f64;
        let width = self.slot() / copies as f64;
        (self.left + self.slot() * round + width * trial.copy.min(copies - 1) as f64, width)
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
        median(|t| t.state == StartState::Valid).or_else(|| median(|_| true))
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
        for trial in row.trials.iter().filter(|t| t.state == StartState::Valid) {
            far.extend(trial.figure.map(|v| (v / median - 1.0).abs()).filter(|v| v.is_finite()));
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
        let mut rounds: Vec<usize> = all().map(|t| t.round).collect();
        rounds.sort_unstable();
        rounds.dedup();
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
            rounds,
            trials: all().count(),
            metric: self.metric,
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

    /// The upper part: one dot per start, in run order.
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
        let mut dots = Vec::new();
        for row in &self.rows {
            let median = row.median();
            for trial in &row.trials {
                let x = places.in_order(trial.nth);
                let Some((figure, median)) = trial.figure.zip(median) else {
                    canvas.cross((x, bottom - 5.0), 3.0);
                    continue;
                };
                let class = if trial.state == StartState::Valid { "dot" } else { "hollow" };
                dots.push(((x, y.at(figure / median)), class, tip(&row.label, trial, places)));
            }
        }
        let radius = if places.trials > 150 { 1.6 } else { 2.5 };
        dots.iter().for_each(|(at, class, hover)| canvas.disc(*at, radius, class, hover));
        canvas.line((places.left, bottom), (places.right, bottom), "axis");
        let words = format!("{} in run order", units::several(places.trials, "start"));
        let middle = f64::midpoint(places.left, places.right);
        canvas.text((middle, bottom + 14.0), Anchor::Middle, places.right - places.left, "faint", &words);
    }

    fn foot(&self, canvas: &mut Canvas, places: &Places) {
        let all = || self.rows.iter().flat_map(|row| &row.trials);
        let mut words = vec![format!(
            "each row from −{0:.0} % to +{0:.0} % of the contender's own median",
            places.span * 100.0
        )];
        if all().any(|t| matches!(t.state, StartState::Void(_))) {
            words.push("hatched, hollow: void".to_owned());
        }
        let has_failed = all().any(|t| matches!(t.state, StartState::Failed(_)));
        let has_no_figure = all().any(|t| t.figure.is_none() && !matches!(t.state, StartState::Failed(_)));
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

/// Draws the rounds, with as many of their numbers as fit.
fn frame(canvas: &mut Canvas, places: &Places) {
    let slot = places.slot();
    let mut free = places.left;
    for (i, round) in places.rounds.iter().enumerate() {
        let x = places.left + slot * i as f64;
        if slot >= 4.0 {
            canvas.line((x, places.rows), (x, places.bottom), "rule");
        }
        let (number, middle) = (round.saturating_add(1).to_string(), x + slot / 2.0);
        let half = length(&number) / 2.0 + 4.0;
        if middle - half >= free && middle + half <= places.right {
            canvas.text((middle, places.rows - 12.0), Anchor::Middle, 2.0 * half, "faint", &number);
            free = middle + half;
        }
    }
    canvas.line((places.right, places.rows), (places.right, places.bottom), "rule");
    canvas.text((places.left - 10.0, places.rows - 12.0), Anchor::End, 50.0, "faint", "round");
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
    let (copies, mut marks) = (row.copies(), Vec::new());
    for trial in &row.trials {
        let (x, width) = places.of(trial, copies);
        if matches!(trial.state, StartState::Void(_)) {
            canvas.hatch((x + 0.5, top + 1.0), ((width - 1.0).max(0.5), ROW - 2.0));
        }
        match trial.figure.zip(median) {
            None => canvas.cross((x + width / 2.0, middle), 4.0),
            Some((figure, median)) => {
                let (x, at) = (x + width / 2.0, y.at(figure / median));
                // Large enough to see.
                marks.push([(x, (at + 2.0).min(top + ROW)), (x, at)]);
            }
        }
        if width > NARROW {
            canvas.hover((x, top), (width, ROW), &tip(&row.label, trial, places));
        }
    }
    canvas.strokes(&marks, "whisker");
}

/// The text that appears on hovering over a trial.
fn tip(label: &str, trial: &Trial, places: &Places) -> String {
    let shown = |figure: f64| match places.metric {
        Metric::Rate => units::requests_per_s(figure),
        metric => Unit::of(metric).shown(figure),
    };
    let figure = trial.figure.map_or_else(String::new, |figure| format!(": {}", shown(figure)));
    let why = match &trial.state {
        StartState::Valid => String::new(),
        lost => format!("; {}", lost.words()),
    };
    let (round, nth) = (trial.round.saturating_add(1), trial.nth + 1);
    format!("{label}, round {round}, start {nth} of {}{figure}{why}", places.trials)
}
