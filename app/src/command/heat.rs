//! `drome heat`: one heat as one self-contained command, for any scheduler. Plans a run of several machines, prints the heats that it still
//! needs, measures one of them on the machine where drome runs, and adds the results to the run.

use super::folder::Folder;
use super::output::Output;
use super::part::PartArgs;
use super::session::check_budget;
use super::{catalog, store};
use crate::console;
use crate::failure::{INTERRUPTED, WRONG, WrongInput};
use crate::options::{Common, MachineArgs};
use crate::run_progress::RunProgress;
use crate::signals::stop_flag;
use crate::stored::machines;
use anyhow::{Context, anyhow};
use clap::{Args, Subcommand};
use control::Catalog;
use lab::fleet::{self, FleetError, Owed, Planned, Spec};
use lab::setup::{self, RunRules};
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
pub struct HeatArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Plan a run of a study for several machines, and print the run's name
    Plan(PlanArgs),
    /// Print the specs of the heats that a run still needs, one JSON object a line; if it needs none, record why it ended
    Owed(OwedArgs),
    /// Measure the heat of a spec on this machine
    Measure(MeasureArgs),
    /// Add results to their run, each heat once, and print the outcome of each as a JSON object
    Commit {
        /// Results of `drome heat measure`
        #[arg(required = true, value_name = "FILE")]
        results: Vec<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct PlanArgs {
    /// Study to measure; `drome list studies` lists them
    study: String,
    /// Number of machines, by which the budget is multiplied
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    machines: u16,
    /// Measure exactly this many rounds [default: as many as the study's comparisons need]
    #[arg(long, value_name = "N", conflicts_with = "quick", value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: Option<u16>,
    #[command(flatten)]
    part: PartArgs,
    /// Seed of everything that is random [default: the clock]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    machine_rules: MachineArgs,
    #[command(flatten)]
    specs: SpecsArgs,
}

#[derive(Debug, Args)]
struct OwedArgs {
    /// Run whose heats are printed
    run: String,
    #[command(flatten)]
    specs: SpecsArgs,
}

/// Where specs go besides standard output.
#[derive(Debug, Args)]
struct SpecsArgs {
    /// Write the specs to this folder as well, a file each: ROUND-HEAT.json
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct MeasureArgs {
    /// File with the spec; `-` is standard input
    #[arg(value_name = "FILE")]
    spec: PathBuf,
    /// Write the result to this file, which appears only when it is complete; `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Name of this machine in reports [default: its host name]
    #[arg(long, value_name = "NAME", value_parser = machines::parse)]
    machine: Option<String>,
    /// End, with all servers, as soon as standard input ends, so that nothing outlives a worker that is killed
    #[arg(long)]
    tied: bool,
    /// Run the shell command that the spec names (`prepare`) before every start; without this, a spec with a command is refused
    #[arg(long)]
    allow_prepare: bool,
}

/// Plans a run, prints the heats that it still needs, measures one of them, or adds results: whichever the arguments ask for.
pub fn run(args: &HeatArgs, common: &Common) -> anyhow::Result<ExitCode> {
    match &args.action {
        Action::Plan(args) => plan(args, common),
        Action::Owed(args) => owed(args, &store(common)?),
        Action::Measure(args) => measure(args, common),
        Action::Commit { results } => commit(results, &store(common)?),
    }
}

fn plan(args: &PlanArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let folder = args.specs.folder()?;
    let catalog = catalog(common)?;
    let name = &args.study;
    let mut study = args.part.of(catalog.study(name)?)?;
    if let Some(rounds) = args.rounds {
        study.design.rounds = [rounds.into(), rounds.into()];
    }
    let store = store(common)?;
    let rules =
        RunRules { seed: args.seed, quick: args.part.quick, allow_busy: args.machine_rules.allow_busy };
    let machines = usize::from(args.machines);
    let Planned { run, heats } =
        fleet::plan(&catalog, &store, (name, study), rules, machines).map_err(classified)?;
    if let Err(why) = check_budget(&run, args.part.budget.is_some()) {
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

fn owed(args: &OwedArgs, store: &Store) -> anyhow::Result<ExitCode> {
    let folder = args.specs.folder()?;
    let run = &args.run;
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

impl SpecsArgs {
    /// The folder for the heats' specs, if there is to be one.
    fn folder(&self) -> Result<Option<Folder>, WrongInput> {
        self.output.as_deref().map(|folder| Folder::to("--output", folder, &["json"])).transpose()
    }
}

fn write_specs(folder: &Folder, specs: &[Spec]) -> anyhow::Result<()> {
    for spec in specs {
        let name = format!("{}-{}.json", spec.heat.round, spec.heat.number);
        folder.write(&name, (spec.line()? + "\n").as_bytes())?;
    }
    Ok(())
}

fn measure(args: &MeasureArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let file = &args.spec;
    let is_stdout = args.output.as_os_str() == "-";
    let output = (!is_stdout).then(|| Output::to("--output", &args.output)).transpose()?;
    if args.tied && file.as_os_str() == "-" {
        refuse!("--tied watches standard input, so the spec can't be read from there: name a file");
    }
    let spec = Spec::read(&text_of(file)?, args.allow_prepare)
        .map_err(|e| WrongInput(format!("{} {e}", file.display())))?;
    let catalog: Catalog = catalog(common)?;
    let stop = stop_flag()?;
    if args.tied {
        tie(Arc::clone(&stop))?;
    }
    let machine = args.machine.clone().or_else(machines::own).unwrap_or_else(|| NAMELESS.to_owned());
    let measured =
        fleet::measure(&catalog, &spec, &machine, stop, &mut RunProgress::new()).map_err(classified)?;
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
fn commit(results: &[PathBuf], store: &Store) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for file in results {
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
        lines += &(serde_json::to_string(&done)? + "\n");
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
