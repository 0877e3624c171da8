//! Several races of the same servers, one for each cell of a file, judged together.

use super::{Measured, OneRace, RaceArgs, check_margin, exit_of, is_of_a_later_one, measured};
use crate::command::verdict_file::VerdictFile;
use crate::failure::{self, WrongInput, first_given};
use crate::options::Common;
use crate::signals::{ensure_not_stopped, stop_flag};
use control::catalog::narrow::position;
use model::gate::{Gate, Outcome};
use model::{Findings, GateVerdict};
use std::process::ExitCode;

/// The races of the wanted cells, each knowing how many there are; all if none is wanted. Fails if there is no such cell.
pub fn selected(all: Vec<OneRace>, wanted: &[String]) -> Result<Vec<OneRace>, WrongInput> {
    let titles: Vec<&str> = all.iter().filter_map(|one| one.title.as_deref()).collect();
    let place = |given: &String| position(&titles, given);
    if let Some(unknown) = wanted.iter().find(|given| place(given).is_none()) {
        let has = match titles.as_slice() {
            [] => "has no cells".to_owned(),
            titles => format!("has: {}", titles.join(", ")),
        };
        refuse!("--cell {unknown}: the file {has}");
    }
    let wanted: Vec<usize> = wanted.iter().filter_map(place).collect();
    let is_selected = |nth: usize| wanted.is_empty() || wanted.contains(&nth);
    let mut selected: Vec<OneRace> =
        all.into_iter().enumerate().filter(|(nth, _)| is_selected(*nth)).map(|(_, one)| one).collect();
    let cells = selected.len();
    selected.iter_mut().for_each(|one| one.cells = Some(cells).filter(|cells| *cells > 1));
    Ok(selected)
}

/// Fails if an option is given that each race would write to the same file or folder.
fn ensure_fit(args: &RaceArgs) -> Result<(), WrongInput> {
    let of_one = [
        ("--profile", args.profile.is_some()),
        ("--export", args.export.is_some()),
        ("--output and --charts", args.report_output.has_output()),
    ];
    if let Some(option) = first_given(&of_one) {
        refuse!("{option}: for one cell only; choose it with --cell, by its title or number");
    }
    Ok(())
}

/// Runs the races, and judges them together: they are slower if one cell is slower, and have passed if every cell has passed.
pub fn race(all: &[OneRace], common: &Common, file: Option<&VerdictFile>) -> anyhow::Result<ExitCode> {
    let Some(first) = all.first() else { return Ok(ExitCode::SUCCESS) };
    ensure_fit(&first.args)?;
    all.iter().try_for_each(|one| check_margin(&one.args))?;
    let (mut gates, mut races) = (Vec::new(), Vec::new());
    let stop = stop_flag()?;
    for (nth, one) in all.iter().enumerate() {
        // The signal may have come while the report of the cell before was written.
        ensure_not_stopped(&stop)?;
        let title = one.title.clone().unwrap_or_default();
        alert!("drome: cell {} of {}: {title}", nth + 1, all.len());
        match measured(one, common, None) {
            Ok(race) => {
                gates.extend(race.gate.clone().map(|gate| (title, gate)));
                races.push(race);
            }
            Err(error) => match one.args.margin() {
                Some(margin) if is_of_a_later_one(&error, &one.args.settings.rev) => {
                    let _ = failure::tell(&error);
                    gates.push((title, unjudged(margin, &error)));
                }
                _ => return Err(error),
            },
        }
    }
    conclude(&first.args, gates, races, file)
}

/// The judgement of a race that could not begin.
fn unjudged(margin: f64, error: &anyhow::Error) -> Gate {
    let why = error.to_string().lines().next().unwrap_or_default().to_owned();
    Gate { margin, changes: Vec::new(), unknown: vec![why] }
}

/// Writes the judgement of all races and returns the exit code: that of the judgement, or without one the first that is not success.
fn conclude(
    args: &RaceArgs,
    gates: Vec<(String, Gate)>,
    races: Vec<Measured>,
    file: Option<&VerdictFile>,
) -> anyhow::Result<ExitCode> {
    let failure = races.iter().map(|race| race.exit).find(|exit| *exit != ExitCode::SUCCESS);
    let Some(gate) = Gate::of_cells(gates) else { return Ok(failure.unwrap_or(ExitCode::SUCCESS)) };
    let outcome = gate.outcome();
    alert!("drome: all cells together: {}", words(outcome));
    let mut races = races.into_iter();
    if let Some((file, first)) = file.zip(races.next()) {
        let others: Vec<Findings> = races.map(|race| race.findings).collect();
        file.write(&GateVerdict::of_races(&gate, &first.findings, &others, first.revisions))?;
    }
    Ok(exit_of(args, outcome))
}

fn words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Slower => "slower than a margin allows",
        Outcome::Passed => "no slower than the margins allow",
        Outcome::Open => "undecided",
    }
}
