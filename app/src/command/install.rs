//! `drome install NAME…`: installs contenders, or everything that a study needs. What is already installed stays as
//! it is.

use super::catalog;
use crate::console;
use crate::failure::FAILED;
use crate::options::Common;
use clap::Args;
use control::prepare::Prepared;
use control::{Catalog, CatalogError};
use lab::setup;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct InstallArgs {
    /// Contenders to install; a study stands for all of its contenders
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Install without asking
    #[arg(long, short)]
    yes: bool,
}

/// Installs the contenders, and prints which are available afterwards.
pub fn run(args: &InstallArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let catalog = catalog(common)?;
    let prepared = setup::prepare(&catalog, &contenders(&catalog, &args.names)?)?;
    get(&prepared, args.yes);
    let (mut out, mut lacking) = (String::new(), 0);
    for prepared in &prepared {
        let state = prepared.version().unwrap_or_else(|lack| {
            lacking += 1;
            format!("missing: {}", lack.sentence())
        });
        out.push_str(&format!("{:<26}{state}\n", prepared.name));
    }
    console::tell(&out)?;
    Ok(if lacking > 0 { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// The contenders of these names; a study stands for all of its own.
pub fn contenders(catalog: &Catalog, names: &[String]) -> Result<Vec<String>, CatalogError> {
    let mut all = BTreeSet::new();
    for name in names {
        if let Some(study) = catalog.studies.get(name) {
            all.extend(study.contenders.iter().cloned());
        } else {
            catalog.contender(name)?;
            all.insert(name.clone());
        }
    }
    Ok(all.into_iter().collect())
}

/// Installs what these contenders lack. A failure is reported, and the others continue.
pub fn get(prepared: &[Prepared], yes: bool) {
    let bar = console::bar(0, "{elapsed} so far\n{msg}");
    bar.set_message("looking for what is installed");
    let ask = |what: &str| yes || bar.suspend(|| console::confirm(what));
    // The first line estimates the time; a package manager does not say how far it is.
    let say = |line: &str| {
        bar.suspend(|| note!("{line}"));
        bar.set_message(console::fitted(line));
    };
    let installed = control::prepare::install::install(prepared, &ask, &say);
    drop(bar);
    if let Err(why) = installed {
        alert!("drome: {why}");
    }
}
