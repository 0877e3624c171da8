//! `drome run STUDY`: every step from a study to its report; with `--dry-run`, only an estimate of its time.

use super::part::PartArgs;
use super::profile_dir::ProfileDir;
use super::report::{ReportOutputArgs, ReportWriter};
use super::servers_on::{self, ServersOnArgs};
use super::session::{check_budget, conclude, measure, present};
use super::{as_published, catalog, dry_run, repeat, store};
use crate::failure::{WrongInput, first_given};
use crate::options::{Common, MachineArgs};
use crate::signals::{ensure_not_stopped, stop_flag};
use anyhow::{Context, bail};
use clap::Args;
use control::Catalog;
use judge::schedule::budget;
use judge::schedule::stopping_rule::percent;
use lab::setup::{self, Lineup, RunRules};
use lab::{LabError, Session};
use model::Run;
use model::forecast::Look;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use store::Listed;
use store::{Store, StoreError};

/// Raw arguments.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Study to run; `drome list studies` lists them
    #[arg(required_unless_present = "all")]
    study: Option<String>,
    /// Run all studies, one after the other; --output is then a folder with a report, or a folder of charts, for each
    #[arg(long, conflicts_with_all = ["study", "resume", "contender", "cell"])]
    all: bool,
    /// Only estimate how long the run takes
    #[arg(long, conflicts_with_all = ["all", "install", "as_published", "resume", "profile", "seed", "server_on", "server_address", "put", "put_from"])]
    dry_run: bool,
    /// With --dry-run: run this many rounds first (2 without a number), and estimate from them [default: it is estimated from the study's
    /// design]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "2", requires = "dry_run",
          value_parser = clap::value_parser!(u16).range(2..=100))]
    pilot: Option<u16>,
    /// Install what is missing: packages with the system's package manager, builds in the cache folder
    #[arg(long)]
    install: bool,
    /// Install without asking
    #[arg(long, short, requires = "install")]
    yes: bool,
    /// Run the published page's own command lines unchanged, instead of a fair comparison
    #[arg(long, conflicts_with_all = ["quick", "resume", "seed", "budget", "precision"])]
    as_published: bool,
    /// Continue the latest run of this study: an interrupted one or, with --budget or --precision, one that has ended
    #[arg(long, conflicts_with_all = ["quick", "seed", "contender", "cell"])]
    resume: bool,
    #[command(flatten)]
    part: PartArgs,
    /// After the run, sample one more start of each contender under the load of each cell, print what it spends more CPU time on than the
    /// reference, and write flame graphs and their differences to this folder; with --all, to a folder in it for each study
    #[arg(long, value_name = "DIR", conflicts_with = "as_published")]
    profile: Option<PathBuf>,
    #[command(flatten)]
    servers_on: ServersOnArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Seed of everything that is random [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    report_output: ReportOutputArgs,
}

/// Where a study's report goes, and its profiles.
type Outputs = (ReportWriter, Option<ProfileDir>);

/// Installs what is missing if asked to, runs the study or all studies, and reports.
pub fn run(args: &RunArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let catalog = catalog(common)?;
    if let Some(name) = &args.study {
        let outputs = (args.report_output.writer()?, profile_dir(args, name)?);
        return one(args, common, &catalog, name, outputs);
    }
    let own = |name| -> anyhow::Result<(&String, Outputs)> {
        Ok((name, (args.report_output.of_one(name)?.writer()?, profile_dir(args, name)?)))
    };
    let writers = catalog.studies.keys().map(own).collect::<anyhow::Result<Vec<_>>>()?;
    let (mut failed, mut code) = (Vec::new(), ExitCode::SUCCESS);
    let stop = stop_flag()?;
    for (name, outputs) in writers {
        // The signal may have come while the report of the study before was written.
        ensure_not_stopped(&stop)?;
        note!("study {name}");
        match one(args, common, &catalog, name, outputs) {
            Ok(ended) if ended == ExitCode::SUCCESS => {}
            Ok(ended) => code = ended,
            // An interruption ends all studies.
            Err(error) if matches!(error.downcast_ref(), Some(LabError::Interrupted)) => return Err(error),
            // A study that can't be run does not keep the others from running.
            Err(error) => {
                alert!("drome: {name}: {error:#}");
                failed.push(name.as_str());
            }
        }
    }
    if failed.is_empty() {
        return Ok(code);
    }
    bail!("{} of {} studies could not be run: {}", failed.len(), catalog.studies.len(), failed.join(", "))
}

