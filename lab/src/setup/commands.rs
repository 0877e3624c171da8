//! Makes contenders of bare commands, for a race or a sweep.

use super::contenders::write_sources;
use super::labels::short_labels;
use super::{Lineup, SetupError};
use control::catalog::CatalogEntry;
use control::prepare::Prepared;
use control::verify::work::{Work, Works};
use model::contender::{Contender, Faults, Install, Kind, Settings, Start, StopSignal, Version};
use model::run::Entrant;
use model::study::default_track;
use model::{Cell, Design, Load, Protocol, Study};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a raced command may take until it answers its first request.
const RACE_READY: Duration = Duration::from_secs(30);

/// The name of a race's only workload: whatever the servers answer.
pub const RACED: &str = "url";

/// The study of a race or a sweep: one cell, with whatever the servers answer at the URL.
pub fn raced_study(title: String, url: &str, load: Load, design: Design) -> Study {
    Study {
        title,
        source: None,
        contenders: Vec::new(),
        cells: vec![Cell::plain(url.to_owned(), RACED.to_owned(), load)],
        design,
        tracks: default_track(),
        server_on: None,
        published: None,
        as_published: Vec::new(),
        unequal: Vec::new(),
    }
}

/// A command that starts a server; `{port}` stands for the port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCommand {
    /// The command line.
    pub line: String,
    /// Where a shell runs it.
    pub folder: PathBuf,
}

impl ServerCommand {
    /// A command that runs in the current folder, or on another machine in the one where its agent was started.
    pub fn at(line: &str, is_elsewhere: bool) -> Self {
        if is_elsewhere {
            Self { line: line.to_owned(), folder: PathBuf::from("{here}") }
        } else {
            Self::here(line)
        }
    }

    /// A command that runs in the current folder.
    pub fn here(line: &str) -> Self {
        Self { line: line.to_owned(), folder: std::env::current_dir().unwrap_or_default() }
    }
}

/// Makes contenders of bare commands; `path` is requested of them, and any answer will do. They are named by letters, and
/// their titles are short labels.
pub fn commands(
    commands: &[ServerCommand],
    path: &str,
) -> Result<(Lineup, BTreeMap<String, Entrant>), SetupError> {
    raced(
        commands,
        |command| &command.line,
        |letter, ServerCommand { line, folder }| {
            if !line.contains("{port}") {
                return Err(SetupError::Race(format!(
                    "`{line}` has no {{port}}: drome starts the server on another free port each time, so write \
                 {{port}} where the command takes its port"
                )));
            }
            let own = contender(letter, line, in_shell(line, folder), path)?;
            let source_sha256 = Some(own.source_sha256.clone());
            let command = ["sh", "-c", line].map(str::to_owned).to_vec();
            Ok((own, Entrant { command, source_sha256, ..Entrant::default() }))
        },
    )
}

/// The contenders of a race, of which any answer will do: each as `make` prepares it under its letter, with a short label of its full name
/// for a title.
pub(super) fn raced<S>(
    servers: &[S],
    full_name: impl Fn(&S) -> &str,
    make: impl Fn(char, &S) -> Result<(Prepared, Entrant), SetupError>,
) -> Result<(Lineup, BTreeMap<String, Entrant>), SetupError> {
    let labels = short_labels(&servers.iter().map(full_name).collect::<Vec<_>>());
    let (mut prepared, mut entrants) = (Vec::new(), BTreeMap::new());
    for ((server, title), letter) in servers.iter().zip(labels).zip('A'..='Z') {
        let (own, entrant) = make(letter, server)?;
        entrants.insert(letter.to_string(), Entrant { title, ..entrant });
        prepared.push(own);
    }
    let works = Works::from([(RACED.to_owned(), Work::default())]);
    Ok((Lineup { prepared, works, remote: None }, entrants))
}

/// Program and arguments that run this command in a shell, in this folder.
fn in_shell(command: &str, folder: &Path) -> Vec<String> {
    // Without a shell between drome and the server there is one process less to be counted.
    let needs_shell = command.contains(['|', '&', ';', '<', '>', '(', ')', '$', '`', '\n', '=']);
    let exec = if needs_shell { "" } else { "exec " };
    // The folder is a word of its own, so that no character of it means anything to the shell.
    let script = format!("cd \"$1\" && {exec}{command}");
    ["sh", "-c", &script, "sh", &folder.display().to_string()].map(str::to_owned).to_vec()
}

/// Prepares a contender of a race that is started with this command and named by a letter; `path` is requested of it.
pub(super) fn contender(
    letter: char,
    title: &str,
    command: Vec<String>,
    path: &str,
) -> Result<Prepared, SetupError> {
    let contender = Contender {
        class: None,
        alone: false,
        title: title.to_owned(),
        language: String::new(),
        kind: Kind::Server,
        homepage: String::new(),
        install: Install::default(),
        build: None,
        version: Version { command: vec!["true".to_owned()], after: None },
        toolchain: None,
        run: Start { command, files: Vec::new(), workers: None, stop: StopSignal::Term, ready: RACE_READY },
        settings: Settings::default(),
        tuned: None,
        faults: Faults::default(),
        speaks: vec![Protocol::Http1],
        tls: None,
        serves: BTreeMap::from([(RACED.to_owned(), path.to_owned())]),
    };
    write_sources(&letter.to_string(), &CatalogEntry { contender, sources: BTreeMap::new() })
}
