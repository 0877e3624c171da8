//! A scatter plot of cost against tail latency: server CPU per request on the x axis, p99 on the y axis, memory as area.

use super::axes::{self, ABOVE, LEFT, WIDTH};
use super::canvas::{Anchor, MARGIN, head_height, length};
use super::labels::{Place, Spot, around};
use super::ranked::label;
use super::{Canvas, Caption, Point, Scale, Unit};
use crate::units;
use model::findings::{CellFindings, ContenderFindings, Figure};
use model::metric::Percentile;
use model::study::REFERENCE;
use model::{Load, Metric};

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Bubble {
    /// Its name.
    pub label: String,
    /// CPU time of the server per request, in nanoseconds.
    pub cpu_ns: Point,
    /// The 99th percentile of latency, in nanoseconds.
    pub p99_ns: Point,
    /// The peak resident memory; `None` if unknown, drawn as a hollow disc.
    pub rss_bytes: Option<f64>,
    /// Whether it is the reference.
    pub is_reference: bool,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// The title and the finding.
    pub caption: Caption,
    /// The title of the latency axis.
    pub axis: String,
    /// The contenders, in the order in which they get their labels.
    pub bubbles: Vec<Bubble>,
}

const RIGHT: f64 = WIDTH - 84.0;
const HEIGHT: f64 = 360.0;
/// The additional height per contender beyond the first twenty, for the labels.
const MORE: f64 = 8.0;

/// The radii of the largest disc and of the smallest one, which must be visible.
const LARGEST: f64 = 22.0;
const SMALLEST: f64 = 3.0;

/// The largest width of a name.
const NAME: f64 = 250.0;

/// The chart of a cell: the contenders that have both figures.
pub fn of_cell(cell: &CellFindings) -> Scatter {
    let bubble = |c: &ContenderFindings| {
        Some(Bubble {
            label: label(c),
            cpu_ns: c.server_cpu_ns_per_request.and_then(Point::of).filter(|p| p.value > 0.0)?,
            p99_ns: p99_ns(cell, c).and_then(Point::of).filter(|p| p.value > 0.0)?,
            rss_bytes: c.rss_max_bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes as f64),
            is_reference: c.name == REFERENCE,
        })
    };
    let bubbles: Vec<Bubble> = cell.contenders.iter().filter_map(bubble).collect();
    let axis = match cell.load {
        Load::Closed { .. } => "p99 at saturation",
        Load::Open { .. } => "p99 from when a request was due",
    };
    let title = format!("{}: CPU per request, p99 and memory", cell.title);
    Scatter { caption: Caption::new(title, finding(&bubbles)), axis: axis.to_owned(), bubbles }
}

/// The 99th percentile: the figure that ranks the cell, where it does.
fn p99_ns(cell: &CellFindings, c: &ContenderFindings) -> Option<Figure> {
    match cell.metric {
        Metric::Latency(Percentile::P99) => c.metric,
        _ => c.latency_ns_p99,
    }
}

fn finding(bubbles: &[Bubble]) -> String {
    let all: Vec<&Bubble> = bubbles.iter().filter(|b| !b.is_reference).collect();
    let least = |of: fn(&Bubble) -> f64| all.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
    let (Some(frugal), Some(quick)) = (least(|b| b.cpu_ns.value), least(|b| b.p99_ns.value)) else {
        return "No contender but the reference has both figures.".to_owned();
    };
    let cpu = units::duration(frugal.cpu_ns.value);
    let p99 = units::duration(quick.p99_ns.value);
    let lead = if frugal.label == quick.label {
        format!("{} uses the least CPU per request, {cpu}, and has the lowest p99, {p99}", frugal.label)
    } else {
        format!(
            "{} uses the least CPU per request, {cpu}; {} has the lowest p99, {p99}",
            frugal.label, quick.label
        )
    };
    let most = all.iter().filter_map(|b| Some((b, b.rss_bytes?))).max_by(|a, b| a.1.total_cmp(&b.1));
    let most = most.filter(|_| all.len() > 1);
    let most = most.map_or_else(String::new, |(b, n)| {
        format!("; {} uses the most memory, {}", b.label, units::bytes(n))
    });
    format!("{lead}{most}.")
}

/// The positions of the parts of the chart.
struct Places {
    x: Scale,
    y: Scale,
    top: f64,
    bottom: f64,
    /// Pixels of radius per square root of a byte.
    per_root: f64,
}

impl Places {
    fn radius(&self, bytes: Option<f64>) -> f64 {
        let radius = bytes.map_or(SMALLEST, |bytes| bytes.sqrt() * self.per_root);
        if radius.is_finite() { radius.clamp(SMALLEST, LARGEST) } else { SMALLEST }
    }
}

