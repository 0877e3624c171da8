//! `drome heat`: one heat as one self-contained command, for any scheduler. Plans a run of several machines, prints the heats that it still
//! needs, measures one of them on the machine where drome runs, and adds the results to the run.

use super::machines;
use super::output::Output;
use super::part::part;
use super::pictures::Folder;
use super::push::host_name;
use super::session::check_budget;
use super::{catalog, store};
use crate::console;
use crate::failure::{INTERRUPTED, WRONG, WrongInput};
use crate::options::{Common, MachineArgs, precision};
use crate::signals::stop_flag;
use crate::watch::Watch;
use anyhow::{Context, anyhow, bail};
use clap::{ArgGroup, Args};
use control::Catalog;
use control::catalog::narrow::Wanted;
use lab::fleet::{self, Committed, FleetError, Owed, Planned, Spec};
use lab::setup::{self, Rules};
use model::Study;
use schemars::JsonSchema;
use serde::Serialize;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::shared;
use store::{Store, StoreError};

/// The name of a machine whose host name is unknown or can't be used.
const NAMELESS: &str = "nameless";

/// How long servers may take to stop when the standard input of `--tied` has ended. Their guards kill them when drome ends.
const TO_STOP: Duration = Duration::from_secs(5);

/// Raw arguments.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["plan", "owed", "spec", "commit"]))]
pub struct HeatArgs {
    /// Plan a run of this study for several machines, and print the run's name
    #[arg(long, value_name = "STUDY")]
    plan: Option<String>,
    /// Print the specs of the heats that this run still needs, one JSON object a line; if it needs none, record why it ended
    #[arg(long, value_name = "RUN")]
    owed: Option<String>,
    /// Measure the heat of this spec on this machine; `-` is standard input
    #[arg(long, value_name = "FILE", requires = "output")]
    spec: Option<PathBuf>,
    /// Add results to their run, each heat once, and print the outcome of each as a JSON object
    #[arg(long, value_name = "FILE", num_args = 1..)]
    commit: Vec<PathBuf>,
    /// With --plan: the number of machines, by which the budget is multiplied
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    machines: u16,
    /// With --spec: write the result to this file, which appears only when it is complete; `-` is standard output. With --plan or --owed:
    /// write the specs to this folder as well, a file each: ROUND-HEAT.json
    #[arg(long, short, value_name = "PATH", conflicts_with = "commit")]
    output: Option<PathBuf>,
    /// With --plan: measure exactly this many rounds [default: as many as the study's comparisons need]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: Option<u16>,
    /// With --plan: take a first look, without ranks
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// With --plan: measure only this contender, besides the reference; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    contender: Vec<String>,
    /// With --plan: measure only this cell, by its title or number; may be repeated
    #[arg(long, value_name = "CELL")]
    cell: Vec<String>,
    /// With --plan: longest time of the run on each machine [default: the study's]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    budget: Option<Duration>,
    /// With --plan: stop when every comparison is decided or known to this share, such as 2% [default: the study's]
    #[arg(long, value_name = "SHARE", value_parser = precision)]
    precision: Option<f64>,
    /// With --plan: seed of everything that is random [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    machine_rules: MachineArgs,
    /// With --spec: name of this machine in reports [default: its host name]
    #[arg(long, value_name = "NAME", value_parser = machines::parse)]
    machine: Option<String>,
    /// With --spec: end, with all servers, as soon as standard input ends, so that nothing outlives a worker that is killed
    #[arg(long)]
    tied: bool,
    /// With --spec: run the shell command that the spec names (`prepare`) before every start; without this, a spec with a command is refused
    #[arg(long)]
    allow_prepare: bool,
}

/// The outcome of a result: a line of `--commit`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitLine {
    /// The run that the heat belongs to, by its name.
    run: String,
    /// The round of the heat, from 0.
    round: usize,
    /// The heat's number in the round, from 0.
    heat: usize,
    /// The number of the attempt at the heat that the run has.
    attempt: usize,
    /// The machine that measured that attempt.
    machine: String,
    /// Whether this result was added.
    outcome: CommitOutcome,
}

/// Whether a result was added.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CommitOutcome {
    /// It was added.
    Committed,
    /// The run already had the heat, so this result is not counted.
    Already,
}

impl CommitLine {
    fn of(done: Committed) -> Self {
        let Committed { run, round, number: heat, attempt, machine, is_new } = done;
        let outcome = if is_new { CommitOutcome::Committed } else { CommitOutcome::Already };
        Self { run, round, heat, attempt, machine, outcome }
    }
}

