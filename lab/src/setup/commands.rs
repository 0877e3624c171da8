//! Makes contenders of bare commands, for a race or a sweep.

use super::SetupError;
use super::labels::short_labels;
use crate::catalog::Entry;
use crate::prepare::Prepared;
use crate::prepare::folders;
use model::contender::{Contender, Faults, Install, Kind, Settings, Start, StopSignal, Version};
use model::observation::Entrant;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a raced command may take until it answers its first request.
const RACE_READY: Duration = Duration::from_secs(30);

/// The name of a race's only workload: whatever the servers answer.
pub const RACED: &str = "url";

/// Makes contenders of bare commands, in which `{port}` stands for the port; `path` is requested of them. They are named by
/// letters, and their titles are short labels.
pub fn commands(
    commands: &[String],
    path: &str,
) -> Result<(Vec<Prepared>, BTreeMap<String, Entrant>), SetupError> {
    let (cache, mut all, mut entrants) = (folders::cache(), Vec::new(), BTreeMap::new());
    let labels = short_labels(&commands.iter().map(String::as_str).collect::<Vec<_>>());
    for ((command, label), letter) in commands.iter().zip(labels).zip('A'..='Z') {
        if !command.contains("{port}") {
            return Err(SetupError::Race(format!(
                "`{command}` has no {{port}}: every trial starts the server on a free port of its own, so write \
                 {{port}} where the command takes its port"
            )));
        }
        // Without a shell between drome and the server there is one process less to be counted.
        let exec = if command.contains(['|', '&', ';', '<', '>', '(', ')', '$', '`', '\n', '=']) {
            ""
        } else {
            "exec "
        };
        let contender = Contender {
            class: None,
            alone: false,
            title: command.clone(),
            language: String::new(),
            kind: Kind::Server,
            homepage: String::new(),
            install: Install::default(),
            build: None,
            version: Version { command: vec!["true".to_owned()], after: None },
            toolchain: None,
            run: Start {
                // The folder is a word of its own, so that no character of it means anything to the shell.
                command: ["sh", "-c", &format!("cd \"$1\" && {exec}{command}"), "sh", &here()]
                    .map(str::to_owned)
                    .to_vec(),
                files: Vec::new(),
                workers: None,
                stop: StopSignal::Term,
                ready: RACE_READY,
            },
            settings: Settings::default(),
            tuned: None,
            faults: Faults::default(),
            serves: BTreeMap::from([(RACED.to_owned(), path.to_owned())]),
        };
        let entry = Entry { contender, sources: BTreeMap::new() };
        let prepared = Prepared::lay_out(&letter.to_string(), &entry, &cache)
            .map_err(|source| SetupError::Cache { path: cache.clone(), source })?;
        let source_sha256 = Some(prepared.source_sha256.clone());
        let shell = ["sh", "-c", command].map(str::to_owned).to_vec();
        let entrant = Entrant { title: label, command: shell, source_sha256, ..Entrant::default() };
        entrants.insert(letter.to_string(), entrant);
        all.push(prepared);
    }
    Ok((all, entrants))
}

fn here() -> String {
    std::env::current_dir().unwrap_or_default().display().to_string()
}
