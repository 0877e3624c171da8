//! Heats, starts and slices of servers with known rates, on a machine that drifts, for tests: no server, no clock.

use super::findings;
use crate::example;
use crate::example::in_heats::{self, in_cell, start};
use crate::schedule::owed;
use model::contender::Class;
use model::heat::{HUB, Heat, InCell, Slice, Start, StartOutcome};
use model::run::Raced;
use model::{Bound, Findings, Measured, Run};
use stats::random::{derive, uniform};

/// Servers with known rates.
pub struct World {
    pub run: Run,
    pub rounds: usize,
    pub seed: u64,
    /// The standard deviation of a start's rate, as a share of it.
    pub between_starts: f64,
    /// The highest rate that the load generator reaches with this contender.
    pub most: fn(&str) -> f64,
    /// The true rates by name; the hub has 30,000 requests/s.
    pub rates: Vec<(&'static str, f64)>,
    /// Whether a start of this contender fails in this round.
    pub fails: fn(&str, usize) -> bool,
    /// Whether a start of this contender settles in this round.
    pub settles: fn(&str, usize) -> Option<bool>,
    /// The share of its rate that a contender has in the slices of every start: from 0, the first, to 1, the last.
    pub warms_up: fn(&str, f64) -> f64,
}

const CYCLES: usize = 20;

impl World {
    /// These servers and a native reference of 200,000 requests/s in heats of three, without a limit by the load generator.
    pub fn of(rates: &[(&'static str, f64)]) -> Self {
        let names: Vec<&str> = rates.iter().map(|(name, _)| *name).collect();
        let mut run = crate::example::in_heats::run(&names);
        run.study.cells.truncate(1);
        run.environment.server_cpus = vec![0];
        for entrant in run.contenders.values_mut() {
            entrant.class = Some(Class::Native);
        }
        let rates = rates.iter().copied().chain([("reference", 200_000.0)]).collect();
        let (fails, settles) = (|_: &str, _| false, |_: &str, _| Some(true));
        let warms_up = |_: &str, _| 1.0;
        Self {
            warms_up,
            run,
            rounds: 6,
            seed: 1,
            between_starts: 0.005,
            most: |_| f64::INFINITY,
            rates,
            fails,
            settles,
        }
    }

    /// A race of these servers, each twice in a heat, without reference and hub.
    pub fn race(rates: &[(&'static str, f64)]) -> Self {
        let mut world = Self::of(rates);
        world.run.contenders.remove("reference");
        world.run.contenders.values_mut().for_each(|entrant| entrant.class = None);
        (world.run.race, world.run.copies, world.run.name) = (Some(Raced::default()), 2, "race".to_owned());
        (world.run.study.design.decide, world.run.study.design.rounds) = (true, [3, 108]);
        world
    }

    /// What follows from all rounds.
    pub fn findings(&self) -> Findings {
        self.findings_from(&self.kept())
    }

    /// What follows from this of the run.
    pub fn findings_from(&self, kept: &Measured) -> Findings {
        findings(&self.run, kept, Some("enough"))
    }

    /// All rounds, as the lab would deal, measure and store them.
    pub fn kept(&self) -> Measured {
        let (mut heats, mut starts, mut slices): (Vec<Heat>, Vec<Start>, Vec<Slice>) =
            (Vec::new(), Vec::new(), Vec::new());
        for round in 0..self.rounds {
            while let Some(heat) = owed::heat(&self.run, round, &heats, &starts) {
                let kept = self.heat(&heat);
                starts.extend(kept.0);
                slices.extend(kept.1);
                heats.push(heat);
            }
        }
        Measured { heats, starts, slices }
    }

    fn heat(&self, heat: &Heat) -> (Vec<Start>, Vec<Slice>) {
        let of_heat = derive(&[self.seed, heat.round as u64, heat.number as u64]);
        // The machine is up to 30 % slower in one heat than in another, and up to 10 % in one cycle than in another.
        let level = 1.0 - 0.3 * uniform(of_heat, 0);
        let (mut starts, mut slices) = (Vec::new(), Vec::new());
        for (nth, (name, copy)) in heat.servers().into_iter().enumerate() {
            let of_start = derive(&[of_heat, 1, nth as u64]);
            let kept = Start { copy, ..start(heat.round, heat.number, name, &[]) };
            if (self.fails)(name, heat.round) {
                let outcome = StartOutcome::Failed("it ended (exit status: 1)".to_owned());
                starts.push(Start { outcome, ..kept });
                continue;
            }
            let rate = self.rate(name) * (self.between_starts * gauss(of_start, 0)).exp();
            let cells = heat.cells.iter().map(|cell| (*cell, self.in_cell(name, heat.round, rate)));
            starts.push(Start { cells: cells.collect(), ..kept });
            for cell in &heat.cells {
                for cycle in 0..CYCLES {
                    let speed = level * (1.0 - 0.1 * uniform(derive(&[of_heat, 2]), (cycle / 4) as u64));
                    let rate = rate * (self.warms_up)(name, cycle as f64 / (CYCLES - 1) as f64);
                    let noise = (0.01 * gauss(of_start, 1 + cycle as u64)).exp();
                    let rate = (rate * speed).min((self.most)(name)) * noise;
                    slices.push(slice(heat, *cell, cycle, name, copy, rate));
                }
            }
        }
        (starts, slices)
    }

    fn rate(&self, name: &str) -> f64 {
        self.rates.iter().find(|(own, _)| *own == name).map_or(30_000.0, |(_, rate)| *rate)
    }

    fn in_cell(&self, name: &str, round: usize, rate: f64) -> InCell {
        let mut measurement = example::measurement(rate.min((self.most)(name)));
        let is_held_back = rate > (self.most)(name);
        measurement.verdict.bound = if is_held_back { Bound::Client } else { Bound::Server };
        let settled = if name == HUB { Some(true) } else { (self.settles)(name, round) };
        InCell { settled, measurement: Some(Box::new(measurement)), ..in_cell() }
    }
}

fn slice(heat: &Heat, cell: usize, cycle: usize, name: &str, copy: usize, rate: f64) -> Slice {
    let answers = (rate * in_heats::slice().ns as f64 / 1e9) as u64;
    let (round, heat, contender) = (heat.round, heat.number, name.to_owned());
    Slice { round, heat, cell, cycle, contender, copy, answers, ..in_heats::slice() }
}

/// A value from about a normal distribution with a standard deviation of 1.
fn gauss(seed: u64, nth: u64) -> f64 {
    (0..12).map(|i| uniform(seed, nth * 12 + i)).sum::<f64>() - 6.0
}
