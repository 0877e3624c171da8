//! What a study in heats takes, told before anything is started.

use lab::heat::budget::Sum;
use model::Run;
use report::progress::long;
use report::units::several;
use serde_json::{Value, json};
use std::time::Duration;

/// What is told.
pub struct Told<'a> {
    /// By design.
    pub sum: &'a Sum,
    /// Not begun.
    pub run: &'a Run,
    /// Why the budget is too small, if it is.
    pub too_small: Option<String>,
    /// What a round took in a pilot.
    pub round: Option<Duration>,
}

impl Told<'_> {
    /// In words.
    pub fn terminal(&self) -> String {
        let Sum { contenders, heats, heat, round, starting, warming, turns, looks, round_most, budget } =
            self.sum;
        let cells = self.run.study.cells.len();
        let mut lines = vec![
            format!("# {}", self.run.study.title),
            String::new(),
            format!(
                "{}, {}, {} a round; a heat of about {} at the longest",
                several(*contenders, "contender"),
                several(cells, "cell"),
                several(*heats, "heat"),
                long(*heat)
            ),
            format!(
                "a round: about {} (starting and stopping {}, warming up {}, turns {})",
                long(*round),
                long(*starting),
                long(*warming),
                long(*turns)
            ),
            format!(
                "a round at the most: {} (every warm-up at its limit, every cycle made up for as often as it may be)",
                long(*round_most)
            ),
        ];
        if let Some(round) = self.round {
            lines.push(format!("a round as it was measured: {}", long(round)));
        }
        for (rounds, by_design) in looks {
            let time = self.round.map_or(*by_design, |round| round.saturating_mul(*rounds as u32));
            let fits = if time <= *budget { "" } else { ", more than the budget" };
            lines.push(format!("after {rounds} rounds: about {}{fits}", long(time)));
        }
        lines.push(format!("the budget: {}", humantime::format_duration(*budget)));
        lines.extend(self.too_small.clone());
        lines.join("\n") + "\n"
    }

    /// As JSON; times in seconds, null where nothing is known.
    pub fn json(&self) -> Value {
        let Sum { contenders, heats, heat, round, starting, warming, turns, looks, round_most, budget } =
            self.sum;
        let seconds = |time: &Duration| time.as_secs_f64();
        let look = |(rounds, time): &(usize, Duration)| json!({ "rounds": rounds, "seconds": seconds(time) });
        json!({
            "study": self.run.name,
            "contenders": contenders,
            "cells": self.run.study.cells.len(),
            "heats_a_round": heats,
            "heat_s": seconds(heat),
            "round_s": seconds(round),
            "starting_s": seconds(starting),
            "warming_s": seconds(warming),
            "turns_s": seconds(turns),
            "round_most_s": seconds(round_most),
            "round_measured_s": self.round.as_ref().map(seconds),
            "looks": looks.iter().map(look).collect::<Vec<_>>(),
            "budget_s": seconds(budget),
            "too_small": self.too_small,
        })
    }
}
