//! `drome plan STUDY`: estimates how long a study takes.

use super::format::{Destination, FormatArgs};
use super::part::PartArgs;
use super::session::{measure, present};
use super::{catalog, store};
use crate::options::{Common, MachineArgs};
use crate::signals::stop_flag;
use clap::{Args, ValueEnum};
use control::Catalog;
use judge::schedule::budget;
use lab::Session;
use lab::setup::{Lineup, Rules, SetupError};
use model::{Run, Study};
use serde::Serialize;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;
use store::Store;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Study to estimate; `drome list studies` lists them
    study: String,
    #[command(flatten)]
    part: PartArgs,
    /// Run this many rounds first (2 without a number), and estimate from them [default: it is estimated from the study's
    /// design]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "2",
          value_parser = clap::value_parser!(u16).range(2..=100))]
    pilot: Option<u16>,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    format: FormatArgs<Format>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Terminal,
    Json,
}

/// Estimates the time and prints it.
pub fn run(args: &PlanArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let destination = args.format.destination()?;
    let catalog = catalog(common)?;
    let study = &args.part.of(catalog.study(&args.study)?)?;
    let store = store(common)?;
    let rules = Rules { quick: args.part.quick, ..Rules::default() };
    let mut run = Lineup::of_study(&catalog, study)?.run(&args.study, study.clone(), rules);
    // A pilot measures only what is installed.
    let not_installed = if args.pilot.is_none() { count_not_installed(&mut run) } else { Vec::new() };
    let nobody = || SetupError::Nobody { study: args.study.clone() };
    let sum = budget::sum(&run).ok_or_else(nobody)?;
    let round = match args.pilot {
        Some(rounds) => Some(pilot(args, &catalog, &store, study, rounds)? / u32::from(rounds)),
        None => None,
    };
    let too_small = budget::too_small(&run);
    let told = super::plan_heats::Estimate { sum: &sum, run: &run, not_installed, too_small, round };
    show(&destination, &told.terminal(), &told.forecast())
}

/// Writes an estimate in the requested format.
fn show(destination: &Destination<Format>, words: &str, told: &impl Serialize) -> anyhow::Result<ExitCode> {
    let text = match destination.format {
        Format::Terminal => destination.look().report(words),
        Format::Json => report::json(told),
    };
    destination.write(text.as_bytes())?;
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
fn pilot(
    args: &PlanArgs,
    catalog: &Catalog,
    store: &Store,
    study: &Study,
    rounds: u16,
) -> anyhow::Result<Duration> {
    let mut short = study.clone();
    short.design.rounds = [rounds.into(), rounds.into()];
    let lineup = Lineup::of_study(catalog, &short)?;
    let rules = Rules { seed: None, quick: true, allow_busy: args.machine.allow_busy };
    let mut run = lineup.run(&args.study, short, rules);
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
