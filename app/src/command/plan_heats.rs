//! The output of `drome plan`.

use judge::schedule::budget::Sum;
use judge::turns::shape::Shape;
use model::forecast::{Forecast, Look};
use model::{Cell, Run};
use report::progress::long;
use report::units::several;
use std::time::Duration;

/// The number of answers from which a p99 is known: at least ten of them must lie beyond a percentile.
const ENOUGH_FOR_P99: f64 = 1_000.0;

/// The estimate to print.
pub struct Estimate<'a> {
    /// The estimate from the study's design.
    pub sum: &'a Sum,
    /// The run, not started.
    pub run: &'a Run,
    /// The names of the contenders that are counted although they are not installed.
    pub not_installed: Vec<String>,
    /// Why the budget is too small, if it is.
    pub too_small: Option<String>,
    /// The mean time of a pilot's rounds.
    pub round: Option<Duration>,
}

impl Estimate<'_> {
    /// The estimate as text.
    pub fn terminal(&self) -> String {
        let Sum { contenders, heats, heat, round, starting, warming, turns, looks, round_most, budget } =
            self.sum;
        let cells = self.run.study.cells.len();
        let mut lines = vec![
            format!("# {}", self.run.study.title),
            String::new(),
            format!(
                "{}, {}, {} per round; the longest heat takes about {}",
                several(*contenders, "contender"),
                several(cells, "cell"),
                several(*heats, "heat"),
                long(*heat)
            ),
            format!(
                "one round: about {} (starting and stopping {}, warm-up {}, turns {})",
                long(*round),
                long(*starting),
                long(*warming),
                long(*turns)
            ),
            format!(
                "one round at most: {} (if every warm-up reaches its limit and every cycle is repeated as often as allowed)",
                long(*round_most)
            ),
        ];
        if let Some(round) = self.round {
            lines.push(format!("one round, measured: {}", long(round)));
        }
        for (rounds, by_design) in looks {
            let time = self.round.map_or(*by_design, |round| round.saturating_mul(*rounds as u32));
            let fits = if time <= *budget { "" } else { ", more than the budget" };
            lines.push(format!("{rounds} rounds: about {}{fits}", long(time)));
        }
        lines.extend(self.run.study.cells.iter().filter_map(|cell| self.percentile(cell)));
        lines.push(format!("budget: {}", humantime::format_duration(*budget)));
        if !self.not_installed.is_empty() {
            let names = self.not_installed.join(", ");
            lines.push(format!(
                "not installed, but counted: {names}; `drome install {}` installs what is missing",
                self.run.name
            ));
        }
        lines.extend(self.too_small.clone());
        lines.join("\n") + "\n"
    }

    /// Whether a start in an open cell has enough answers for a p99, and how much sampling alone varies it; `None` for a closed cell.
    fn percentile(&self, cell: &Cell) -> Option<String> {
        let design = &self.run.study.design;
        let shape = Shape::of(cell, design);
        let per_s = cell.load.rate_per_s().filter(|_| shape.is_window)?;
        let length = shape.length;
        let per_window = per_s.mean_per_s(length.as_nanos() as u64) * length.as_secs_f64();
        let answers = per_window * shape.cycles as f64;
        let told = if answers >= ENOUGH_FOR_P99 {
            // The deviation of a sample's log p99: exponential latencies, and lognormal ones of σ = 1.
            let [least, most] = [2.16, 3.73].map(|factor| 100.0 * factor / answers.sqrt());
            format!("sampling alone varies the p99 of one start by {least:.0} to {most:.0} %")
        } else {
            "too few for a p99, so contenders are ranked by a lower percentile".to_owned()
        };
        Some(format!("{}: about {answers:.0} answers per start: {told}", cell.title))
    }

    /// The estimate as `drome plan --format json` prints it.
    pub fn forecast(&self) -> Forecast {
        let Sum { contenders, heats, heat, round, starting, warming, turns, looks, round_most, budget } =
            self.sum;
        let look = |(rounds, time): &(usize, Duration)| Look { rounds: *rounds, seconds: time.as_secs_f64() };
        Forecast {
            study: self.run.name.clone(),
            contenders: *contenders,
            not_installed: self.not_installed.clone(),
            cells: self.run.study.cells.len(),
            heats_a_round: *heats,
            heat_s: heat.as_secs_f64(),
            round_s: round.as_secs_f64(),
            starting_s: starting.as_secs_f64(),
            warming_s: warming.as_secs_f64(),
            turns_s: turns.as_secs_f64(),
            round_most_s: round_most.as_secs_f64(),
            round_measured_s: self.round.as_ref().map(Duration::as_secs_f64),
            looks: looks.iter().map(look).collect(),
            budget_s: budget.as_secs_f64(),
            too_small: self.too_small.clone(),
        }
    }
}
