//! `drome plan STUDY`: estimates how long a study takes.

use super::{catalog, store};
use crate::cli::{Common, MachineArgs};
use crate::console;
use crate::failure::WrongInput;
use clap::{Args, ValueEnum};
use lab::heat::schedule::budget;
use lab::setup;
use lab::{Catalog, Store};
use model::{Observation, Run, Study};
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Study to estimate; `drome list studies` lists them
    study: String,
    /// For a study in blocks: precision to reach, such as 2% [default: the study's]
    #[arg(long, value_name = "SHARE", value_parser = precision)]
    precision: Option<f64>,
    /// Run this many rounds or blocks first (4 without a number), and estimate from them [default: a study in
    /// rounds is estimated from its design, one in blocks from its latest run]
    #[arg(long, value_name = "BLOCKS", num_args = 0..=1, default_missing_value = "4",
          value_parser = clap::value_parser!(u16).range(3..=100))]
    pilot: Option<u16>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Terminal,
    Json,
}

/// Estimates the time and prints it.
pub fn run(args: &PlanArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let catalog = catalog(common)?;
    let study = catalog.study(&args.study)?;
    let store = store(common)?;
    if study.design.heats.is_some() {
        return heats(args, &catalog, &store, study);
    }
    let (run, observations) = match args.pilot {
        Some(blocks) => pilot(&catalog, &store, &args.study, study, blocks.into(), args.machine.allow_busy)?,
        None => latest(&store, &args.study, study)?,
    };
    let precision = args.precision.unwrap_or(study.design.precision);
    // The limits of the study as it is now, not those of the run.
    let mut asked = run;
    asked.study.design.budget = study.design.budget;
    asked.study.design.blocks = study.design.blocks;
    let told = lab::findings::forecast::forecast(&asked, &observations, precision, study.design.blocks[1]);
    console::print(&match args.format {
        Format::Terminal => console::text_style().report(&report::forecast::terminal(&told)),
        Format::Json => serde_json::to_string_pretty(&told)? + "\n",
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The time that a study in rounds takes: from its design and the usual warm-ups of its contenders' classes and,
/// after a pilot, from the measured time of a round. The latest run is not used.
fn heats(args: &PlanArgs, catalog: &Catalog, store: &Store, study: &Study) -> anyhow::Result<ExitCode> {
    let prepared = setup::prepare_study(catalog, study)?;
    let mut run =
        setup::study_run(&args.study, study.clone(), &prepared, &setup::works(catalog)?, None, false);
    run.study.design.precision = args.precision.unwrap_or(study.design.precision);
    let sum = budget::sum(&run).ok_or_else(|| {
        WrongInput(format!(
            "none of the contenders of {name} is installed: install them with `drome install {name}`",
            name = args.study
        ))
    })?;
    let round = match args.pilot {
        Some(rounds) => {
            let rounds = usize::from(rounds);
            let (run, _) = pilot(catalog, store, &args.study, study, rounds, args.machine.allow_busy)?;
            Some(budget::spent(&store.starts(&run.id)?) / rounds as u32)
        }
        None => None,
    };
    let told =
        super::plan_heats::Estimate { sum: &sum, run: &run, too_small: budget::too_small(&run), round };
    console::print(&match args.format {
        Format::Terminal => console::text_style().report(&told.terminal()),
        Format::Json => serde_json::to_string_pretty(&told.json())? + "\n",
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Runs a few rounds or blocks, which are stored as a first look.
fn pilot(
    catalog: &Catalog,
    store: &Store,
    name: &str,
    study: &Study,
    blocks: usize,
    may_be_busy: bool,
) -> anyhow::Result<(Run, Vec<Observation>)> {
    let mut short = study.clone();
    short.design.blocks = [blocks, blocks];
    let prepared = setup::prepare_study(catalog, study)?;
    let works = setup::works(catalog)?;
    let mut run = setup::study_run(name, short, &prepared, &works, None, true);
    run.allow_busy = Some(may_be_busy);
    let lab = setup::lab(&run, prepared, works, console::stop_flag()?, Some(store))?;
    store.add_run(&run)?;
    let mut watch = crate::watch::Watch::new();
    let findings = lab::run::run(&lab, &run, store, &mut watch);
    watch.finish();
    findings?;
    let (run, observations, _) = store.run(&run.id)?;
    Ok((run, observations))
}

/// The latest run of the study with trials of the same length as now; the noise of other runs differs.
fn latest(store: &Store, name: &str, study: &Study) -> anyhow::Result<(Run, Vec<Observation>)> {
    for listed in store.runs()?.iter().filter(|listed| listed.name == name && listed.kind.is_measured()) {
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

/// `2%` or `0.02`.
pub(super) fn precision(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(n) if n * unit > 0.0 && n * unit < 1.0 => Ok(n * unit),
        _ => Err("must be a share above 0 and below 1, such as 2% or 0.02".to_owned()),
    }
}
