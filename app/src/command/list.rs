//! `drome list`: lists the catalog and the runs, and shows which contenders are installed.

use super::{catalog, machines, store};
use crate::console;
use crate::failure::WrongInput;
use crate::options::Common;
use clap::{Args, ValueEnum};
use control::Catalog;
use control::prepare::assets;
use lab::setup;
use model::study::RACE;
use report::units;
use std::fmt::Write;
use std::process::ExitCode;
use store::Kind;

/// The bar while contenders are asked for their versions, which takes seconds.
const TEMPLATE: &str =
    "{bar:24} {pos}/{len} contenders, {elapsed} so far, {eta} left: asking for the version of {msg}";

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list [default: studies, contenders and workloads]
    what: Option<What>,
    /// With runs: list only runs measured on the machine that the list shows as NAME; `here` is this one
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    Studies,
    Contenders,
    Workloads,
    Runs,
}

/// Prints the lists.
pub fn run(args: &ListArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let wants = |what| args.what.is_none_or(|wanted| wanted == what);
    let mut out = String::new();
    if args.what == Some(What::Runs) {
        runs(common, args.machine.as_deref(), &mut out)?;
    } else if args.machine.is_some() {
        return Err(WrongInput("--machine is for the list of runs: `drome list runs`".to_owned()).into());
    } else {
        let catalog = catalog(common)?;
        if wants(What::Studies) {
            studies(&catalog, &mut out);
        }
        if wants(What::Contenders) {
            contenders(&catalog, &mut out)?;
        }
        if wants(What::Workloads) {
            workloads(&catalog, &mut out)?;
        }
    }
    console::tell(&out)?;
    Ok(ExitCode::SUCCESS)
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
    let bar = console::bar(names.len() as u64, TEMPLATE);
    for prepared in setup::prepare(catalog, &names)? {
        bar.set_message(console::fitted(&prepared.name));
        bar.inc(1);
        let state = prepared.version().unwrap_or_else(|lack| format!("missing: {}", lack.sentence()));
        let _ = writeln!(out, "  {:<26}{}", prepared.name, state);
    }
    bar.finish_and_clear();
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
        let machine =
            if has_others { format!("{}  ", machines::name(run.machine.as_deref())) } else { String::new() };
        let size = units::several(run.count, run.kind.word());
        let summary = match run.kind {
            Kind::Starts => {
                let unfinished =
                    if run.machine.is_some() { "unfinished" } else { "unfinished: --resume continues it" };
                format!("{size}; {}", run.ended.unwrap_or_else(|| unfinished.to_owned()))
            }
            Kind::Readings => format!("imported: {size}"),
            Kind::CommandLines if run.ended.is_some() => format!("as published: {size}"),
            Kind::CommandLines => format!("as published: {size}; interrupted"),
            Kind::Report => run.ended.unwrap_or_default(),
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
