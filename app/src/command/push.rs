//! `drome push`: writes runs to a file, or sends them to drome on another machine, for `drome pull`.

use super::output::Output;
use super::transport::Transport;
use super::transport::remote_command::{self, RemoteCommand};
use super::{is_file_name, store};
use crate::console;
use crate::failure::{CHECK_FAILED, WrongInput};
use crate::options::Common;
use crate::stored::machines;
use anyhow::{anyhow, bail};
use clap::Args;
use control::lock::Lock;
use report::units;
use std::collections::BTreeSet;
use std::io::{BufWriter, ErrorKind, Write, stdout};
use std::path::Path;
use std::process::ExitCode;
use store::shared::{Redaction, SharedError, Writer};
use store::{EntryKind, ExportError, Listed};
use store::{Store, StoreError};

/// The file name that means standard output.
const STDOUT: &str = "-";

/// Raw arguments.
#[derive(Debug, Args)]
#[command(
    override_usage = "drome push [OPTIONS] [RUN]... FILE\n       drome push [OPTIONS] --to COMMAND [RUN]..."
)]
pub struct PushArgs {
    /// Runs to write, and then the file to write them to, with a dot or a slash in its name, which --to replaces; `-` is standard output
    /// [default: the latest run]
    #[arg(value_name = "RUN FILE", required_unless_present = "to")]
    words: Vec<String>,
    /// Send the runs to drome on another machine, which this command reaches: `ssh HOST`, or any words to which
    /// `drome pull -` can be appended, such as `docker exec -i NAME`
    #[arg(long, value_name = "COMMAND")]
    to: Option<Transport>,
    /// All runs of this store
    #[arg(long, conflicts_with = "study")]
    all: bool,
    /// All runs of this study
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
    /// Take out what may be private: command lines, configuration files, paths, what servers wrote, and the names of the
    /// user and the machine; figures, versions and the names of studies and contenders stay
    #[arg(long)]
    redact: bool,
    /// Name of this machine in other stores [default: its host name; with --redact its processor and number of cores]
    #[arg(long, value_name = "NAME", value_parser = machines::parse)]
    machine: Option<String>,
}

/// Which runs are written.
enum Wanted<'a> {
    Latest,
    Named(&'a [String]),
    Study(&'a str),
    All,
}

impl Wanted<'_> {
    /// Whether each run was asked for by itself, so that none may be left out.
    fn is_certain(&self) -> bool {
        matches!(self, Self::Latest | Self::Named(_))
    }
}

/// How runs are changed when they are written.
struct How {
    redaction: Option<Redaction>,
    /// The name of this machine; `None`: the file does not name it.
    machine: Option<String>,
}

/// Writes the runs.
pub fn run(args: &PushArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let (runs, file) = match (&args.to, args.words.split_last()) {
        (None, Some((file, runs))) => (runs, Some(file)),
        _ => (&args.words[..], None),
    };
    let wanted = wanted(args, runs)?;
    let file = file.filter(|file| *file != STDOUT);
    if let Some(run) = file.filter(|file| !is_file_name(file)) {
        refuse!(
            "`{run}` names a run, and after the runs comes the file for them, with a dot or a slash in its name: add one such as runs.jsonl, \
             or `-` for standard output"
        );
    }
    let output = file.map(|file| Output::to("FILE", Path::new(file))).transpose()?;
    let store = store(common)?;
    let runs = ready(&store, selected(&store, &wanted)?, &wanted, args.redact)?;
    let how = How::of(args);
    if let Some(transport) = &args.to {
        return send(transport, &store, &runs, &how);
    }
    let name = file.map_or(STDOUT, String::as_str);
    let write = |to: &mut dyn Write| write_all(&store, &runs, &how, to).map_err(|error| told(name, error));
    match output {
        Some(output) => output.stream(write)?,
        None => write(&mut BufWriter::new(stdout().lock()))?,
    }
    if name != STDOUT {
        note!("{} written to {name}: `drome pull {name}` reads them", units::several(runs.len(), "run"));
    }
    Ok(ExitCode::SUCCESS)
}

impl How {
    fn of(args: &PushArgs) -> Self {
        let redaction = args.redact.then(|| Redaction::new(private()));
        let own = || machines::own().filter(|_| !args.redact);
        Self { redaction, machine: args.machine.clone().or_else(own) }
    }
}

fn wanted<'a>(args: &'a PushArgs, runs: &'a [String]) -> Result<Wanted<'a>, WrongInput> {
    let wanted = match (&args.study, args.all) {
        (Some(study), _) => Wanted::Study(study),
        (None, true) => Wanted::All,
        (None, false) if runs.is_empty() => return Ok(Wanted::Latest),
        (None, false) => return Ok(Wanted::Named(runs)),
    };
    if runs.is_empty() {
        return Ok(wanted);
    }
    let option = if args.all { "--all" } else { "--study" };
    refuse!("{option} and the run {} exclude each other: leave one of them out", runs[0])
}

