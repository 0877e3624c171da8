//! `drome pull`: takes runs from a file of `drome push`, or from drome on another machine. What it reads may come from anyone.

use super::store;
use super::transport::remote_command::{self, RemoteCommand};
use super::transport::{Transport, is_plain};
use crate::console;
use crate::failure::{CHECK_FAILED, WrongInput};
use crate::options::Common;
use crate::stored::machines;
use anyhow::{anyhow, bail};
use clap::Args;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufReader, stdin};
use std::process::ExitCode;
use store::Pulled;
use store::shared::{self, SharedEntry, SharedError};

/// Standard input in place of a file's name.
const STDIN: &str = "-";

/// The length of a digest in a message.
const SHORT: usize = 12;

/// Raw arguments.
#[derive(Debug, Args)]
#[command(
    override_usage = "drome pull [OPTIONS] FILE [RUN]...\n       drome pull [OPTIONS] --from COMMAND [RUN]..."
)]
pub struct PullArgs {
    /// File that `drome push` wrote, without --from; `-` is standard input; then the runs to take [default: all of the file,
    /// with --from the latest]
    #[arg(value_name = "FILE RUN", required_unless_present = "from")]
    words: Vec<String>,
    /// Take the runs from drome on another machine, which this command reaches: `ssh HOST`, or any words to which
    /// `drome push -` can be appended, such as `docker exec NAME`
    #[arg(long, value_name = "COMMAND")]
    from: Option<Transport>,
    /// With --from: all runs of the other store
    #[arg(long, requires = "from", conflicts_with = "study")]
    all: bool,
    /// With --from: all runs of this study
    #[arg(long, value_name = "NAME", requires = "from")]
    study: Option<String>,
    /// With --from: let the other machine remove what may be private before it sends the runs
    #[arg(long, requires = "from")]
    redact: bool,
    /// Name of the machine in this store [default: as the file says]
    #[arg(long, value_name = "NAME", value_parser = machines::parse)]
    machine: Option<String>,
}

/// Reads everything, checks it, stores what is new, and prints for each run whether it was stored.
pub fn run(args: &PullArgs, common: &Common) -> anyhow::Result<ExitCode> {
    // A store that can't be used is reported before anything is fetched.
    let store = store(common)?;
    let mut entries = match &args.from {
        Some(transport) => fetched(args, transport)?,
        None => of_file(&args.words)?,
    };
    if let Some(machine) = &args.machine {
        entries.iter_mut().for_each(|entry| entry.machine.clone_from(machine));
    }
    let outcomes = store.pull(&entries, &control::clock_text())?;
    let (mut out, mut code) = (String::new(), ExitCode::SUCCESS);
    for (entry, outcome) in entries.iter().zip(&outcomes) {
        let what = match outcome {
            Pulled::New => format!("pulled from {}", entry.machine),
            Pulled::Already => "already here".to_owned(),
            Pulled::Differs { here } => {
                alert!(
                    "drome: run {} is here with other content, which stays (SHA-256 {} here, {} there): to have both, pull it into \
                     another store with --store FILE",
                    entry.id,
                    short(here),
                    short(&entry.digest)
                );
                code = ExitCode::from(CHECK_FAILED);
                continue;
            }
        };
        let _ = writeln!(out, "{}  {}  {what}", entry.id, entry.title.replace('\n', " "));
    }
    console::tell(&out)?;
    Ok(code)
}

/// The entries of a file; if runs are named after the file, only theirs.
fn of_file(words: &[String]) -> anyhow::Result<Vec<SharedEntry>> {
    let Some((file, runs)) = words.split_first() else { return Ok(Vec::new()) };
    let mut entries = if file == STDIN {
        checked(shared::read(stdin().lock()), "standard input")?
    } else {
        let opened = File::open(file);
        let opened = opened.map_err(|error| {
            WrongInput(format!(
                "{file} can't be read: {error}; name a file that `drome push` wrote, or use --from 'ssh HOST'"
            ))
        })?;
        checked(shared::read(BufReader::new(opened)), file)?
    };
    if let Some(missing) = runs.iter().find(|run| !entries.iter().any(|entry| entry.id == **run)) {
        let there: Vec<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
        refuse!("{file} has no run {missing}: it has {}", there.join(", "));
    }
    entries.retain(|entry| runs.is_empty() || runs.contains(&entry.id));
    Ok(entries)
}

/// The entries that drome on another machine writes.
fn fetched(args: &PullArgs, transport: &Transport) -> anyhow::Result<Vec<SharedEntry>> {
    let words = asked(args)?;
    let shown = transport.shown(&words);
    let mut remote =
        RemoteCommand::start(transport.command(&words), &shown, "--from", remote_command::SILENCE)?;
    drop(remote.input());
    let read = match remote.output() {
        Some(output) => shared::read(BufReader::new(output)),
        None => Ok(Vec::new()),
    };
    let status =
        remote.end(matches!(&read, Err(SharedError::Read(error)) if remote_command::is_silence(error)))?;
    // A program that fails writes nothing or a part, and what it printed says why. But if what it wrote is refused while it still writes,
    // it fails only because drome stops reading.
    let is_refused =
        matches!(&read, Err(error) if !matches!(error, SharedError::Cut | SharedError::Foreign(_)));
    if !status.success() && !is_refused {
        bail!("`{shown}` failed ({status}), and nothing was stored: what it printed says why");
    }
    checked(read, &format!("what `{shown}` wrote"))
}

/// The command line for the other machine.
fn asked(args: &PullArgs) -> Result<Vec<String>, WrongInput> {
    let mut words = vec!["push".to_owned()];
    let mut named = args.words.iter().chain(&args.study);
    if let Some(other) = named.find(|word| !is_plain(word)) {
        refuse!(
            "`{other}` can't be asked of another machine: the name of a run or a study has letters, digits, dots and hyphens only"
        );
    }
    if !args.words.is_empty() && (args.all || args.study.is_some()) {
        let option = if args.all { "--all" } else { "--study" };
        let run = &args.words[0];
        refuse!("{option} and the run {run} exclude each other: leave one of them out");
    }
    words.extend(args.all.then(|| "--all".to_owned()));
    words.extend(args.study.iter().flat_map(|study| ["--study".to_owned(), study.clone()]));
    words.extend(args.redact.then(|| "--redact".to_owned()));
    words.extend(args.words.iter().cloned());
    words.push(STDIN.to_owned());
    Ok(words)
}

/// What was read, or why it is refused; `name`: what it was read from.
fn checked(read: Result<Vec<SharedEntry>, SharedError>, name: &str) -> anyhow::Result<Vec<SharedEntry>> {
    read.map_err(|error| match error {
        error @ SharedError::Read(_) => anyhow!("{name} {error}"),
        error => WrongInput(format!("{name} {error}")).into(),
    })
}

fn short(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}
