//! Everything that was measured in a run's heats, and one view of it for tables and charts: start by start, cell by cell.

use crate::heat::{Heat, InCell, Slice, Start};
use crate::measurement::Measurement;
use std::collections::BTreeMap;

/// Everything that was measured in heats.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// All heats that have begun.
    pub heats: Vec<Heat>,
    /// All starts.
    pub starts: Vec<Start>,
    /// All slices.
    pub slices: Vec<Slice>,
}

/// A start in one cell of its heat, as tables and charts show it: it was measured there, or it failed.
#[derive(Clone, Copy, Debug)]
pub struct StartInCell<'a> {
    /// Its heat.
    pub heat: &'a Heat,
    /// The start.
    pub start: &'a Start,
    /// Index into the study's cells.
    pub cell: usize,
    /// The share of this cell in the time that the start took for all of its cells.
    pub took_ns: u64,
    /// How it was measured in the cell; `None`: it failed, so that only its heat is known.
    pub in_cell: Option<&'a InCell>,
}

impl Measured {
    /// Every start in each cell in which it was measured, in the order of the starts. A start that failed is also in each cell in which it
    /// would have been measured. A start that the lab or the machine spoiled is in none: another start replaces it.
    pub fn starts_in_cells(&self) -> Vec<StartInCell<'_>> {
        let heats: BTreeMap<_, &Heat> =
            self.heats.iter().map(|heat| ((heat.round, heat.number), heat)).collect();
        let starts = self.starts.iter();
        let of_heats = starts.filter_map(|start| Some((*heats.get(&(start.round, start.heat))?, start)));
        of_heats.flat_map(|(heat, start)| in_cells(heat, start)).collect()
    }
}

fn in_cells<'a>(heat: &'a Heat, start: &'a Start) -> Vec<StartInCell<'a>> {
    let has_ended = |cell: &&usize| match start.cells.get(cell) {
        Some(in_cell) => in_cell.measurement.is_some(),
        None => start.failed().is_some(),
    };
    let cells: Vec<&usize> = heat.cells.iter().filter(has_ended).collect();
    // It was started once for all of its cells.
    let took_ns = start.took_ns / cells.len().max(1) as u64;
    let in_cell =
        |cell: &usize| StartInCell { heat, start, cell: *cell, took_ns, in_cell: start.cells.get(cell) };
    cells.into_iter().map(in_cell).collect()
}

impl<'a> StartInCell<'a> {
    /// The measurement, void or not.
    pub fn measured(&self) -> Option<&'a Measurement> {
        self.in_cell?.measurement.as_deref()
    }

    /// The measurement, if there is one and it is not void.
    pub fn valid(&self) -> Option<&'a Measurement> {
        self.measured().filter(|measured| measured.verdict.valid)
    }

    /// Why it failed, or all that its verdict says.
    pub fn reasons(&self) -> String {
        match self.measured() {
            Some(measured) => measured.verdict.reasons.join("; "),
            None => self.start.failed().unwrap_or_default().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat::{Counts, HUB, StartOutcome};
    use crate::{Tally, Usage, Verdict};

    fn in_cell(completed: u64) -> InCell {
        let tally = Tally { completed, ..Tally::default() };
        let (usage, verdict) = (Some(Usage::default()), Verdict { valid: true, ..Verdict::default() });
        InCell {
            warmup_ns: 7,
            settled: Some(true),
            counts: Counts::Quiet,
            turns: 5,
            disturbed: 1,
            elsewhere_ns: None,
            elsewhere_wall_ns: 0,
            memory: Vec::new(),
            background: Vec::new(),
            measurement: Some(Box::new(Measurement { tally, usage, verdict })),
        }
    }

    #[test]
    fn a_start_is_a_row_in_each_of_its_cells_and_one_that_failed_says_why() {
        let heat = Heat {
            round: 2,
            number: 1,
            members: vec!["a".to_owned()],
            copies: 1,
            hub: true,
            cells: vec![1, 0],
            seed: 1,
            started_at: "2026-01-01T00:00:00Z".to_owned(),
            machine: None,
        };
        let start = |contender: &str, cells: &[usize], outcome| Start {
            round: 2,
            heat: 1,
            contender: contender.to_owned(),
            copy: 0,
            attempt: 0,
            outcome,
            cells: cells.iter().map(|cell| (*cell, in_cell(*cell as u64 + 1))).collect(),
            memory_bytes: None,
            took_ns: 10,
            program: None,
            conditions: None,
        };
        let died = || StartOutcome::Failed("it ended".to_owned());
        let starts = vec![
            start(HUB, &[0, 1], StartOutcome::Ended),
            start("a", &[1], died()),
            start("b", &[], StartOutcome::Spoiled("no memory".to_owned())),
            start("c", &[], StartOutcome::Running),
        ];
        let measured = Measured { heats: vec![heat], starts, slices: Vec::new() };
        let all = measured.starts_in_cells();
        let shown: Vec<(&str, usize, Option<u64>)> = all
            .iter()
            .map(|o| (o.start.contender.as_str(), o.cell, o.valid().map(|m| m.tally.completed)))
            .collect();
        assert_eq!(shown, [(HUB, 1, Some(2)), (HUB, 0, Some(1)), ("a", 1, Some(2)), ("a", 0, None)]);
        assert_eq!((all[3].reasons().as_str(), all[3].heat.number), ("it ended", 1));
        assert_eq!(
            (all[0].start.round, all[0].took_ns),
            (2, 5),
            "half of the time of each start is each cell's"
        );
        assert_eq!(all[2].in_cell, Some(&in_cell(2)));
        assert!(all[3].in_cell.is_none(), "nothing is known of its cell");
        assert!(Measured { heats: Vec::new(), ..measured.clone() }.starts_in_cells().is_empty());
    }
}
