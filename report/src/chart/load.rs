//! Latency over the offered load: how long an answer takes as more is asked for, with the server's CPU on the same axis.

use super::canvas::{Anchor, length};
use super::curves::{self, LEFT, RIGHT, TOP, WIDTH};
use super::{Canvas, Caption, Scale};
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

/// Latency above, CPU below.
const UPPER: f64 = 260.0;
const LOWER: f64 = 90.0;

impl LoadChart {
    /// Drawn.
    pub fn svg(&self) -> String {
        // Labels beside the courses need so much room.
        let upper = UPPER.max(self.courses.len() as f64 * curves::NAME);
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
        let end = |c: &Course| c.steps.iter().rev().find_map(|s| s.latency_ns).map_or(middle, |ns| y.at(ns));
        curves::names(&mut canvas, self.courses.iter().map(|c| (c.label.as_str(), end(c))), middle);
        canvas.svg(&self.caption)
    }

    fn draw(&self, canvas: &mut Canvas, x: &Scale, y: &Scale, cpu: &Scale) {
        for (i, course) in self.courses.iter().enumerate() {
            let known = |value: fn(&Step) -> Option<f64>| {
                let of = move |s: &Step| Some((s.offered_per_s, value(s)?));
                course.steps.iter().filter_map(of).filter(|(_, v)| v.is_finite())
            };
            let latency: Vec<_> = known(|s| s.latency_ns).collect();
            let place = |(rate, ns): &(f64, f64)| (x.at(*rate), y.at(*ns));
            canvas.path(&latency.iter().map(place).collect::<Vec<_>>(), "curve", &curves::style(i));
            for step in &latency {
                let (rate, ns) = (units::rate(step.0), units::duration(step.1));
                let hover = format!("{}: {ns} at {rate}/s", course.label);
                canvas.disc(place(step), 3.0, "", &format!("fill:{}", curves::hue(i)), &hover);
            }
            let cores: Vec<_> =
                known(|s| s.server_cores).map(|(rate, cores)| (x.at(rate), cpu.at(cores))).collect();
            canvas.path(&cores, "curve", &curves::style(i));
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
    curves::latency_axis(canvas, y, &format!("{percentile} from when a request was due"));
    for tick in cpu.ticks(|_| 16.0) {
        canvas.text((LEFT - 8.0, cpu.at(tick)), Anchor::End, LEFT - 12.0, "faint", &format!("{tick:.2}"));
    }
    canvas.line((LEFT, middle), (RIGHT, middle), "axis", "");
    canvas.line((LEFT, bottom), (RIGHT, bottom), "axis", "");
    canvas.text((LEFT, middle + 18.0), Anchor::Start, RIGHT - LEFT, "faint", "server CPU, cores");
    let below =
        if x.is_log() { "offered requests per second (logarithmic)" } else { "offered requests per second" };
    curves::lower_title(canvas, bottom, below);
}
