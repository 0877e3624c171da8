//! The servers of a race: those of URLs, or those that commands, revisions or images start.

use super::RaceArgs;
use crate::command::race_urls;
use crate::command::revisions::Revisions;
use crate::command::session::own_path;
use crate::failure::WrongInput;
use lab::setup::{self, Lineup, ServerCommand};
use model::observation::{Entrant, Raced};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// What is requested of servers that drome starts, without --url.
const URL: &str = "http://127.0.0.1:{port}/";

/// The servers of a race, and what is requested of them.
pub struct Servers {
    /// The servers as drome starts them, or as they already run.
    pub lineup: Lineup,
    /// The contenders, by their letters.
    pub entrants: BTreeMap<String, Entrant>,
    /// The path that is requested.
    pub path: String,
    /// What reports call the request.
    pub url: String,
    /// What all of them have in common.
    pub raced: Raced,
    /// The revisions that were built, if there are any.
    pub revisions: Option<Revisions>,
}

/// Prepares the servers. Revisions are built first, and images found and pinned.
pub fn of(args: &RaceArgs, stop: &AtomicBool) -> anyhow::Result<Servers> {
    let targets = race_urls::targets(&args.commands)?;
    args.running.ensure_fit(!targets.is_empty(), args.metric.metric)?;
    if let Some(first) = targets.first() {
        ensure_for_urls(args)?;
        let pids = &args.running.pids;
        let (lineup, entrants) = setup::running(&targets, pids)?;
        for doubt in setup::not_above_listeners(&targets, pids) {
            alert!("drome: {doubt}");
        }
        let (path, url) = (first.path.clone(), first.path.clone());
        let raced = Raced { running: true, ..Raced::default() };
        return Ok(Servers { lineup, entrants, path, url, raced, revisions: None });
    }
    let url = args.url.clone().unwrap_or_else(|| URL.to_owned());
    let path = own_path(&url)?;
    let raced = Raced { prepare: args.prepare.clone(), ..Raced::default() };
    if let Some(images) = args.images.resolve(args.revisions.start.as_deref(), stop)? {
        let (mut lineup, entrants) = setup::images(&images, &path)?;
        lineup.wait_for_answers(args.ready);
        return Ok(Servers { lineup, entrants, path, url, raced, revisions: None });
    }
    let revisions = args.revisions.build(stop)?;
    let here =
        || args.commands.iter().map(|line| ServerCommand::at(line, args.servers_on.is_given())).collect();
    let commands = revisions.as_ref().map_or_else(here, |revisions| revisions.commands.clone());
    let (mut lineup, mut entrants) = setup::commands(&commands, &path)?;
    lineup.wait_for_answers(args.ready);
    if let Some(revisions) = &revisions {
        revisions.name(&mut entrants);
    }
    Ok(Servers { lineup, entrants, path, url, raced, revisions })
}

/// Fails if an option is given that is for servers that drome starts.
fn ensure_for_urls(args: &RaceArgs) -> Result<(), WrongInput> {
    let refused = [
        (args.url.is_some(), "--url: the URLs of the servers already say what is requested; leave it out"),
        (
            args.prepare.is_some(),
            "--prepare: it runs before a server starts, and these already run; leave it out",
        ),
        (
            args.ready.is_some(),
            "--ready: it is for servers that drome starts, and these already run; leave it out",
        ),
        (
            args.alone,
            "--alone: it starts one server at a time, and these already run side by side; leave it out",
        ),
    ];
    match refused.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, why)) => Err(WrongInput(why.to_owned())),
        None => Ok(()),
    }
}
