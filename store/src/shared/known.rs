//! What is known of a run while its rows are checked one by one: what a later row may refer to, and what it must not repeat.

use super::text;
use model::Run;
use model::heat::{Heat, Slice, Start};
use model::origin::is_machine;
use model::study::REFERENCE;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The maximum number of contenders, and of cells. A study has some forty contenders.
const MOST_OF_STUDY: usize = 1_000;

/// The maximum number of rounds, because some tables have an entry for each.
const MOST_ROUNDS: usize = 100_000;

/// The maximum number of copies of a contender.
const MOST_COPIES: usize = 100;

/// The maximum number of cycles of a heat in a cell, and of turns in one of them.
const MOST_CYCLES: usize = 1_000_000;

/// The longest time of a design: a year.
pub const LONGEST: Duration = Duration::from_hours(366 * 24);

/// A start by round, heat, contender and copy.
type StartKey = (usize, usize, String, usize);

/// What is known of a run.
#[derive(Debug)]
pub struct KnownRun {
    names: BTreeSet<String>,
    cells: usize,
    has_ended: bool,
    heats: BTreeMap<(usize, usize), Heat>,
    /// The starts so far, each with its number in their order.
    starts: BTreeMap<StartKey, usize>,
    /// Start, cell, cycle and place.
    slices: BTreeSet<[usize; 4]>,
}

impl KnownRun {
    /// Checks what a run is about.
    pub fn of(run: &Run) -> Result<Self, String> {
        let study = &run.study;
        let mut names: BTreeSet<String> = run.contenders.keys().cloned().collect();
        names.insert(REFERENCE.to_owned());
        let workloads = study.cells.iter().map(|cell| &cell.workload);
        let all = names.iter().chain(&study.contenders).chain(workloads).chain([&run.name]);
        if let Some(wrong) = { all }.find(|name| !text::is_name(name)) {
            return Err(format!("`{}` can't be a name", text::quoted(wrong)));
        }
        within("cells", study.cells.len(), 1, MOST_OF_STUDY)?;
        within("contenders", names.len().max(study.contenders.len()), 1, MOST_OF_STUDY)?;
        within("copies", run.copies, 1, MOST_COPIES)?;
        within("the maximum number of rounds", study.design.rounds[1], 1, MOST_ROUNDS)?;
        let design = &study.design;
        let times = [
            ("warmup", design.warmup),
            ("warmup_limit", design.warmup_limit),
            ("measure", design.measure),
            ("budget", design.budget),
        ];
        if let Some((name, _)) = times.into_iter().find(|(_, length)| *length > LONGEST) {
            return Err(format!("`{name}` of the run's study is longer than a year"));
        }
        time(&run.started_at)?;
        Ok(Self {
            names,
            cells: study.cells.len(),
            has_ended: false,
            heats: BTreeMap::new(),
            starts: BTreeMap::new(),
            slices: BTreeSet::new(),
        })
    }

    /// Checks that the reason why the run ended is given only once.
    pub fn end(&mut self) -> Result<(), String> {
        if std::mem::replace(&mut self.has_ended, true) {
            Err("the run has ended already".to_owned())
        } else {
            Ok(())
        }
    }

    /// Checks a heat.
    pub fn heat(&mut self, heat: &Heat) -> Result<(), String> {
        heat.members.iter().try_for_each(|name| self.name(name))?;
        heat.cells.iter().try_for_each(|cell| self.cell(*cell))?;
        let distinct: BTreeSet<&String> = heat.members.iter().collect();
        once("member of the heat", distinct.len() == heat.members.len())?;
        within("round", heat.round, 0, MOST_ROUNDS)?;
        within("heat", heat.number, 0, MOST_ROUNDS)?;
        within("copies", heat.copies, 0, MOST_COPIES)?;
        if let Some(machine) = &heat.machine {
            within("attempt", machine.attempt, 1, MOST_ROUNDS)?;
            if !is_machine(&machine.name) {
                return Err(format!("`{}` can't be the name of a machine", text::quoted(&machine.name)));
            }
        }
        time(&heat.started_at)?;
        once("heat", self.heats.insert((heat.round, heat.number), heat.clone()).is_none())
    }

    /// Checks a start of a heat.
    pub fn start(&mut self, start: &Start) -> Result<(), String> {
        let heat = self.heats.get(&(start.round, start.heat)).ok_or("its heat is not there")?;
        if !heat.servers().contains(&(start.contender.as_str(), start.copy)) {
            return Err("it is not one of its heat's servers".to_owned());
        }
        start.cells.keys().try_for_each(|cell| self.cell(*cell))?;
        within("attempt", start.attempt, 0, MOST_ROUNDS)?;
        let (key, number) = (key((start.round, start.heat), &start.contender, start.copy), self.starts.len());
        once("start", self.starts.insert(key, number).is_none())
    }

    /// Checks a turn of a start.
    pub fn slice(&mut self, slice: &Slice) -> Result<(), String> {
        let start = key((slice.round, slice.heat), &slice.contender, slice.copy);
        let start = *self.starts.get(&start).ok_or("its start is not there")?;
        self.cell(slice.cell)?;
        within("cycle", slice.cycle, 0, MOST_CYCLES)?;
        within("place", slice.place, 0, MOST_CYCLES)?;
        once("slice", self.slices.insert([start, slice.cell, slice.cycle, slice.place]))
    }

    fn name(&self, name: &str) -> Result<(), String> {
        if self.names.contains(name) {
            return Ok(());
        }
        Err(format!("the run has no contender `{}`", text::quoted(name)))
    }

    fn cell(&self, cell: usize) -> Result<(), String> {
        if cell < self.cells {
            Ok(())
        } else {
            Err(format!("the run has {} cells, and not number {cell}", self.cells))
        }
    }
}

fn key((round, heat): (usize, usize), contender: &str, copy: usize) -> StartKey {
    (round, heat, contender.to_owned(), copy)
}

/// Checks a time as drome writes it.
pub fn time(text: &str) -> Result<(), String> {
    match humantime::parse_rfc3339(text) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("`{}` is not a time in RFC 3339, UTC", text::quoted(text))),
    }
}

fn within(what: &str, number: usize, least: usize, most: usize) -> Result<(), String> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(format!("{what}: {number} is out of range: must be {least} to {most}"))
}

fn once(what: &str, is_new: bool) -> Result<(), String> {
    if is_new { Ok(()) } else { Err(format!("the same {what} was there before")) }
}
