//! The output of `drome plan` for a study in rounds.

use lab::heat::schedule::budget::Sum;
use model::Run;
use model::forecast::{Look, RoundsForecast};
use report::progress::long;
use report::units::several;
use std::time::Duration;

/// The estimate to print.
pub struct Estimate<'a> {
    /// The estimate from the study's design.
    pub sum: &'a Sum,
    /// The run, not started.
    pub run: &'a Run,
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
        lines.push(format!("budget: {}", humantime::format_duration(*budget)));
        lines.extend(self.too_small.clone());
        lines.join("\n") + "\n"
    }

    /// The estimate as `drome plan --format json` prints it.
    pub fn forecast(&self) -> RoundsForecast {
        let Sum { contenders, heats, heat, round, starting, warming, turns, looks, round_most, budget } =
            self.sum;
        let look = |(rounds, time): &(usize, Duration)| Look { rounds: *rounds, seconds: time.as_secs_f64() };
        RoundsForecast {
            study: self.run.name.clone(),
            contenders: *contenders,
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
