//! The servers of a race: those of URLs, or those that commands, revisions or images start.

use super::{OneRace, RaceArgs};
use crate::command::race_settings::{RaceSettings, ServerSource};
use crate::command::revisions::{self, Revisions};
use crate::command::url::OwnUrl;
use crate::command::{images, race_urls};
use crate::failure::WrongInput;
use crate::options::{bytes_of, grpc_method};
use lab::setup::{self, Lineup, ServerCommand};
use model::run::{Entrant, Raced};
use model::study::Transport;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What is requested of servers that drome starts, without --url.
const URL: &str = "http://127.0.0.1:{port}/";

/// The servers of a race, and what is requested of them.
pub struct RaceServers {
    /// The servers as drome starts them, or as they already run.
    pub lineup: Lineup,
    /// The contenders, by their letters.
    pub entrants: BTreeMap<String, Entrant>,
    /// The path that is requested.
    pub path: String,
    /// What reports call the request.
    pub url: String,
    /// What connections speak.
    pub transport: Transport,
    /// What all of them have in common.
    pub raced: Raced,
    /// The revisions that were built, if there are any.
    pub revisions: Option<Revisions>,
}

/// Prepares the servers. Revisions are built first, and images found and pinned.
pub fn of(one: &OneRace, stop: &AtomicBool) -> anyhow::Result<RaceServers> {
    let args = &one.args;
    let settings = &args.settings;
    let servers = settings.source();
    ensure_used(args, servers)?;
    let metric = settings.metric.as_ref().map(|decider| decider.metric).unwrap_or_default();
    args.running.ensure_fit(servers == ServerSource::Urls, metric)?;
    let is_elsewhere = args.servers_on.is_given();
    let OwnUrl { shown: url, path, asked_at, tls } =
        OwnUrl::read(settings.url.as_deref().unwrap_or(URL), is_elsewhere)?;
    let transport = settings.transport(tls)?;
    let call = Call::of(settings, &path)?;
    let (path, url) = call.as_ref().map_or((path, url), |call| (call.method.clone(), call.method.clone()));
    let mut revisions = None;
    let (mut lineup, mut entrants) = match servers {
        ServerSource::Images => setup::images(&images::resolve(settings, stop)?, &path)?,
        ServerSource::Revisions => {
            let built = revisions.insert(revisions::build(settings, one.folder.as_deref(), stop)?);
            setup::commands(&built.commands, &path)?
        }
        ServerSource::Urls => return running(settings, &args.running.pids),
        ServerSource::Commands => {
            let here = settings.named.iter().map(|line| ServerCommand::at(line, is_elsewhere));
            setup::commands(&here.collect::<Vec<_>>(), &path)?
        }
    };
    lineup.wait_for_answers(settings.ready.as_deref().copied());
    lineup.ask_at(asked_at.as_ref());
    lineup.speak(transport);
    lineup.send(&call.map(|call| call.message).unwrap_or_default());
    if let Some(revisions) = &revisions {
        revisions.name(&mut entrants);
    }
    let raced = Raced { prepare: args.prepare.clone(), ..Raced::default() };
    Ok(RaceServers { lineup, entrants, path, url, transport, raced, revisions })
}

/// Servers that already run, at these URLs.
fn running(settings: &RaceSettings, pids: &[i32]) -> anyhow::Result<RaceServers> {
    let mut targets = race_urls::targets(&settings.named)?;
    let path = targets.first().map(|target| target.path.clone()).unwrap_or_default();
    let call = Call::of(settings, &path)?;
    let path = call.as_ref().map_or(path, |call| call.method.clone());
    targets.iter_mut().for_each(|target| target.path.clone_from(&path));
    let transport = settings.transport(targets.first().is_some_and(|target| target.tls))?;
    let (mut lineup, entrants) = setup::running(&targets, pids)?;
    for doubt in setup::not_above_listeners(&targets, pids) {
        alert!("drome: {doubt}");
    }
    lineup.speak(transport);
    lineup.send(&call.map(|call| call.message).unwrap_or_default());
    let raced = Raced { running: true, ..Raced::default() };
    Ok(RaceServers { lineup, entrants, url: path.clone(), path, transport, raced, revisions: None })
}

/// What is called in place of a path.
struct Call {
    method: String,
    message: Vec<u8>,
}

impl Call {
    /// The call that the settings ask for; `path`: that of the URL, which would not be asked for.
    fn of(settings: &RaceSettings, path: &str) -> Result<Option<Self>, WrongInput> {
        let Some(method) = &settings.grpc else {
            return match &settings.data {
                Some(_) => refuse!("--data needs --grpc: it is the message of a call"),
                None => Ok(None),
            };
        };
        // drome.toml has not been checked by the command line's parser.
        let method = grpc_method(method).map_err(|why| WrongInput(format!("--grpc {method}: {why}")))?;
        if path != "/" {
            refuse!("--grpc has the path, so {path} of the URL would not be asked for: leave it out");
        }
        let message = settings.data.as_deref().map(|file| bytes_of("--data", Path::new(file))).transpose()?;
        Ok(Some(Self { method, message: message.unwrap_or_default() }))
    }
}

/// Fails if an option is given that is for servers that are named in another way.
fn ensure_used(args: &RaceArgs, servers: ServerSource) -> Result<(), WrongInput> {
    let of_started = [
        ("--prepare", args.prepare.is_some(), "it runs before a server starts, and these already run"),
        ("--alone", args.alone, "it starts one server at a time, and these already run side by side"),
    ];
    let of_started =
        of_started.into_iter().filter(|(_, is_given, _)| *is_given && servers == ServerSource::Urls);
    let misplaced = args.settings.misplaced(servers).into_iter().map(|[option, _, why]| (option, why));
    match misplaced.chain(of_started.map(|(option, _, why)| (option, why))).next() {
        Some((option, why)) => refuse!("{option}: {why}; leave it out"),
        None => Ok(()),
    }
}
