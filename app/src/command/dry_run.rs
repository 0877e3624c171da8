//! `drome run STUDY --dry-run`: estimates how long a study takes.

use super::report::ReportWriter;
use super::session::{measure, present};
use crate::signals::stop_flag;
use crate::stored::formats::Format;
use control::Catalog;
use judge::schedule::budget;
use judge::turns::shape::Shape;
use lab::Session;
use lab::setup::{Lineup, RunRules, SetupError};
use model::metric::{BEYOND_P99, LEAST_BEYOND};
use model::{Cell, Design, Forecast, Run, Study};
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
    (rules, pilot): (RunRules, Option<u16>),
    writer: &ReportWriter,
) -> anyhow::Result<ExitCode> {
    writer.ensure(&[Format::Terminal, Format::Json], "an estimate has only the formats terminal and json")?;
    let mut run = Lineup::of_study(catalog, study)?.run(name, study.clone(), rules);
    // A pilot measures only what is installed.
    let not_installed = if pilot.is_none() { count_not_installed(&mut run) } else { Vec::new() };
    let nobody = || SetupError::Nobody { study: name.to_owned() };
    let mut forecast = budget::forecast(&run).ok_or_else(nobody)?;
    forecast.round_measured = match pilot {
        Some(rounds) => Some(run_rounds(catalog, store, (name, study), rules, rounds)? / u32::from(rounds)),
        None => None,
    };
    (forecast.not_installed, forecast.too_small) = (not_installed, budget::too_small(&run));
    let text = match writer.to.format {
        Format::Json => report::json(&forecast),
        _ => writer.to.look().report(&in_words(&forecast, &run)),
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
    rules: RunRules,
    rounds: u16,
) -> anyhow::Result<Duration> {
    let mut short = study.clone();
    short.design.rounds = [rounds.into(), rounds.into()];
    let lineup = Lineup::of_study(catalog, &short)?;
    let mut run = lineup.run(name, short, RunRules { quick: true, ..rules });
    // All of them are measured: a round that the budget ends would seem shorter than rounds are.
    if let Some(forecast) = budget::forecast(&run) {
        let most = forecast.round_most.saturating_mul(rounds.into());
        run.study.design.budget = run.study.design.budget.max(most);
    }
    present(&run)?;
    let session = Session::open(run, lineup, stop_flag()?, store)?;
    session.begin()?;
    measure(&session)?;
    Ok(budget::spent(&store.starts(&session.run.id)?))
}

/// The forecast as text.
fn in_words(forecast: &Forecast, run: &Run) -> String {
    let mut lines = vec![
        format!("# {}", run.study.title),
        String::new(),
        format!(
            "{}, {}, {} per round; the longest heat takes about {}",
            several(forecast.contenders, "contender"),
            several(forecast.cells, "cell"),
            several(forecast.heats, "heat"),
            long(forecast.heat)
        ),
        format!(
            "one round: about {} (starting and stopping {}, warm-up {}, turns {})",
            long(forecast.round),
            long(forecast.starting),
            long(forecast.warming),
            long(forecast.turns)
        ),
        format!(
            "one round at most: {} (if every warm-up reaches its limit and every cycle is repeated as often as allowed)",
            long(forecast.round_most)
        ),
    ];
    if let Some(round) = forecast.round_measured {
        lines.push(format!("one round, measured: {}", long(round)));
    }
    for look in &forecast.looks {
        let measured = |round: Duration| round.saturating_mul(look.rounds as u32);
        let time = forecast.round_measured.map_or(look.time, measured);
        let fits = if time <= forecast.budget { "" } else { ", more than the budget" };
        lines.push(format!("{} rounds: about {}{fits}", look.rounds, long(time)));
    }
    lines.extend(run.study.cells.iter().filter_map(|cell| percentile(cell, &run.study.design)));
    lines.push(format!("budget: {}", humantime::format_duration(forecast.budget)));
    if !forecast.not_installed.is_empty() {
        let names = forecast.not_installed.join(", ");
        lines.push(format!(
            "not installed, but counted: {names}; `drome install {}` installs what is missing",
            run.name
        ));
    }
    lines.extend(forecast.too_small.clone());
    lines.join("\n") + "\n"
}

/// Whether a start in an open cell has enough answers for a p99, and how much sampling alone varies it; `None` for a closed cell.
fn percentile(cell: &Cell, design: &Design) -> Option<String> {
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
