//! `drome list`: lists the catalog and the runs, and shows which contenders are installed; `drome list NAME` prints an entry as it is declared.

use super::{catalog, store};
use crate::console;
use crate::options::Common;
use crate::stored::machines;
use clap::Args;
use control::Catalog;
use control::catalog::did_you_mean;
use control::prepare::assets;
use lab::setup;
use model::study::RACE;
use report::units;
use std::fmt::Write;
use std::process::ExitCode;
use store::EntryKind;

/// The lists.
const LISTS: [&str; 4] = ["studies", "contenders", "workloads", "runs"];

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// List to print: studies, contenders, workloads or runs; or a study, contender or workload to print as it is declared [default:
    /// studies, contenders and workloads]
    name: Option<String>,
    /// With runs: list only runs measured on the machine that the list shows as NAME; `here` is this one
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
}

/// Prints the lists, or what has the name.
pub fn run(args: &ListArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let mut out = String::new();
    if args.machine.is_some() && args.name.as_deref() != Some("runs") {
        refuse!("--machine is for the list of runs: `drome list runs`");
    }
    match args.name.as_deref() {
        Some("runs") => runs(common, args.machine.as_deref(), &mut out)?,
        Some("studies") => studies(&catalog(common)?, &mut out),
        Some("contenders") => contenders(&catalog(common)?, &mut out)?,
        Some("workloads") => workloads(&catalog(common)?, &mut out)?,
        Some(name) => {
            console::print(&declared(&catalog(common)?, name)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {
            let catalog = catalog(common)?;
            studies(&catalog, &mut out);
            contenders(&catalog, &mut out)?;
            workloads(&catalog, &mut out)?;
        }
    }
    console::tell(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// Everything of this name, as TOML.
fn declared(catalog: &Catalog, name: &str) -> anyhow::Result<String> {
    let mut out = String::new();
    if let Some(study) = catalog.studies.get(name) {
        out += &format!("# studies/{name}.toml\n{}", toml::to_string_pretty(study)?);
    }
    if let Some(entry) = catalog.contenders.get(name) {
        let prepared = setup::prepare(catalog, &[name.to_owned()])?;
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
        let hint = did_you_mean(name, all.map(String::as_str).chain(LISTS));
        refuse!("there is no study, contender or workload `{name}`{hint}: `drome list` shows them all");
    }
    Ok(out)
}

fn studies(catalog: &Catalog, out: &mut String) {
    out.push_str("studies\n");
    for (name, study) in &catalog.studies {
        let _ = writeln!(out, "  {name:<26}{} ({} contenders)", study.title, study.contenders.len());
    }
}

fn contenders(catalog: &Catalog, out: &mut String) -> anyhow::Result<()> {
    out.push_str("contenders\n");
    let names: Vec<String> = catalog.contenders.keys().cloned().collect();
    // Asking takes seconds.
    let bar = console::counted(names.len(), "contenders", ": asking for the version of {msg}");
    for prepared in setup::prepare(catalog, &names)? {
        bar.set_message(console::fitted(&prepared.name));
        bar.inc(1);
        let state = prepared.version().unwrap_or_else(|lack| format!("missing: {}", lack.sentence()));
        let _ = writeln!(out, "  {:<26}{}", prepared.name, state);
    }
    Ok(())
}

fn workloads(catalog: &Catalog, out: &mut String) -> anyhow::Result<()> {
    out.push_str("workloads\n");
    for (name, work) in assets::works(catalog)? {
        let title = work.workload.map(|w| w.title).unwrap_or_default();
        let _ = writeln!(out, "  {name:<26}{title} ({} bytes)", work.body.map_or(0, |b| b.len()));
    }
    Ok(())
}

fn runs(common: &Common, machine: Option<&str>, out: &mut String) -> anyhow::Result<()> {
    let mut all = store(common)?.everything()?;
    // Before the filter, because the runs that it leaves out also show that there are several machines.
    let has_others = all.iter().any(|run| run.machine.is_some());
    if let Some(machine) = machine {
        machines::only(&mut all, machine)?;
    }
    for run in all {
        let machine = if has_others { format!("{}  ", machines::name(&run)) } else { String::new() };
        let size = units::several(run.count, run.kind.word());
        let summary = match run.kind {
            EntryKind::Starts => {
                let unfinished =
                    if run.machine.is_some() { "unfinished" } else { "unfinished: --resume continues it" };
                format!("{size}; {}", run.ended.unwrap_or_else(|| unfinished.to_owned()))
            }
            EntryKind::Readings => format!("imported: {size}"),
            EntryKind::CommandLines if run.ended.is_some() => format!("as published: {size}"),
            EntryKind::CommandLines => format!("as published: {size}; interrupted"),
            EntryKind::Report => run.ended.unwrap_or_default(),
        };
        // All races have the same name; their labels tell them apart.
        let labels = if run.name == RACE { format!(": {}", run.title) } else { String::new() };
        let _ = writeln!(out, "{}  {machine}{}{labels}  {summary}", run.id, run.name);
    }
    if out.is_empty() {
        out.push_str("no runs yet: `drome run raspberry-pi` makes one\n");
    }
    Ok(())
}
