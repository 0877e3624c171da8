//! `drome race --rev`: the servers of several revisions of a repository, all built before anything is measured.

use super::race_settings::{MOST, RaceSettings};
use control::prepare::folders;
use control::revision::{Builder, Built, Repository, Revision, WORKING_TREE};
use lab::setup::ServerCommand;
use model::gate_verdict::VerdictRevision;
use model::run::Entrant;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The commands that start the revisions, and what reports call each.
#[derive(Debug)]
pub struct Revisions {
    /// One command for each revision.
    pub commands: Vec<ServerCommand>,
    built: Vec<Built>,
}

/// Finds and builds all revisions. `folder`: that of the repository in which the commands run; `None`: the current one.
pub fn build(settings: &RaceSettings, folder: Option<&Path>, stop: &AtomicBool) -> anyhow::Result<Revisions> {
    let Some(start) = &settings.start else {
        refuse!("--rev needs --start, the command that starts a revision's server");
    };
    if !(2..=MOST).contains(&settings.rev.len()) {
        refuse!("name 2 to {MOST} revisions, each with a --rev of its own");
    }
    if !start.contains("{port}") {
        let why = "write {port} where the command takes the port that the server must listen on";
        refuse!("--start `{start}` has no {{port}}: {why}");
    }
    let repository = Repository::of(&folder.map_or_else(std::env::current_dir, |own| Ok(own.to_owned()))?)?;
    let revisions = settings.rev.iter().map(|rev| repository.revision(rev)).collect::<Result<Vec<_>, _>>()?;
    warn_of_same(&revisions);
    let command = settings.build.as_deref().unwrap_or_default();
    let builder = Builder::new(&repository, command, &folders::cache());
    let mut built = Vec::new();
    for revision in &revisions {
        if !command.is_empty() && !builder.has(revision) {
            note!("building {} ({})", revision.name, revision.version());
        }
        built.push(builder.build(revision, stop)?);
    }
    builder.prune(&built);
    let server = |built: &Built| ServerCommand { line: start.clone(), folder: built.folder.clone() };
    Ok(Revisions { commands: built.iter().map(server).collect(), built })
}

impl Revisions {
    /// Gives the contenders of the race the names and versions of their revisions.
    pub fn name(&self, entrants: &mut BTreeMap<String, Entrant>) {
        for (entrant, built) in entrants.values_mut().zip(&self.built) {
            let name = &built.revision.name;
            entrant.title = if name == WORKING_TREE { "working tree".to_owned() } else { name.clone() };
            entrant.version = Some(built.revision.version());
        }
    }

    /// The revisions of the race as a verdict lists them. `entrants`: the contenders of the race, whose titles it shows.
    pub fn raced(&self, entrants: &BTreeMap<String, Entrant>) -> Vec<VerdictRevision> {
        let of = |(entrant, built): (&Entrant, &Built)| VerdictRevision {
            title: entrant.title.clone(),
            commit: built.revision.commit.clone(),
            files: built.revision.files.clone(),
        };
        entrants.values().zip(&self.built).map(of).collect()
    }
}

/// Says which revisions have the same files: a race of them shows only noise.
fn warn_of_same(revisions: &[Revision]) {
    for (i, one) in revisions.iter().enumerate() {
        if let Some(other) = revisions.iter().skip(i + 1).find(|other| one.is_same(other)) {
            let (a, b, version) = (&one.name, &other.name, one.version());
            let what = if one.commit == other.commit {
                format!("{a} and {b} are the same revision ({version})")
            } else {
                format!("{a} ({version}) and {b} ({}) have the same files", other.version())
            };
            alert!("drome: {what}, so the race can show only noise");
        }
    }
}
