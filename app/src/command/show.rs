//! `drome show NAME`: prints a study, contender or workload as it is declared.

use super::catalog;
use crate::console;
use crate::failure::WrongInput;
use crate::options::Common;
use clap::Args;
use lab::setup;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Study, contender or workload to print
    name: String,
}

/// Prints everything of this name.
pub fn run(args: &ShowArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let (catalog, name) = (catalog(common)?, &args.name);
    let mut out = String::new();
    if let Some(study) = catalog.studies.get(name) {
        out += &format!("# studies/{name}.toml\n{}", toml::to_string_pretty(study)?);
    }
    if let Some(entry) = catalog.contenders.get(name) {
        let prepared = setup::prepare(&catalog, std::slice::from_ref(name))?;
        let state = prepared
            .iter()
            .map(|p| p.version().map_or_else(|lack| lack.sentence(), |v| format!("version {v}")));
        out += &format!("# contenders/{name}/contender.toml: {}\n", state.collect::<String>());
        out += &toml::to_string_pretty(&entry.contender)?;
        for path in entry.sources.keys() {
            out += &format!("# src/{}\n", path.display());
        }
    }
    if let Some(workload) = catalog.workloads.get(name) {
        out += &format!("# workloads/{name}.toml\n{}", toml::to_string_pretty(workload)?);
    }
    if out.is_empty() {
        let all = catalog.studies.keys().chain(catalog.contenders.keys()).chain(catalog.workloads.keys());
        let nearest = control::catalog::nearest(name, all.map(String::as_str));
        let hint = nearest.map_or_else(String::new, |n| format!(" (did you mean `{n}`?)"));
        return Err(WrongInput(format!(
            "there is no study, contender or workload `{name}`{hint}: `drome list` shows them all"
        ))
        .into());
    }
    console::print(&out)?;
    Ok(ExitCode::SUCCESS)
}