/// The runs that were asked for, the earliest first.
fn selected(store: &Store, wanted: &Wanted<'_>) -> anyhow::Result<Vec<Listed>> {
    let mut all = store.everything()?;
    all.reverse();
    match wanted {
        Wanted::All => {}
        Wanted::Latest => all = all.pop().into_iter().collect(),
        Wanted::Study(study) => {
            all.retain(|run| {
                run.name == *study && !matches!(run.kind, EntryKind::Readings | EntryKind::Report)
            });
            if all.is_empty() {
                refuse!("there is no run of {study}: `drome list runs` lists all runs");
            }
        }
        Wanted::Named(names) => {
            let names: BTreeSet<&String> = names.iter().collect();
            all.retain(|run| names.contains(&run.id));
            if let Some(missing) = names.into_iter().find(|name| !all.iter().any(|run| run.id == **name)) {
                bail!(StoreError::NoRun(missing.clone()));
            }
        }
    }
    if all.is_empty() {
        bail!(StoreError::Empty);
    }
    Ok(all)
}

/// The runs that can be written. One that is being measured can't, because it would be different when it is over.
fn ready(
    store: &Store,
    runs: Vec<Listed>,
    wanted: &Wanted<'_>,
    is_redacted: bool,
) -> anyhow::Result<Vec<Listed>> {
    let mut kept = Vec::with_capacity(runs.len());
    for run in runs {
        let why = if is_under_way(store, &run) {
            "is being measured: push it when it is over"
        } else if is_owed_heats(store, &run)? {
            "is a fleet's and has not ended: push it when `drome heat owed` says that it is over"
        } else if is_redacted && run.kind == EntryKind::Report {
            "is stored as it was printed, so it can't be redacted: push it without --redact"
        } else {
            kept.push(run);
            continue;
        };
        if wanted.is_certain() {
            bail!("run {} {why}", run.id);
        }
        note!("left out: run {} {why}", run.id);
    }
    if kept.is_empty() {
        bail!("none of the runs can be pushed");
    }
    Ok(kept)
}

/// Whether a drome measures the run right now.
fn is_under_way(store: &Store, run: &Listed) -> bool {
    let may_be = run.ended.is_none() && run.machine.is_none() && run.kind.is_measured();
    may_be && matches!(Lock::try_take(&store.lock(&run.id)), Ok(None))
}

/// Whether it is a run of a fleet that has not ended. No drome holds the lock of such a run while others measure its heats.
fn is_owed_heats(store: &Store, run: &Listed) -> Result<bool, StoreError> {
    let may_be = run.ended.is_none() && run.machine.is_none() && run.kind.is_measured();
    Ok(may_be && store.run(&run.id)?.0.fleet.is_some())
}

/// Writes the whole file.
fn write_all(store: &Store, runs: &[Listed], how: &How, to: &mut dyn Write) -> Result<(), ExportError> {
    let bar = console::counted(runs.len(), "runs written", "");
    let mut writer = Writer::begin(to, env!("CARGO_PKG_VERSION"))?;
    for run in runs {
        let machine = match (&run.machine, &how.redaction) {
            (Some(_), Some(_)) => None,
            (Some(other), None) => Some(other),
            (None, _) => how.machine.as_ref(),
        };
        writer.entry(machine.map(String::as_str))?;
        store.export(&run.id, &mut |mut row| {
            if let Some(redaction) = &how.redaction {
                redaction.apply(&mut row)?;
            }
            writer.row(&row)
        })?;
        bar.inc(1);
    }
    writer.end()?;
    Ok(())
}

/// Sends the file to drome on another machine, which prints for each run whether it was stored.
fn send(transport: &Transport, store: &Store, runs: &[Listed], how: &How) -> anyhow::Result<ExitCode> {
    let words = ["pull", STDOUT].map(str::to_owned);
    let shown = transport.shown(&words);
    let mut remote =
        RemoteCommand::start(transport.command(&words), &shown, "--to", remote_command::SILENCE)?;
    // An error is ignored: standard output is closed, so nobody reads these lines.
    remote.tell_output(|line| drop(console::tell(&format!("{line}\n"))));
    let written = match remote.input() {
        Some(input) => write_all(store, runs, how, &mut BufWriter::new(input)),
        None => Ok(()),
    };
    let failed = match &written {
        Err(ExportError::Shared(SharedError::Write(error))) => Some(error),
        _ => None,
    };
    let status = remote.end(failed.is_some_and(remote_command::is_silence))?;
    // A program that ended before it had read everything says why.
    let is_cut = failed.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe);
    if !is_cut {
        written.map_err(|error| told(&format!("what goes to `{shown}`"), error))?;
    }
    match status.code() {
        Some(0) if !is_cut => Ok(ExitCode::SUCCESS),
        Some(code) if code == i32::from(CHECK_FAILED) => Ok(ExitCode::from(CHECK_FAILED)),
        _ => bail!("`{shown}` did not take the runs ({status}): what it printed says why"),
    }
}

/// The error as the user reads it; `name`: what could not be written.
fn told(name: &str, error: ExportError) -> anyhow::Error {
    match error {
        ExportError::Store(error) => error.into(),
        ExportError::Shared(error) => anyhow!("{name} {error}"),
    }
}

/// The names that are taken out of every text.
fn private() -> Vec<String> {
    let of_user = ["HOME", "USER", "LOGNAME"].into_iter().filter_map(std::env::var_os);
    let of_user = of_user.map(|name| name.to_string_lossy().into_owned());
    let host = machines::host_name();
    let short = host.as_ref().and_then(|name| name.split('.').next()).map(str::to_owned);
    of_user.chain(host.clone()).chain(short).collect()
}
