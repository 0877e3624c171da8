//! `drome verify`: checks every contender's answers.

use super::format::FormatArgs;
use super::install;
use super::servers_on::{self, ServersOnArgs};
use crate::console;
use crate::failure::{CHECK_FAILED, FAILED, WrongInput};
use crate::options::Common;
use crate::signals::{ensure_not_stopped, stop_flag};
use clap::{Args, ValueEnum};
use control::machine::cores::Cores;
use control::prepare::Prepared;
use control::prepare::assets;
use control::remote::RemoteMachine;
use control::server::inspect;
use control::server::starting::ServerPlace;
use control::{Catalog, CatalogError};
use lab::setup;
use lab::setup::Lineup;
use model::contender::Track;
use model::inspection::Inspection;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Contenders to check; a study stands for all of its contenders, on its other machine if it has `server-on` [default: all contenders]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Install what is missing: packages with the system's package manager, builds in the cache folder
    #[arg(long)]
    install: bool,
    /// Install without asking
    #[arg(long, short, requires = "install")]
    yes: bool,
    /// Check only the tuned tracks
    #[arg(long)]
    tuned: bool,
    #[command(flatten)]
    servers_on: ServersOnArgs,
    #[command(flatten)]
    shown: FormatArgs<Format>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Terminal,
    Markdown,
    Json,
}

/// Checks the contenders and prints what is wrong.
pub fn run(args: &VerifyArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let to = args.shown.destination()?;
    let catalog = super::catalog(common)?;
    let names = if args.names.is_empty() {
        catalog.contenders.keys().cloned().collect()
    } else {
        asked(&catalog, &args.names)?
    };
    let all = verify(args, &catalog, &names)?;
    let text = match to.format {
        Format::Terminal => report::inspections::document(&all).terminal(&to.look()),
        Format::Markdown => report::inspections::document(&all).markdown(),
        Format::Json => report::json(&all),
    };
    to.write(text.as_bytes())?;
    // A contender that was asked for by name must not be missing.
    let is_missing = !args.names.is_empty() && all.iter().any(|seen| seen.missing.is_some());
    Ok(match (all.iter().any(Inspection::has_failed), is_missing) {
        (true, _) => ExitCode::from(CHECK_FAILED),
        (false, true) => ExitCode::from(FAILED),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// The contenders of these names. If a study and a contender share a name, the contender is meant, because contenders
/// are what is verified.
fn asked(catalog: &Catalog, names: &[String]) -> Result<Vec<String>, CatalogError> {
    let is_contender = |name: &&String| catalog.contenders.contains_key(*name);
    let (contenders, studies): (Vec<&String>, Vec<&String>) = names.iter().partition(is_contender);
    let mut all = install::contenders(catalog, &studies.into_iter().cloned().collect::<Vec<_>>())?;
    all.extend(contenders.into_iter().cloned());
    all.sort();
    all.dedup();
    Ok(all)
}

/// The other machine of the studies among these names, which all of them must have.
fn server_on<'c>(catalog: &'c Catalog, names: &[String]) -> Result<Option<&'c str>, WrongInput> {
    let is_contender = |name: &String| catalog.contenders.contains_key(name);
    let studies =
        names.iter().filter(|name| !is_contender(name)).filter_map(|name| catalog.studies.get(name));
    let mut all: Vec<Option<&str>> = studies.map(|study| study.server_on.as_deref()).collect();
    all.sort_unstable();
    all.dedup();
    if let [one, another, ..] = all[..] {
        let shown =
            |words: Option<&str>| words.map_or("this machine".to_owned(), |words| format!("`{words}`"));
        refuse!(
            "these studies start their servers on different machines, {} and {} (server-on): verify one study at a time, or choose the \
             machine with --server-on",
            shown(one),
            shown(another)
        );
    }
    Ok(all.pop().flatten())
}

fn verify(args: &VerifyArgs, catalog: &Catalog, names: &[String]) -> anyhow::Result<Vec<Inspection>> {
    let all = setup::prepare(catalog, names)?;
    let all = all.into_iter().flat_map(|p| setup::on_tracks(p, &[Track::Default, Track::Tuned]));
    let all: Vec<Prepared> = all.filter(|p| !args.tuned || p.track == Track::Tuned).collect();
    let of_study = if args.servers_on.is_given() { None } else { server_on(catalog, &args.names)? };
    let (remote, stop) = (args.servers_on.connect(of_study)?, stop_flag()?);
    if let Some(words) = of_study {
        note!("checked on the other machine of the study: {words}");
    }
    let mut lineup = Lineup { prepared: all, works: assets::works(catalog)?, remote: None };
    servers_on::take(remote.as_ref(), &mut lineup)?;
    if args.install {
        servers_on::install(remote.as_ref(), &mut lineup, args.yes, &stop);
    }
    let Lineup { prepared, works, .. } = lineup;
    let assets = assets::assets(&works)?;
    let cpus = remote.as_ref().map_or_else(Cores::deal, RemoteMachine::cores).server;
    let logs = control::prepare::folders::cache().join("logs").join("verify");
    std::fs::create_dir_all(&logs)?;
    let bar = console::counted(prepared.len(), "contenders", "\n{msg}");
    let mut all = Vec::new();
    for prepared in &prepared {
        bar.set_message(console::fitted(&prepared.name));
        ensure_not_stopped(&stop)?;
        let log = logs.join(format!("{}.log", prepared.name));
        let (cpus, assets) = (cpus.clone(), assets.clone());
        let place = ServerPlace { cpus, connections: 1, tls: false, assets, log };
        let seen = inspect::inspect(prepared, &place, &works, &stop);
        ensure_not_stopped(&stop)?;
        let seen = seen.map_err(|why| anyhow::anyhow!("can't check {}: {why}", prepared.name))?;
        bar.suspend(|| note!("{}: {}", seen.name, state(&seen)));
        bar.inc(1);
        all.push(seen);
    }
    Ok(all)
}

fn state(seen: &Inspection) -> String {
    match &seen.missing {
        Some(_) => "missing".to_owned(),
        None if seen.has_failed() => format!("{} failed", report::units::several(seen.wrong.len(), "check")),
        None => format!("{} correct", report::units::several(seen.right, "workload")),
    }
}
