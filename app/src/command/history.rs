//! `drome history`: shows all runs of a study over time.

use super::format::{Destination, FormatArgs};
use super::pictures::Pictures;
use super::store;
use crate::console;
use crate::options::Common;
use crate::stored::formats::PictureKind;
use crate::stored::machines;
use clap::{Args, ValueEnum};
use model::History;
use model::history::CellHistory;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Study whose runs are shown
    study: String,
    /// Show only this contender; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    contender: Vec<String>,
    /// Show only this cell, by its title or number; may be repeated
    #[arg(long, value_name = "CELL")]
    cell: Vec<String>,
    /// Follow only the runs of this machine, as `drome list runs` names it; `here` is this machine [default: in each cell the
    /// machine with the most runs]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    #[command(flatten)]
    shown: FormatArgs<Format>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Terminal,
    Markdown,
    Json,
    Csv,
    Svg,
    Png,
}

/// Reads all runs of the study and prints its history.
pub fn run(args: &HistoryArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let (format, path) = (args.shown.format()?, args.shown.output.as_deref());
    let kind = match format {
        Format::Svg => Some(PictureKind::Svg),
        Format::Png => Some(PictureKind::Png),
        _ => None,
    };
    let pictures = kind.map(|kind| Pictures::to(kind, None, path)).transpose()?;
    let to = Destination::new(format, path.filter(|_| pictures.is_none()))?;
    let mut history = history(&args.study, args.machine.as_deref(), common)?;
    narrow(&mut history, args)?;
    if let Some(pictures) = pictures {
        let what = format!("the history of {}", history.study);
        pictures.write(&what, report::chart::of_history(&history), Some("--cell"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match format {
        Format::Terminal => report::history::document(&history).terminal(&to.look()),
        Format::Markdown => report::history::document(&history).markdown(),
        Format::Json => report::json(&history),
        Format::Csv => report::history::records(&history).csv(),
        Format::Svg | Format::Png => {
            refuse!("charts are files of their own: name a file or a folder with --output")
        }
    };
    to.write(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn history(study: &str, machine: Option<&str>, common: &Common) -> anyhow::Result<History> {
    let store = store(common)?;
    // The store lists the latest first.
    let mut listed = store.runs()?;
    listed.reverse();
    let known: std::collections::BTreeSet<String> = listed.iter().map(|run| run.name.clone()).collect();
    listed.retain(|run| run.name == study);
    if let Some(machine) = machine.filter(|_| !listed.is_empty()) {
        machines::only(&mut listed, machine)?;
    }
    let unended = listed.iter().filter(|run| run.ended.is_none()).count();
    listed.retain(|run| run.ended.is_some());
    if listed.is_empty() {
        let known: Vec<String> = known.into_iter().collect();
        match (unended, known.as_slice()) {
            (1.., _) => {
                refuse!("no run of {study} has ended yet: `drome list runs` shows which can be resumed")
            }
            (_, []) => refuse!("there are no runs yet: `drome run {study}` makes one"),
            _ => refuse!("there is no run of {study}; there are runs of {}", known.join(", ")),
        }
    }
    let bar = console::counted(listed.len(), "runs analysed", "");
    let mut runs = Vec::with_capacity(listed.len());
    for listed in &listed {
        // One run at a time, because its starts are far larger than its findings.
        let (run, ended) = store.run(&listed.id)?;
        runs.push(lab::findings::of(&store, &run, ended.as_deref())?);
        bar.inc(1);
    }
    if !runs.iter().any(judge::findings::history::has_reference) {
        refuse!(
            "no run of {study} has figures of the reference, so the machine's drift is unknown: choose a \
             study, because races have no reference"
        );
    }
    Ok(judge::findings::history::history(study, &runs, unended))
}

/// Whether a cell has this title or number.
fn is(cell: &CellHistory, given: &str) -> bool {
    cell.title == given || cell.number.is_some_and(|number| number.to_string() == given)
}

/// A cell's number, if the latest run has it, and title.
fn name(cell: &CellHistory) -> String {
    cell.number.map_or_else(|| cell.title.clone(), |number| format!("{number} ({})", cell.title))
}

/// Removes what was not asked for; the findings of the rest stay the same.
fn narrow(history: &mut History, args: &HistoryArgs) -> anyhow::Result<()> {
    if let Some(other) = args.cell.iter().find(|given| !history.cells.iter().any(|cell| is(cell, given))) {
        let known: Vec<String> = history.cells.iter().map(name).collect();
        refuse!("--cell {other}: not in these runs; there are {}", known.join(", "));
    }
    if !args.cell.is_empty() {
        history.cells.retain(|cell| args.cell.iter().any(|given| is(cell, given)));
    }
    if args.contender.is_empty() {
        return Ok(());
    }
    let known: std::collections::BTreeSet<String> =
        history.cells.iter().flat_map(|cell| &cell.contenders).map(|c| c.name.clone()).collect();
    if let Some(other) = args.contender.iter().find(|name| !known.contains(*name)) {
        let known: Vec<String> = known.into_iter().collect();
        refuse!("--contender {other}: not in these runs; there are {}", known.join(", "));
    }
    for cell in &mut history.cells {
        cell.contenders.retain(|c| args.contender.contains(&c.name));
    }
    history.cells.retain(|cell| !cell.contenders.is_empty());
    Ok(())
}