impl Scatter {
    /// The chart as SVG, without contenders whose figures are not positive.
    pub fn svg(&self) -> String {
        let is_positive = |v: f64| v.is_finite() && v > 0.0;
        let drawn =
            self.bubbles.iter().filter(|b| is_positive(b.cpu_ns.value) && is_positive(b.p99_ns.value));
        let mut drawn: Vec<&Bubble> = drawn.collect();
        let top = head_height(&self.caption, WIDTH) + ABOVE;
        let bottom = top + HEIGHT + MORE * drawn.len().saturating_sub(20) as f64;
        let most = drawn.iter().filter_map(|b| b.rss_bytes).filter(|n| n.is_finite()).fold(0.0, f64::max);
        let places = Places {
            x: Scale::log(drawn.iter().flat_map(|b| b.cpu_ns.all()), LEFT + 26.0, RIGHT - 26.0),
            y: Scale::log(drawn.iter().flat_map(|b| b.p99_ns.all()), bottom - 26.0, top + 26.0),
            top,
            bottom,
            per_root: if most > 0.0 { LARGEST / most.sqrt() } else { 0.0 },
        };
        let mut canvas = Canvas::new(WIDTH, bottom + 46.0);
        canvas.head(&self.caption);
        self.axes(&mut canvas, &places);
        size_key(&mut canvas, &places, most);
        // Small discs are drawn over large ones.
        drawn.sort_by(|a, b| places.radius(b.rss_bytes).total_cmp(&places.radius(a.rss_bytes)));
        drawn.iter().for_each(|b| bubble(&mut canvas, &places, b));
        name(&mut canvas, &places, &drawn);
        canvas.svg(&self.caption)
    }

    fn axes(&self, canvas: &mut Canvas, Places { x, y, top, bottom, .. }: &Places) {
        axes::ticks_below(canvas, x, Unit::Time, 0.0, &[(*top, *bottom)]);
        axes::ticks_left(canvas, y, RIGHT, |tick| Unit::Time.tick(tick));
        canvas.line((LEFT, *bottom), (RIGHT, *bottom), "axis");
        canvas.line((LEFT, *top), (LEFT, *bottom), "axis");
        axes::title_above(canvas, y, *top, RIGHT, &self.axis);
        axes::title_below(canvas, x, (LEFT, RIGHT), *bottom, "server CPU time per request");
    }
}

/// Draws the key: two discs of round sizes beside the frame.
fn size_key(canvas: &mut Canvas, places: &Places, most: f64) {
    if most <= 0.0 {
        return;
    }
    let (x, top) = (RIGHT + 14.0, places.top);
    canvas.text((x, top + 8.0), Anchor::Start, WIDTH - x - MARGIN, "faint", "memory");
    let power = 10_f64.powf(most.log10().floor());
    let round = [5.0, 2.0, 1.0].into_iter().map(|d| d * power).find(|v| *v <= most).unwrap_or(power);
    let mut y = top + 18.0;
    for bytes in [round, round / 5.0] {
        let r = places.radius(Some(bytes));
        canvas.disc((x + LARGEST, y + r), r, "bubble s0 f0", "");
        let words = Unit::Bytes.tick(bytes);
        canvas.text((x + LARGEST, y + 2.0 * r + 10.0), Anchor::Middle, 2.0 * LARGEST + 24.0, "faint", &words);
        y += 2.0 * r + 26.0;
    }
}

fn bubble(canvas: &mut Canvas, places: &Places, b: &Bubble) {
    let (x, y) = (places.x.at(b.cpu_ns.value), places.y.at(b.p99_ns.value));
    let series = if b.is_reference { "s1" } else { "s0" };
    if let Some((low, high)) = b.cpu_ns.interval {
        canvas.line((places.x.at(low), y), (places.x.at(high), y), series);
    }
    if let Some((low, high)) = b.p99_ns.interval {
        canvas.line((x, places.y.at(low)), (x, places.y.at(high)), series);
    }
    let class = match (b.is_reference, b.rss_bytes) {
        (_, None) => "hollow",
        (true, _) => "bubble s1 f1",
        (false, _) => "bubble s0 f0",
    };
    let memory = units::known(b.rss_bytes, units::bytes);
    let (cpu, p99) = (units::duration(b.cpu_ns.value), units::duration(b.p99_ns.value));
    let hover = format!("{}: {cpu} CPU per request, p99 {p99}, {memory}", b.label);
    canvas.disc((x, y), places.radius(b.rss_bytes), class, &hover);
}

/// Draws each name beside its disc; names that find no room appear on hover only.
fn name(canvas: &mut Canvas, places: &Places, drawn: &[&Bubble]) {
    let spot = |b: &&Bubble| {
        let (x, y) = (places.x.at(b.cpu_ns.value), places.y.at(b.p99_ns.value));
        let radius = places.radius(b.rss_bytes);
        let most = |bounds: Option<(f64, f64)>, at: f64, scale: &Scale| {
            let ends = bounds.map_or([at, at], |(low, high)| [scale.at(low), scale.at(high)]);
            ends.into_iter().map(|end| (end - at).abs()).fold(radius, f64::max)
        };
        let across = most(b.cpu_ns.interval, x, &places.x);
        let down = most(b.p99_ns.interval, y, &places.y);
        Spot { at: (x, y), across, down, length: length(&b.label).min(NAME) }
    };
    let spots: Vec<Spot> = drawn.iter().map(spot).collect();
    let found = around(&spots, (LEFT + 4.0, places.top + 2.0, RIGHT - 2.0, places.bottom - 2.0));
    for ((b, spot), place) in drawn.iter().zip(&spots).zip(found) {
        let Some(Place { at, anchor, is_far }) = place else { continue };
        if is_far {
            let (dx, dy) = (at.0 - spot.at.0, at.1 - spot.at.1);
            let share = places.radius(b.rss_bytes) / (dx * dx + dy * dy).sqrt().max(1.0);
            // A line to centred text ends above or below it.
            let end = if anchor == Anchor::Middle { at.1 - 8.0 * dy.signum() } else { at.1 };
            canvas.line((spot.at.0 + dx * share, spot.at.1 + dy * share), (at.0, end), "leader");
        }
        canvas.text(at, anchor, NAME, "ink", &b.label);
    }
}
