//! `drome run STUDY --dry-run`: estimates how long a study takes.

use super::report::{Format, ReportWriter};
use super::session::{measure, present};
use crate::signals::stop_flag;
use control::Catalog;
use judge::schedule::budget::{self, Sum};
use judge::turns::shape::Shape;
use lab::Session;
use lab::setup::{Lineup, Rules, SetupError};
use model::forecast::{Forecast, Look};
use model::metric::{BEYOND_P99, LEAST_BEYOND};
use model::{Cell, Run, Study};
use report::progress::long;
use report::units::several;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;
use store::Store;

/// The number of answers from which a p99 is known.
const ENOUGH_FOR_P99: f64 = LEAST_BEYOND / BEYOND_P99;

/// Estimates the time and prints it. `pilot`: the number of rounds that are run first.
pub fn run(
    catalog: &Catalog,
    store: &Store,
    (name, study): (&str, &Study),
    (rules, pilot): (Rules, Option<u16>),
    writer: &ReportWriter,
) -> anyhow::Result<ExitCode> {
    writer.ensure(&[Format::Terminal, Format::Json], "an estimate has only the formats terminal and json")?;
    let mut run = Lineup::of_study(catalog, study)?.run(name, study.clone(), rules);
    // A pilot measures only what is installed.
    let not_installed = if pilot.is_none() { count_not_installed(&mut run) } else { Vec::new() };
    let nobody = || SetupError::Nobody { study: name.to_owned() };
    let sum = budget::sum(&run).ok_or_else(nobody)?;
    let round = match pilot {
        Some(rounds) => Some(run_rounds(catalog, store, (name, study), rules, rounds)? / u32::from(rounds)),
        None => None,
    };
    let too_small = budget::too_small(&run);
    let told = Estimate { sum: &sum, run: &run, not_installed, too_small, round };
    let text = match writer.to.format {
        Format::Json => report::json(&told.forecast()),
        _ => writer.to.look().report(&told.terminal()),
    };
    writer.to.write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Makes every contender of the run take part, and returns the names of those that are not installed.
fn count_not_installed(run: &mut Run) -> Vec<String> {
    let lacking = run.contenders.iter_mut().filter_map(|(name, e)| e.missing.take().map(|_| name));
    // A contender on both tracks is installed once.
    let names: BTreeSet<&str> = lacking.filter_map(|name| name.split('@').next()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Runs a few rounds, which are stored as a first look, and returns the time that they took.
fn run_rounds(
    catalog: &Catalog,
    store: &Store,
    (name, study): (&str, &Study),
    rules: Rules,
    rounds: u16,
) -> anyhow::Result<Duration> {
    let mut short = study.clone();
    short.design.rounds = [rounds.into(), rounds.into()];
    let lineup = Lineup::of_study(catalog, &short)?;
    let mut run = lineup.run(name, short, Rules { quick: true, ..rules });
    // All of them are measured: a round that the budget ends would seem shorter than rounds are.
    if let Some(sum) = budget::sum(&run) {
        let most = sum.round_most.saturating_mul(rounds.into());
        run.study.design.budget = run.study.design.budget.max(most);
    }
    present(&run)?;
    let session = Session::open(run, lineup, stop_flag()?, store)?;
    session.begin()?;
    measure(&session)?;
    Ok(budget::spent(&store.starts(&session.run.id)?))
}

/// The estimate to print.
struct Estimate<'a> {
    /// The estimate from the study's design.
    sum: &'a Sum,
    /// The run, not started.
    run: &'a Run,
    /// The names of the contenders that are counted although they are not installed.
    not_installed: Vec<String>,
    /// Why the budget is too small, if it is.
    too_small: Option<String>,
    /// The mean time of a pilot's rounds.
    round: Option<Duration>,
}

impl Estimate<'_> {
    /// The estimate as text.
    fn terminal(&self) -> String {
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

    /// The estimate as `drome run --dry-run --format json` prints it.
    fn forecast(&self) -> Forecast {
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