/// Plans a run, prints the heats that it still needs, measures one of them, or adds results: whichever the arguments ask for.
pub fn run(args: &HeatArgs, common: &Common) -> anyhow::Result<ExitCode> {
    refuse_without_effect(args)?;
    match (&args.plan, &args.owed, &args.spec) {
        (Some(study), _, _) => plan(args, common, study),
        (_, Some(run), _) => owed(args, &store(common)?, run),
        (_, _, Some(spec)) => measure(args, common, spec),
        _ => commit(args, &store(common)?),
    }
}

/// Refuses options of `--plan` and of `--spec` without these. Clap's `requires` passes over what the group of the four excludes.
fn refuse_without_effect(args: &HeatArgs) -> Result<(), WrongInput> {
    let of_plan = [
        ("--machines", args.machines != 1),
        ("--rounds", args.rounds.is_some()),
        ("--quick", args.quick),
        ("--contender", !args.contender.is_empty()),
        ("--cell", !args.cell.is_empty()),
        ("--budget", args.budget.is_some()),
        ("--precision", args.precision.is_some()),
        ("--seed", args.seed.is_some()),
    ];
    let of_spec = [
        ("--machine", args.machine.is_some()),
        ("--tied", args.tied),
        ("--allow-prepare", args.allow_prepare),
    ];
    let (plan, spec) = (("--plan", args.plan.is_some()), ("--spec", args.spec.is_some()));
    let all = of_plan.map(|option| (plan, option)).into_iter().chain(of_spec.map(|option| (spec, option)));
    for ((owner, has_owner), (option, is_given)) in all {
        if is_given && !has_owner {
            return Err(WrongInput(format!("{option} goes with {owner} only")));
        }
    }
    Ok(())
}

fn plan(args: &HeatArgs, common: &Common, name: &str) -> anyhow::Result<ExitCode> {
    let folder = specs_folder(args)?;
    let catalog = catalog(common)?;
    let study = wanted(args, catalog.study(name)?)?;
    let store = store(common)?;
    let rules = Rules { seed: args.seed, quick: args.quick, allow_busy: args.machine_rules.allow_busy };
    let machines = usize::from(args.machines);
    let Planned { run, heats } =
        fleet::plan(&catalog, &store, (name, study), rules, machines).map_err(classified)?;
    if let Err(why) = check_budget(&run, args.budget.is_some()) {
        store.end_run(&run.id, "the budget is too short for one heat")?;
        return Err(why.into());
    }
    let present = setup::present(&run)?;
    let after = if run.study.design.looks().len() > 1 {
        " until the first look, after which the run may end"
    } else {
        ""
    };
    note!(
        "{} and the reference on {}: {}{after}",
        report::units::several(present, "contender"),
        report::units::several(machines, "machine"),
        report::units::several(heats, "heat")
    );
    if let Some(folder) = folder
        && let Owed::Specs(specs) = fleet::owed(&store, &run.id).map_err(classified)?
    {
        write_specs(&folder, &specs)?;
    }
    console::tell(&format!("{}\n", run.id))?;
    Ok(ExitCode::SUCCESS)
}

/// The study with the options of the command line.
fn wanted(args: &HeatArgs, study: &Study) -> anyhow::Result<Study> {
    let (contenders, cells) = (args.contender.clone(), args.cell.clone());
    let wanted = Wanted { contenders, cells, budget: args.budget, precision: args.precision };
    let mut study = part(study, &wanted, args.quick)?;
    if let Some(rounds) = args.rounds {
        study.design.rounds = [rounds.into(), rounds.into()];
    }
    Ok(study)
}

