//! `drome race --rev`: the servers of several revisions of a repository, all built before anything is measured.

use crate::failure::WrongInput;
use clap::Args;
use control::prepare::folders;
use control::revision::{Builder, Built, Repository, Revision, WORKING_TREE};
use lab::setup::ServerCommand;
use model::gate_verdict::VerdictRevision;
use model::observation::Entrant;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct RevisionArgs {
    /// Revision of this folder's git repository to race, such as main, HEAD~1 or v1.2; a dot is the working tree with
    /// its changes. Repeat it for each revision; the others are compared with the first
    #[arg(long = "rev", value_name = "REV", group = "built_servers")]
    pub revs: Vec<String>,
    /// Command that builds a revision, run by a shell in this folder of a checkout; a build is kept by commit, command and tools
    #[arg(long, value_name = "COMMAND", requires = "revs")]
    pub build: Option<String>,
    /// Command that starts a revision's server, in the same folder; {port} stands for the port that it must listen on.
    /// With --image: the words after the image's name
    #[arg(long, value_name = "COMMAND", requires = "built_servers")]
    pub start: Option<String>,
    /// The folder that is meant by "this folder"; `None`: the current one.
    #[arg(skip)]
    pub folder: Option<PathBuf>,
}

/// The largest number of servers in a race.
const MOST: usize = 26;

/// The commands that start the revisions, and what reports call each.
#[derive(Debug)]
pub struct Revisions {
    /// One command for each revision.
    pub commands: Vec<ServerCommand>,
    built: Vec<Built>,
}

impl RevisionArgs {
    /// Finds and builds all revisions; `None` if none was asked for.
    pub fn build(&self, stop: &AtomicBool) -> anyhow::Result<Option<Revisions>> {
        if self.revs.is_empty() {
            return Ok(None);
        }
        let Some(start) = &self.start else {
            let why = "--rev needs --start, the command that starts a revision's server";
            return Err(WrongInput(why.to_owned()).into());
        };
        if !(2..=MOST).contains(&self.revs.len()) {
            return Err(
                WrongInput(format!("name 2 to {MOST} revisions, each with a --rev of its own")).into()
            );
        }
        if !start.contains("{port}") {
            let why = "write {port} where the command takes the port that the server must listen on";
            return Err(WrongInput(format!("--start `{start}` has no {{port}}: {why}")).into());
        }
        let repository = Repository::of(&self.folder.clone().map_or_else(std::env::current_dir, Ok)?)?;
        let revisions =
            self.revs.iter().map(|rev| repository.revision(rev)).collect::<Result<Vec<_>, _>>()?;
        warn_of_same(&revisions);
        let command = self.build.as_deref().unwrap_or_default();
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
        Ok(Some(Revisions { commands: built.iter().map(server).collect(), built }))
    }
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
