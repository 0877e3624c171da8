//! Latency over the offered load, with the CPU use of the server on the same axis.

use super::axes::{self, ABOVE, LEFT, RIGHT, WIDTH};
use super::canvas::head_height;
use super::ranked::label;
use super::{Canvas, Caption, Scale, Unit, theme, unit};
use crate::units;
use model::findings::CellFindings;
use model::sweep::{self, Sweep, Swept};
use model::{Findings, Load, Rate};

/// One offered rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The offered requests per second.
    pub offered_per_s: f64,
    /// The percentile; `None` if it was not measured or is not valid.
    pub latency_ns: Option<f64>,
    /// The number of cores that the server kept busy.
    pub server_cores: Option<f64>,
}

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCurve {
    /// Its name.
    pub label: String,
    /// The steps, from the lowest to the highest rate.
    pub steps: Vec<Step>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadChart {
    /// The title and the finding.
    pub caption: Caption,
    /// The name of the percentile: `p99`.
    pub percentile: String,
    /// One per contender.
    pub load_curves: Vec<LoadCurve>,
}

/// The heights of the latency part, above, and of the CPU part, below.
const UPPER: f64 = 260.0;
const LOWER: f64 = 90.0;
/// The gap between them, for the title of the lower axis.
const BETWEEN: f64 = 34.0;

/// The chart of a sweep.
pub fn of_sweep(sweep: &Sweep) -> LoadChart {
    let median = |spread: Option<sweep::Spread>| spread.map(|s| s.median);
    let step = |s: &sweep::Step| Step {
        offered_per_s: s.offered_per_s,
        latency_ns: median(s.latency_ns_p99),
        server_cores: median(s.server_cores),
    };
    let is_one = sweep.contenders.len() == 1;
    let load_curve = |c: &Swept| LoadCurve {
        label: if is_one { c.title.clone() } else { format!("{}: {}", c.name, c.title) },
        steps: c.steps.iter().map(step).collect(),
    };
    let words = |c: &Swept| {
        let name = if is_one { "the server" } else { &c.name };
        match (&c.kept, c.knee_per_s) {
            (Some(kept), _) if kept.rate_per_s.is_some() => {
                let rate = units::known(kept.rate_per_s, units::requests_per_s);
                format!("{name} keeps {} up to {rate}", kept.promise)
            }
            (Some(kept), _) => format!("the rate up to which {name} keeps {} is unknown", kept.promise),
            (_, Some(knee)) => {
                format!("{name} follows the offered rate up to {}", units::requests_per_s(knee.median))
            }
            _ => format!("the knee of {name} is unknown"),
        }
    };
    let finding = units::capital(&sweep.contenders.iter().map(words).collect::<Vec<_>>().join("; "));
    LoadChart {
        caption: Caption::new("Latency and server CPU over the offered rate", format!("{finding}.")),
        percentile: "p99".to_owned(),
        load_curves: sweep.contenders.iter().map(load_curve).collect(),
    }
}

/// One chart per workload that was measured at two or more constant rates over the same number of connections.
pub fn of_findings(f: &Findings) -> Vec<LoadChart> {
    let mut all: Vec<(&CellFindings, Vec<(f64, &CellFindings)>)> = Vec::new();
    for cell in &f.cells {
        let Some(rate) = constant_rate(cell) else { continue };
        let is_alike = |there: &CellFindings| {
            there.workload == cell.workload
                && there.transport == cell.transport
                && there.load.connections() == cell.load.connections()
        };
        match all.iter_mut().find(|(there, _)| is_alike(there)) {
            Some((_, cells)) => cells.push((rate, cell)),
            None => all.push((cell, vec![(rate, cell)])),
        }
    }
    let rates = |cells: &mut Vec<(f64, &CellFindings)>| {
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        cells.dedup_by(|a, b| a.0 == b.0);
        cells.len() > 1
    };
    all.into_iter()
        .filter_map(|(first, mut cells)| rates(&mut cells).then(|| of_cells(first, &cells)))
        .collect()
}

fn constant_rate(cell: &CellFindings) -> Option<f64> {
    match (&cell.load, cell.load.rate_per_s()) {
        (Load::Open { .. }, Some(Rate::Constant(rate))) => Some(*rate),
        _ => None,
    }
}

fn of_cells(first: &CellFindings, cells: &[(f64, &CellFindings)]) -> LoadChart {
    let mut load_curves: Vec<LoadCurve> = Vec::new();
    for (rate, cell) in cells {
        for c in &cell.contenders {
            let cores =
                c.server_cpu_ns_per_request.zip(c.rate_per_s).map(|(cpu, r)| cpu.median * r.median / 1e9);
            let latency_ns = c.latency_ns_p99.map(|f| f.median);
            let step = Step { offered_per_s: *rate, latency_ns, server_cores: cores };
            match load_curves.iter_mut().find(|load_curve| load_curve.label == label(c)) {
                Some(load_curve) => load_curve.steps.push(step),
                None => load_curves.push(LoadCurve { label: label(c), steps: vec![step] }),
            }
        }
    }
    let highest = cells.last().map_or(0.0, |(rate, _)| *rate);
    let at_most = |load_curve: &&LoadCurve| {
        load_curve.steps.iter().rev().find(|s| s.offered_per_s == highest)?.latency_ns
    };
    let mut known: Vec<(&LoadCurve, f64)> =
        load_curves.iter().filter_map(|c| Some((c, at_most(&c)?))).collect();
    known.sort_by(|a, b| a.1.total_cmp(&b.1));
    let finding = match (known.first(), known.last()) {
        (Some(best), Some(worst)) if known.len() > 1 => format!(
            "At {} the p99 of {} is {}, and that of {} is {}.",
            units::requests_per_s(highest),
            best.0.label,
            units::duration(best.1),
            worst.0.label,
            units::duration(worst.1)
        ),
        (Some(one), _) => {
            format!(
                "At {} the p99 of {} is {}.",
                units::requests_per_s(highest),
                one.0.label,
                units::duration(one.1)
            )
        }
        _ => format!("No contender has a p99 at {}.", units::requests_per_s(highest)),
    };
    let title = format!("{}: latency and server CPU over the offered rate", first.workload);
    LoadChart { caption: Caption::new(title, finding), percentile: "p99".to_owned(), load_curves }
}

/// The positions of the two parts of the chart.
struct Places {
    x: Scale,
    latency: Scale,
    cpu: Scale,
    top: f64,
    middle: f64,
    bottom: f64,
}

impl LoadChart {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let top = head_height(&self.caption, WIDTH) + ABOVE;
        // The labels beside the curves need this much room.
        let middle = top + UPPER.max((self.load_curves.len() + 1) as f64 * axes::NAME);
        let bottom = middle + BETWEEN + LOWER;
        let mut canvas = Canvas::new(WIDTH, bottom + 46.0);
        canvas.head(&self.caption);
        let steps = || self.load_curves.iter().flat_map(|load_curve| &load_curve.steps);
        let x = Scale::for_sizes(steps().map(|s| s.offered_per_s), LEFT, RIGHT);
        let latency = Scale::log(steps().filter_map(|s| s.latency_ns), middle, top + 8.0);
        let most = steps().filter_map(|s| s.server_cores).filter(|c| c.is_finite()).fold(0.0, f64::max);
        let cpu = Scale::linear(0.0, if most > 0.0 { most * 1.05 } else { 1.0 }, bottom, middle + BETWEEN);
        let places = Places { x, latency, cpu, top, middle, bottom };
        self.axes(&mut canvas, &places);
        for (i, load_curve) in self.load_curves.iter().enumerate().rev() {
            draw(&mut canvas, &places, i, load_curve);
        }
        let end = |c: &LoadCurve| {
            let last = c.steps.iter().rev().find_map(|s| s.latency_ns);
            last.map_or(middle, |ns| places.latency.at(ns))
        };
        let ends = self.load_curves.iter().map(|c| (c.label.as_str(), end(c)));
        axes::names(&mut canvas, ends, (top, middle));
        canvas.svg(&self.caption)
    }

    fn axes(&self, canvas: &mut Canvas, Places { x, latency, cpu, top, middle, bottom }: &Places) {
        let (above, below) = ((*top, *middle), (middle + BETWEEN, *bottom));
        axes::ticks_below(canvas, x, Unit::Rate, 8.0, &[above, below]);
        axes::ticks_left(canvas, latency, RIGHT, |tick| Unit::Time.tick(tick));
        let title = format!("{} from when a request was due", self.percentile);
        axes::title_above(canvas, latency, *top, RIGHT, &title);
        axes::ticks_left(canvas, cpu, RIGHT, unit::plain);
        canvas.line((LEFT, *middle), (RIGHT, *middle), "axis");
        canvas.line((LEFT, *bottom), (RIGHT, *bottom), "axis");
        axes::title_above(canvas, cpu, below.0, RIGHT, "server CPU, cores");
        axes::title_below(canvas, x, (LEFT, RIGHT), *bottom, "offered requests per second");
    }
}

fn draw(canvas: &mut Canvas, places: &Places, i: usize, load_curve: &LoadCurve) {
    let Places { x, latency, cpu, .. } = places;
    let known = |value: fn(&Step) -> Option<f64>| {
        let of = move |s: &Step| Some((s.offered_per_s, value(s)?));
        load_curve.steps.iter().filter_map(of).filter(|(rate, v)| rate.is_finite() && v.is_finite())
    };
    let curve = format!("curve {}", theme::stroke(i));
    let times: Vec<(f64, f64)> = known(|s| s.latency_ns).collect();
    let place = |(rate, ns): &(f64, f64)| (x.at(*rate), latency.at(*ns));
    canvas.path(&times.iter().map(place).collect::<Vec<_>>(), &curve, &load_curve.label);
    for step in &times {
        let (rate, ns) = (units::requests_per_s(step.0), units::duration(step.1));
        canvas.disc(place(step), 3.0, &theme::fill(i), &format!("{}: {ns} at {rate}", load_curve.label));
    }
    let cores: Vec<_> = known(|s| s.server_cores).map(|(rate, cores)| (x.at(rate), cpu.at(cores))).collect();
    canvas.path(&cores, &curve, &load_curve.label);
}
