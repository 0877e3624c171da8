//! `drome history`: shows all runs of a study over time.

use super::pictures::{Kind, Pictures};
use super::store;
use crate::console;
use crate::failure::WrongInput;
use crate::options::Common;
use clap::{Args, ValueEnum};
use model::History;
use std::path::PathBuf;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct HistoryArgs {
    /// Study whose runs are shown
    study: String,
    /// Show only this contender; may be repeated
    #[arg(long, value_name = "NAME")]
    contender: Vec<String>,
    /// Show only this cell of the study, counted from 1
    #[arg(long, value_name = "N")]
    cell: Option<usize>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Terminal)]
    format: Format,
    /// With --format svg or png: write the chart to this file, or the charts of all cells to this folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Terminal,
    Markdown,
    Json,
    Csv,
    Svg,
    Png,
}

/// Reads all runs of the study and prints its history.
pub fn run(args: &HistoryArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let kind = match args.format {
        Format::Svg => Some(Kind::Svg),
        Format::Png => Some(Kind::Png),
        _ => None,
    };
    if args.output.is_some() && kind.is_none() {
        let words = "--output is for --format svg and --format png; other formats go to standard output";
        return Err(WrongInput(words.to_owned()).into());
    }
    let pictures = kind.map(|kind| Pictures::to(kind, None, args.output.as_deref())).transpose()?;
    let mut history = history(&args.study, common)?;
    narrow(&mut history, args)?;
    if let Some(pictures) = pictures {
        let charts = report::chart::of_history(&history);
        if args.output.is_none() && charts.len() > 1 {
            let words = format!(
                "the history of {} has {} charts: choose one with --cell, or give a folder for all with --output",
                history.study,
                charts.len()
            );
            return Err(WrongInput(words).into());
        }
        pictures.write(&format!("the history of {}", history.study), charts)?;
        return Ok(ExitCode::SUCCESS);
    }
    console::print(&match args.format {
        Format::Terminal => report::history::terminal(&history, &console::text_style()),
        Format::Markdown => report::history::markdown(&history),
        Format::Json => serde_json::to_string_pretty(&history)? + "\n",
        Format::Csv | Format::Svg | Format::Png => report::history::csv(&history),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn history(study: &str, common: &Common) -> anyhow::Result<History> {
    let store = store(common)?;
    // The store lists the latest first.
    let mut listed = store.runs()?;
    listed.retain(|run| run.kind.is_measured());
    listed.reverse();
    let known: std::collections::BTreeSet<String> = listed.iter().map(|run| run.name.clone()).collect();
    listed.retain(|run| run.name == study);
    let unended = listed.iter().filter(|run| run.ended.is_none()).count();
    listed.retain(|run| run.ended.is_some());
    if listed.is_empty() {
        let words = match (unended, known.is_empty()) {
            (1.., _) => {
                format!("no run of {study} has ended yet: `drome list runs` shows which can be resumed")
            }
            (_, true) => format!("there are no runs yet: `drome run {study}` makes one"),
            _ => {
                let known: Vec<String> = known.into_iter().collect();
                format!("there is no run of {study}; there are runs of {}", known.join(", "))
            }
        };
        return Err(WrongInput(words).into());
    }
    let mut runs = Vec::with_capacity(listed.len());
    for listed in &listed {
        // One run at a time, because its observations are far larger than its findings.
        let (run, observations, ended) = store.run(&listed.id)?;
        runs.push(lab::findings::of(&store, &run, &observations, ended.as_deref())?);
    }
    if !runs.iter().any(lab::findings::history::has_reference) {
        let words =
            format!("the runs of {study} have no reference, so the machine's drift is unknown: run a study");
        return Err(WrongInput(words).into());
    }
    Ok(lab::findings::history::history(study, &runs, unended))
}

/// Removes what was not asked for; the findings of the rest stay the same.
fn narrow(history: &mut History, args: &HistoryArgs) -> anyhow::Result<()> {
    if let Some(number) = args.cell {
        let cells = history.cells.iter().filter(|cell| cell.number.is_some()).count();
        history.cells.retain(|cell| cell.number == Some(number));
        if history.cells.is_empty() {
            let words =
                format!("--cell {number}: the latest run of {} has cells 1 to {cells}", history.study);
            return Err(WrongInput(words).into());
        }
    }
    if args.contender.is_empty() {
        return Ok(());
    }
    let known: std::collections::BTreeSet<String> =
        history.cells.iter().flat_map(|cell| &cell.contenders).map(|c| c.name.clone()).collect();
    if let Some(other) = args.contender.iter().find(|name| !known.contains(*name)) {
        let known: Vec<String> = known.into_iter().collect();
        let words = format!("--contender {other}: not in these runs; there are {}", known.join(", "));
        return Err(WrongInput(words).into());
    }
    for cell in &mut history.cells {
        cell.contenders.retain(|c| args.contender.contains(&c.name));
    }
    history.cells.retain(|cell| !cell.contenders.is_empty());
    Ok(())
}
