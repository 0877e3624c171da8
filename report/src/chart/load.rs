//! Latency over the offered load: how long an answer takes as more is asked for, with the server's CPU on the same axis.

use super::canvas::{Anchor, DASHES, HUES, length};
use super::{Canvas, Caption, Scale, labels};
use crate::units;

/// One offered rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Requests per second that were asked for.
    pub offered_per_s: f64,
    /// The percentile; none: not measured, or not to be believed.
    pub latency_ns: Option<f64>,
    /// Cores that the server kept busy.
    pub server_cores: Option<f64>,
}

/// One contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// What it is called.
    pub label: String,
    /// From the lowest to the highest rate.
    pub steps: Vec<Step>,
}

/// The whole chart.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadChart {
    /// Its words.
    pub caption: Caption,
    /// Which percentile: `p99`.
    pub percentile: String,
    /// One a contender.
    pub courses: Vec<Course>,
}

const WIDTH: f64 = 860.0;
const TOP: f64 = 40.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = WIDTH - 190.0;
/// Latency above, CPU below.
const UPPER: f64 = 260.0;
const LOWER: f64 = 90.0;

impl LoadChart {
    /// Drawn.
    pub fn svg(&self) -> String {
        // Labels beside the courses need so much room.
        let upper = UPPER.max(self.courses.len() as f64 * 15.0);
        let (middle, bottom) = (TOP + upper, TOP + upper + 28.0 + LOWER);
        let mut canvas = Canvas::new(WIDTH, bottom + 46.0);
        canvas.text((12.0, 16.0), Anchor::Start, WIDTH - 24.0, "ink bold", &self.caption.title);
        let steps = || self.courses.iter().flat_map(|course| &course.steps);
        let x = Scale::for_sizes(steps().map(|s| s.offered_per_s), LEFT, RIGHT);
        let y = Scale::log(steps().filter_map(|s| s.latency_ns), middle, TOP + 8.0);
        let most = steps().filter_map(|s| s.server_cores).filter(|c| c.is_finite()).fold(0.0, f64::max);
        let cpu = Scale::linear(0.0, if most > 0.0 { most * 1.05 } else { 1.0 }, bottom, middle + 28.0);
        axes(&mut canvas, &x, &y, &cpu, (middle, bottom), &self.percentile);
        self.draw(&mut canvas, &x, &y, &cpu);
        self.names(&mut canvas, &y, middle);
        canvas.svg(&self.caption)
    }

    fn draw(&self, canvas: &mut Canvas, x: &Scale, y: &Scale, cpu: &Scale) {
        for (i, course) in self.courses.iter().enumerate() {
            let (hue, dash) = (HUES[i % HUES.len()], DASHES[i / HUES.len() % DASHES.len()]);
            let style =
                format!("stroke:{hue};stroke-dasharray:{}", if dash.is_empty() { "none" } else { dash });
            let shown = |value: fn(&Step) -> Option<f64>, scale: &Scale| -> Vec<(f64, f64)> {
                let known = course.steps.iter().filter_map(|s| Some((s.offered_per_s, value(s)?)));
                known.filter(|(_, v)| v.is_finite()).map(|(rate, v)| (x.at(rate), scale.at(v))).collect()
            };
            let latency = shown(|s| s.latency_ns, y);
            canvas.path(&latency, "curve", &style);
            for (place, step) in latency.iter().zip(course.steps.iter().filter(|s| s.latency_ns.is_some())) {
                let latency = units::known(step.latency_ns, units::duration);
                let hover = format!("{}: {latency} at {}/s", course.label, units::rate(step.offered_per_s));
                canvas.disc(*place, 3.0, "", &format!("fill:{hue}"), &hover);
            }
            canvas.path(&shown(|s| s.server_cores, cpu), "curve", &style);
        }
    }

    /// Each name beside the end of its course.
    fn names(&self, canvas: &mut Canvas, y: &Scale, middle: f64) {
        let end = |c: &Course| c.steps.iter().rev().find_map(|s| s.latency_ns).map_or(middle, |ns| y.at(ns));
        let ends: Vec<f64> = self.courses.iter().map(end).collect();
        for (i, place) in labels::apart(&ends, 15.0, TOP + 8.0, middle).into_iter().enumerate() {
            let hue = HUES[i % HUES.len()];
            canvas.line((RIGHT + 4.0, ends[i]), (RIGHT + 18.0, place), "leader", "");
            canvas.rect((RIGHT + 20.0, place - 4.0), (8.0, 8.0), "", &format!("fill:{hue}"));
            canvas.text((RIGHT + 32.0, place), Anchor::Start, 150.0, "ink", &self.courses[i].label);
        }
    }
}

fn axes(
    canvas: &mut Canvas,
    x: &Scale,
    y: &Scale,
    cpu: &Scale,
    (middle, bottom): (f64, f64),
    percentile: &str,
) {
    for tick in x.ticks(|v| length(&units::rate(v)) + 8.0) {
        canvas.line((x.at(tick), TOP), (x.at(tick), middle), "rule", "");
        canvas.line((x.at(tick), middle + 28.0), (x.at(tick), bottom), "rule", "");
        canvas.text((x.at(tick), bottom + 12.0), Anchor::Middle, 90.0, "faint", &units::rate(tick));
    }
    for tick in y.ticks(|_| 16.0) {
        canvas.line((LEFT, y.at(tick)), (RIGHT, y.at(tick)), "rule", "");
        canvas.text((LEFT - 8.0, y.at(tick)), Anchor::End, LEFT - 12.0, "faint", &units::duration(tick));
    }
    for tick in cpu.ticks(|_| 16.0) {
        canvas.text((LEFT - 8.0, cpu.at(tick)), Anchor::End, LEFT - 12.0, "faint", &format!("{tick:.2}"));
    }
    canvas.line((LEFT, middle), (RIGHT, middle), "axis", "");
    canvas.line((LEFT, bottom), (RIGHT, bottom), "axis", "");
    let latency = format!("{percentile} from when a request was due");
    canvas.text((LEFT, TOP - 8.0), Anchor::Start, RIGHT - LEFT, "faint", &latency);
    canvas.text((LEFT, middle + 18.0), Anchor::Start, RIGHT - LEFT, "faint", "server CPU, cores");
    let below =
        if x.is_log() { "offered requests per second (logarithmic)" } else { "offered requests per second" };
    canvas.text((f64::midpoint(LEFT, RIGHT), bottom + 31.0), Anchor::Middle, RIGHT - LEFT, "ink", below);
}
