//! `drome plan STUDY`: estimates how long a study takes.

use super::format::{Destination, FormatArgs};
use super::part::PartArgs;
use super::session::{measure, present};
use super::{catalog, store};
use crate::failure::WrongInput;
use crate::options::{Common, MachineArgs};
use crate::signals::stop_flag;
use clap::{Args, ValueEnum};
use lab::heat::schedule::budget;
use lab::setup::{Lineup, Rules, SetupError};
use lab::store::Listed;
use lab::{Catalog, Session, Store};
use model::{Observation, Run, Study};
use serde::Serialize;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Study to estimate; `drome list studies` lists them
    study: String,
    #[command(flatten)]
    part: PartArgs,
    /// Run this many rounds or blocks first (4 without a number), and estimate from them [default: a study in
    /// rounds is estimated from its design, one in blocks from its latest run]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "4",
          value_parser = clap::value_parser!(u16).range(3..=100))]
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
    if study.design.heats.is_some() {
        return heats(args, &destination, &catalog, &store, study);
    }
    let (run, observations) = match args.pilot {
        Some(blocks) => pilot(args, &catalog, &store, study, blocks)?,
        None => latest(&store, &args.study, study)?,
    };
    // The limits of the study as it is now, not those of the run.
    let mut asked = run;
    asked.study.design.budget = study.design.budget;
    asked.study.design.blocks = study.design.blocks;
    let [_, most] = study.design.blocks;
    let told = lab::findings::forecast::forecast(&asked, &observations, study.design.precision, most);
    show(&destination, &report::forecast::terminal(&told), &told)
}

/// Writes an estimate in the requested format.
fn show(destination: &Destination<Format>, words: &str, told: &impl Serialize) -> anyhow::Result<ExitCode> {
    let text = match destination.format {
        Format::Terminal => destination.look().report(words),
        Format::Json => serde_json::to_string_pretty(told)? + "\n",
    };
    destination.write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The time that a study in rounds takes: from its design and the usual warm-ups of its contenders' classes and,
/// after a pilot, from the measured time of a round. The latest run is not used.
fn heats(
    args: &PlanArgs,
    destination: &Destination<Format>,
    catalog: &Catalog,
    store: &Store,
    study: &Study,
) -> anyhow::Result<ExitCode> {
    let rules = Rules { quick: args.part.quick, ..Rules::default() };
    let mut run = Lineup::of_study(catalog, study)?.run(&args.study, study.clone(), rules);
    // A pilot measures only what is installed.
    let not_installed = if args.pilot.is_none() { count_not_installed(&mut run) } else { Vec::new() };
    let nobody = || SetupError::Nobody { study: args.study.clone() };
    let sum = budget::sum(&run).ok_or_else(nobody)?;
    let round = match args.pilot {
        Some(rounds) => {
            let (run, _) = pilot(args, catalog, store, study, rounds)?;
            Some(budget::spent(&store.starts(&run.id)?) / u32::from(rounds))
        }
        None => None,
    };
    let too_small = budget::too_small(&run);
    let told = super::plan_heats::Estimate { sum: &sum, run: &run, not_installed, too_small, round };
    show(destination, &told.terminal(), &told.forecast())
}

/// Makes every contender of the run take part, and returns the names of those that are not installed.
fn count_not_installed(run: &mut Run) -> Vec<String> {
    let lacking = run.contenders.iter_mut().filter_map(|(name, e)| e.missing.take().map(|_| name));
    // A contender on both tracks is installed once.
    let names: BTreeSet<&str> = lacking.filter_map(|name| name.split('@').next()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Runs a few rounds or blocks, which are stored as a first look.
fn pilot(
    args: &PlanArgs,
    catalog: &Catalog,
    store: &Store,
    study: &Study,
    blocks: u16,
) -> anyhow::Result<(Run, Vec<Observation>)> {
    let mut short = study.clone();
    short.design.blocks = [blocks.into(), blocks.into()];
    let lineup = Lineup::of_study(catalog, &short)?;
    let rules = Rules { seed: None, quick: true, allow_busy: args.machine.allow_busy };
    let mut run = lineup.run(&args.study, short, rules);
    // A pilot in rounds measures all of them: a round that the budget ends would seem shorter than rounds are.
    if let Some(sum) = budget::sum(&run) {
        let most = sum.round_most.saturating_mul(blocks.into());
        run.study.design.budget = run.study.design.budget.max(most);
    }
    present(&run)?;
    let session = Session::open(run, lineup, stop_flag()?, store)?;
    session.begin()?;
    measure(&session)?;
    let observations = session.observations()?;
    Ok((session.run, observations))
}

/// The latest run of the study with trials of the same length as now; the noise of other runs differs.
fn latest(store: &Store, name: &str, study: &Study) -> anyhow::Result<(Run, Vec<Observation>)> {
    // Another machine has other noise.
    let is_own =
        |listed: &&Listed| listed.name == name && listed.kind.is_measured() && listed.machine.is_none();
    for listed in store.runs()?.iter().filter(is_own) {
        let (run, observations, _) = store.run(&listed.id)?;
        let (then, now) = (&run.study, study);
        let is_alike = (then.design.measure, then.design.warmup) == (now.design.measure, now.design.warmup);
        let is_whole = then.cells == now.cells && then.contenders == now.contenders;
        if is_alike && is_whole && !observations.is_empty() {
            return Ok((run, observations));
        }
    }
    Err(WrongInput(format!(
        "no stored run of {name} has trials of the length that the study has now: run a few blocks with `drome plan {name} \
         --pilot`"
    ))
    .into())
}