fn owed(args: &HeatArgs, store: &Store, run: &str) -> anyhow::Result<ExitCode> {
    let folder = specs_folder(args)?;
    match fleet::owed(store, run).map_err(classified)? {
        Owed::Specs(specs) => {
            if let Some(folder) = folder {
                write_specs(&folder, &specs)?;
            }
            for spec in &specs {
                console::print(&(spec.line()? + "\n"))?;
            }
        }
        Owed::Over(why) => note!("run {run} is over: {why}; `drome report {run}` shows it"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The folder for the heats' specs, if there is to be one.
fn specs_folder(args: &HeatArgs) -> Result<Option<Folder>, WrongInput> {
    args.output.as_deref().map(|folder| Folder::to("--output", folder)).transpose()
}

fn write_specs(folder: &Folder, specs: &[Spec]) -> anyhow::Result<()> {
    for spec in specs {
        let name = format!("{}-{}.json", spec.heat.round, spec.heat.number);
        folder.write(&name, (spec.line()? + "\n").as_bytes())?;
    }
    Ok(())
}

fn measure(args: &HeatArgs, common: &Common, file: &Path) -> anyhow::Result<ExitCode> {
    let Some(result) = &args.output else { bail!(WrongInput("--spec needs --output FILE".to_owned())) };
    let is_stdout = result.as_os_str() == "-";
    let output = (!is_stdout).then(|| Output::to("--output", result)).transpose()?;
    if args.tied && file.as_os_str() == "-" {
        bail!(WrongInput(
            "--tied watches standard input, so the spec can't be read from there: name a file with --spec"
                .to_owned()
        ));
    }
    let spec = Spec::read(&text_of(file)?, args.allow_prepare)
        .map_err(|e| WrongInput(format!("{} {e}", file.display())))?;
    let catalog: Catalog = catalog(common)?;
    let stop = stop_flag()?;
    if args.tied {
        tie(Arc::clone(&stop))?;
    }
    let own = || host_name().filter(|name| model::origin::is_machine(name));
    let machine = args.machine.clone().or_else(own).unwrap_or_else(|| NAMELESS.to_owned());
    let mut watch = Watch::new();
    let measured = fleet::measure(&catalog, &spec, &machine, stop, &mut watch);
    watch.finish();
    let measured = measured.map_err(classified)?;
    let version = env!("CARGO_PKG_VERSION");
    match output {
        Some(output) => output.stream(|to| Ok(fleet::write(to, version, &spec, measured)?))?,
        None => fleet::write(BufWriter::new(stdout().lock()), version, &spec, measured)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn text_of(file: &Path) -> anyhow::Result<String> {
    if file.as_os_str() == "-" {
        let mut text = String::new();
        stdin().read_to_string(&mut text).context("can't read the spec from standard input")?;
        return Ok(text);
    }
    let unable = |e| WrongInput(format!("{} can't be read: {e}; name the file of a spec", file.display()));
    Ok(fs::read_to_string(file).map_err(unable)?)
}

/// Sets the flag when standard input ends, and ends drome itself if that does not suffice.
fn tie(stop: Arc<AtomicBool>) -> anyhow::Result<()> {
    let watch = move || {
        let mut buffer = [0; 256];
        let mut input = stdin().lock();
        loop {
            match input.read(&mut buffer) {
                Ok(1..) => {}
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
            }
        }
        stop.store(true, Ordering::Relaxed);
        std::thread::sleep(TO_STOP);
        std::process::exit(INTERRUPTED.into());
    };
    std::thread::Builder::new().name("tied".to_owned()).spawn(watch).context("can't watch standard input")?;
    Ok(())
}

/// Takes in results, file by file. A file that is refused does not keep the others from being stored.
fn commit(args: &HeatArgs, store: &Store) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for file in &args.commit {
        match commit_file(store, file) {
            Ok(lines) => console::print(&lines)?,
            Err(error) if error.is::<WrongInput>() => {
                alert!("drome: {error}");
                code = ExitCode::from(WRONG);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(code)
}

fn commit_file(store: &Store, file: &Path) -> anyhow::Result<String> {
    let name = file.display();
    let opened =
        File::open(file).map_err(|e| WrongInput(format!("{name} can't be read: {e}; name a result")))?;
    let entries = shared::read(BufReader::new(opened)).map_err(|e| WrongInput(format!("{name} {e}")))?;
    let mut lines = String::new();
    for entry in &entries {
        let done = fleet::commit(store, entry).map_err(|error| match error {
            FleetError::Refused(_) => anyhow!(WrongInput(format!("{name} {error}"))),
            FleetError::NoFleet { .. }
            | FleetError::Store(StoreError::NoRun(_) | StoreError::Pulled { .. }) => {
                anyhow!(WrongInput(format!("{name}: {error}")))
            }
            other => classified(other),
        })?;
        lines += &(serde_json::to_string(&CommitLine::of(done))? + "\n");
    }
    Ok(lines)
}

/// The error with the kind that decides the exit code.
fn classified(error: FleetError) -> anyhow::Error {
    match error {
        FleetError::Store(error) => error.into(),
        FleetError::Setup(error) => error.into(),
        FleetError::Lab(error) => error.into(),
        wrong @ (FleetError::Elsewhere { .. } | FleetError::NoFleet { .. } | FleetError::Spec(_)) => {
            WrongInput(wrong.to_string()).into()
        }
        other => other.into(),
    }
}
