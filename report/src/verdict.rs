//! The verdict of a run, as it stands above its figures: which contender is best and by how much, how certain that is, and
//! how well the machine behaved.

use crate::document::Document;
use crate::{answer, machine, race, ranking, units};
use model::Findings;
use model::findings::{CellFindings, ContenderFindings};
use std::collections::BTreeMap;

/// The whole verdict.
pub fn document(f: &Findings) -> Document {
    let mut document = Document::default().section("verdict", "Verdict");
    if let Some(cell) = f.cells.first().filter(|_| f.race.is_some()) {
        document = document.commands(race::commands(f, cell));
    }
    if f.quick {
        document = document.sentence("A first look: its starts are too few for ranks.");
    }
    for cell in &f.cells {
        if f.cells.len() > 1 {
            document = document.heading(3, &cell.title);
        }
        let mut best = best(f, cell).into_iter();
        document = best.next().into_iter().fold(document, Document::finding).sentences(best);
        document = document.remark(certainty(cell));
    }
    document.sentence(machine(f))
}

/// Which contender of a cell is best, and by how much: one sentence, or in a race some for every pair.
pub fn best(f: &Findings, cell: &CellFindings) -> Vec<String> {
    let of_race = race::verdicts(f);
    if of_race.is_empty() { answer::of(f, cell).into_iter().take(1).collect() } else { of_race }
}

/// How certain the result of a cell is: what is decided, and which differences could have been detected.
pub fn certainty(cell: &CellFindings) -> String {
    let counted =
        answer::counted(cell.in_heats.pairs).map(|counted| format!("{}. ", units::capital(&counted)));
    format!("{}{}.", counted.unwrap_or_default(), units::capital(&ranking::floor(cell)))
}

/// How well the machine behaved: what was lost, what was disturbed, and what else ran.
pub fn machine(f: &Findings) -> String {
    let all = f.cells.iter().flat_map(|cell| &cell.contenders);
    let sum = |of: fn(&ContenderFindings) -> usize| all.clone().map(of).sum::<usize>();
    let (measured, lost) = (sum(|c| c.trials + c.failed), sum(|c| c.void + c.failed));
    let what = units::several(measured, "start");
    let mut lines = vec![match (measured, lost) {
        (0, _) => "Nothing has been measured yet.".to_owned(),
        (_, 0) => format!("All {what} were sound."),
        (_, lost) => format!("{} of {what} were void or failed.", units::count(lost as u64)),
    }];
    let heats = f.cells.iter().map(|cell| &cell.in_heats);
    let (disturbed, all) =
        heats.clone().fold((0, 0), |(some, all), cell| (some + cell.never_quiet, all + cell.heats));
    if disturbed > 0 {
        let of = match f.cells.len() {
            1 => units::several(all, "heat"),
            _ => format!("{} measured cells of all heats", units::count(all as u64)),
        };
        let by = heats.map(answer::mostly).find(|by| !by.is_empty()).unwrap_or_default();
        lines.push(format!("Background load{by} ran nearly all the time in {disturbed} of {of}."));
    }
    lines.push(machine::conditions(&f.conditions).map_or_else(
        || "What else the machine did meanwhile is unknown.".to_owned(),
        |conditions| format!("{}.", units::capital(&conditions)),
    ));
    lines.join(" ").replace(" %", "\u{a0}%")
}

/// The verdict in one line, for a list of runs.
pub fn in_one_line(f: &Findings) -> String {
    if let [cell] = f.cells.as_slice() {
        return best(f, cell).into_iter().next().unwrap_or_default();
    }
    let mut led: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (cell, leader) in f.cells.iter().filter_map(|cell| Some((cell, f.leader(cell)?))) {
        let among = if f.has_unranked(cell) { " of those with a rank" } else { "" };
        *led.entry((&leader.title, among)).or_default() += 1;
    }
    let undecided = f.cells.len() - led.values().sum::<usize>();
    let mut led: Vec<((&str, &str), usize)> = led.into_iter().collect();
    led.sort_by_key(|(_, cells)| std::cmp::Reverse(*cells));
    let all = units::several(f.cells.len(), "cell");
    let line = |((title, among), cells): &((&str, &str), usize)| {
        format!("{title} is the best{among} in {cells} of {all}")
    };
    let mut lines: Vec<String> = led.iter().map(line).collect();
    if undecided > 0 {
        lines.push(format!("undecided in {undecided} of {all}"));
    }
    lines.join("; ")
}
