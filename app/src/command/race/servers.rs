//! The servers of a race: those of URLs, or those that commands, revisions or images start.

use super::RaceArgs;
use crate::command::race_urls;
use crate::command::revisions::Revisions;
use crate::command::url::OwnUrl;
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
    ensure_used(args)?;
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
    let is_elsewhere = args.servers_on.is_given();
    let OwnUrl { shown: url, path, asked_at } =
        OwnUrl::read(args.url.as_deref().unwrap_or(URL), is_elsewhere)?;
    let raced = Raced { prepare: args.prepare.clone(), ..Raced::default() };
    if let Some(images) = args.images.resolve(args.revisions.start.as_deref(), stop)? {
        let (mut lineup, entrants) = setup::images(&images, &path)?;
        lineup.wait_for_answers(args.ready);
        lineup.ask_at(asked_at.as_ref());
        return Ok(Servers { lineup, entrants, path, url, raced, revisions: None });
    }
    let revisions = args.revisions.build(stop)?;
    let here = || args.commands.iter().map(|line| ServerCommand::at(line, is_elsewhere)).collect();
    let commands = revisions.as_ref().map_or_else(here, |revisions| revisions.commands.clone());
    let (mut lineup, mut entrants) = setup::commands(&commands, &path)?;
    lineup.wait_for_answers(args.ready);
    lineup.ask_at(asked_at.as_ref());
    if let Some(revisions) = &revisions {
        revisions.name(&mut entrants);
    }
    Ok(Servers { lineup, entrants, path, url, raced, revisions })
}

/// Fails if an option is given that is for other servers. clap can't check this: beside commands, which exclude `--image` and `--rev`, an option
/// that requires one of these requires nothing.
fn ensure_used(args: &RaceArgs) -> Result<(), WrongInput> {
    let (images, revisions) = (args.images.are_named(), !args.revisions.revs.is_empty());
    let needs = [
        ("--env", !args.images.variables.is_empty(), images, "--image"),
        ("--container-tool", args.images.container_tool.is_some(), images, "--image"),
        ("--container-arg", !args.images.container_args.is_empty(), images, "--image"),
        ("--build", args.revisions.build.is_some(), revisions, "--rev"),
        ("--start", args.revisions.start.is_some(), revisions || images, "--rev and --image"),
    ];
    match needs.into_iter().find(|(_, is_given, is_used, _)| *is_given && !is_used) {
        Some((option, _, _, owner)) => Err(WrongInput(format!(
            "{option}: it is for servers of {owner}, and these are commands or URLs; leave it out"
        ))),
        None => Ok(()),
    }
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