/// One study.
fn one(
    args: &RunArgs,
    common: &Common,
    catalog: &Catalog,
    name: &str,
    (writer, profile_dir): Outputs,
) -> anyhow::Result<ExitCode> {
    let study = args.part.of(catalog.study(name)?)?;
    let store = store(common)?;
    let rules = RunRules { seed: args.seed, quick: args.part.quick, allow_busy: args.machine.allow_busy };
    if args.dry_run {
        return dry_run::run(catalog, &store, (name, &study), (rules, args.pilot), &writer);
    }
    let begun = args.resume.then(|| begun(args, &store, name)).transpose()?;
    // A resumed run uses the study as it was when the run began.
    let study = begun.as_ref().map_or(study, |run| run.study.clone());
    let mut lineup = Lineup::of_study(catalog, &study)?;
    let stop = stop_flag()?;
    refuse_elsewhere(args, args.servers_on.is_given() || study.server_on.is_some())?;
    let remote = args.servers_on.connect(study.server_on.as_deref())?;
    servers_on::take(remote.as_ref(), &mut lineup)?;
    if args.install {
        servers_on::install(remote.as_ref(), &mut lineup, args.yes, &stop);
    }
    if args.as_published {
        return as_published::run((name, &study), lineup, &store, &writer);
    }
    let mut run = lineup.run(name, study, rules);
    run.command =
        repeat::own().into_iter().map(|word| if word == "--all" { name.to_owned() } else { word }).collect();
    servers_on::describe(remote.as_ref(), &mut run)?;
    if let Some(begun) = begun {
        same_as_begun(&begun, &run)?;
        run = begun;
    }
    announce(&run, args.part.budget, budget::spent(&store.starts(&run.id)?))?;
    let session = Session::open(run, lineup, stop, &store)?;
    if args.resume {
        session.resume()?;
    } else {
        session.begin()?;
    }
    let findings = measure(&session);
    let findings = findings.with_context(|| format!("run {}; `--resume` continues it", session.run.id))?;
    let code = conclude(&session, &findings, &writer)?;
    // Last, when everything about the run is printed and stored.
    if let Some(profile_dir) = profile_dir {
        profile_dir.explain(&session)?;
    }
    Ok(code)
}

/// Refuses what needs the servers on this machine.
fn refuse_elsewhere(args: &RunArgs, is_elsewhere: bool) -> Result<(), WrongInput> {
    let needs = [("--as-published", args.as_published), ("--profile", args.profile.is_some())];
    if let Some(option) = first_given(&needs).filter(|_| is_elsewhere) {
        refuse!("{option} needs the servers on this machine: use it without --server-on");
    }
    Ok(())
}

/// The folder for the profiles of a study, if they are asked for.
fn profile_dir(args: &RunArgs, study: &str) -> Result<Option<ProfileDir>, WrongInput> {
    let Some(folder) = &args.profile else { return Ok(None) };
    let own = if args.all { folder.join(study) } else { folder.clone() };
    ProfileDir::to(&own).map(Some)
}

/// Checks that everything is still as it was when the run began.
fn same_as_begun(begun: &Run, now: &Run) -> anyhow::Result<()> {
    let changes = setup::changes_since(begun, now);
    if changes.is_empty() {
        return Ok(());
    }
    refuse!(
        "run {} can't be resumed: {}; restore that, or start a new run without --resume",
        begun.id,
        changes.join("; ")
    )
}

/// The run to resume: the latest that was interrupted or, with a new budget or precision, the latest of all.
fn begun(args: &RunArgs, store: &Store, study: &str) -> anyhow::Result<Run> {
    let goes_on = args.part.budget.is_some() || args.part.precision.is_some();
    let of_study = store.runs()?.into_iter().filter(|run| run.name == study);
    let (all, pulled): (Vec<Listed>, Vec<Listed>) = of_study.partition(|run| run.machine.is_none());
    let open = all.iter().find(|run| run.ended.is_none() || goes_on);
    // What was pulled is refused only where there is nothing else to resume.
    let nearest = open.or_else(|| pulled.iter().find(|run| run.ended.is_none() || goes_on));
    if let Some(Listed { id, machine: Some(machine), .. }) = nearest {
        return Err(StoreError::Pulled { run: id.clone(), machine: machine.clone() }.into());
    }
    let Some(open) = open else {
        let why = if all.is_empty() {
            "the store has none;"
        } else {
            "all have ended; continue the latest with a larger --budget or a smaller --precision, or"
        };
        refuse!("there is no run of {study} to resume: {why} start a new run without --resume");
    };
    let (mut run, ended) = store.run(&open.id)?;
    if run.fleet.is_some() {
        let id = &run.id;
        refuse!("run {id} is measured on several machines: `drome heat owed {id}` says what it still needs");
    }
    if run.quick && ended.is_some() {
        refuse!(
            "run {} is a first look (--quick) that has ended, so it can't be resumed: start a full run without --resume",
            run.id
        );
    }
    run.study = args.part.of(&run.study)?;
    Ok(run)
}

/// Prints which contenders are missing, and how long the run takes at least; fails if it can't begin. `budget`: as
/// asked for; `spent`: the time that the run has taken so far.
fn announce(run: &Run, budget: Option<Duration>, spent: Duration) -> anyhow::Result<()> {
    let present = present(run)?;
    check_budget(run, budget.is_some())?;
    let design = &run.study.design;
    if budget.is_some_and(|budget| budget <= spent) {
        refuse!(
            "--budget {} is too small: it covers the whole run, and run {} has already taken {}; use a larger one",
            humantime::format_duration(design.budget),
            run.id,
            report::progress::long(spent)
        );
    }
    let Some(forecast) = budget::forecast(run) else { return Ok(()) };
    let Look { rounds: after, time: about } = forecast.first_look();
    note!(
        "{} and the reference: {} per round of about {}; {after} rounds take about {}; ends when every \
         comparison between neighbours is decided or known within ±{} %, or the budget of {} is spent; run {}",
        report::units::several(present, "contender"),
        report::units::several(forecast.heats, "heat"),
        report::progress::long(forecast.round),
        report::progress::long(about),
        percent(design.precision),
        humantime::format_duration(design.budget),
        run.id
    );
    if !spent.is_zero() {
        note!("resuming the run, which has taken {} so far", report::progress::long(spent));
    } else if about > design.budget {
        note!("the budget is too short for that many rounds: use a larger --budget");
    }
    Ok(())
}
