//! Presents a run in heats start by start and cell by cell, in the form of trials: rows of tables and points of charts. Pure.

use model::heat::{Heat, InCell, Start};
use model::observation::InHeat;
use model::{Measurement, Observation, Trial};
use std::collections::BTreeMap;

/// One observation for each start and each cell in which it was measured, in the order of the starts. A start that failed also has one for
/// each cell in which it would have been measured. A start that the lab or the machine spoiled has none: another start replaces it.
pub fn observed(heats: &[Heat], starts: &[Start]) -> Vec<Observation> {
    let heats: BTreeMap<_, &Heat> = heats.iter().map(|heat| ((heat.round, heat.number), heat)).collect();
    let of = |start: &Start| Some(of_start(heats.get(&(start.round, start.heat))?, start));
    starts.iter().filter_map(of).flatten().collect()
}

/// The measurement, or why there is none.
type Outcome = Result<Box<Measurement>, String>;

fn of_start(heat: &Heat, start: &Start) -> Vec<Observation> {
    let outcome = |cell: &usize| match (start.cells.get(cell), start.failed()) {
        (Some(of), _) => Some((*cell, Ok(of.measurement.clone()?), Some(of))),
        (None, Some(why)) => Some((*cell, Err(why.to_owned()), None)),
        (None, None) => None,
    };
    let cells: Vec<(usize, Outcome, Option<&InCell>)> = heat.cells.iter().filter_map(outcome).collect();
    // It was started once for all of its cells.
    let each_ns = start.took_ns / cells.len().max(1) as u64;
    let observation = |(cell, outcome, of): (usize, Outcome, Option<&InCell>)| Observation {
        trial: Trial { round: start.round, cell, contender: start.contender.clone(), copy: start.copy },
        started_at: heat.started_at.clone(),
        elapsed_ns: each_ns,
        outcome,
        conditions: start.conditions.clone().unwrap_or_default(),
        in_heat: InHeat {
            heat: start.heat,
            warmup_ns: of.map(|of| of.warmup_ns),
            settled: of.and_then(|of| of.settled),
            turns: of.map(|of| of.turns),
            disturbed: of.map(|of| of.disturbed),
        },
    };
    cells.into_iter().map(observation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::example::in_heats as example;
    use model::heat::{HUB, StartOutcome};
    use model::{Tally, Usage, Verdict};

    fn in_cell(completed: u64) -> InCell {
        let tally = Tally { completed, ..Tally::default() };
        let (usage, verdict) = (Some(Usage::default()), Verdict { valid: true, ..Verdict::default() });
        let measurement = Some(Box::new(Measurement { tally, usage, verdict }));
        InCell {
            warmup_ns: 7,
            settled: Some(true),
            turns: 5,
            disturbed: 1,
            measurement,
            ..example::in_cell()
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
        let starts = [
            start(HUB, &[0, 1], StartOutcome::Ended),
            start("a", &[1], died()),
            start("b", &[], StartOutcome::Spoiled("no memory".to_owned())),
            start("c", &[], StartOutcome::Running),
        ];
        let all = observed(&[heat], &starts);
        let shown: Vec<(&str, usize, Option<u64>)> = all
            .iter()
            .map(|o| (o.trial.contender.as_str(), o.trial.cell, o.valid().map(|m| m.tally.completed)))
            .collect();
        assert_eq!(shown, [(HUB, 1, Some(2)), (HUB, 0, Some(1)), ("a", 1, Some(2)), ("a", 0, None)]);
        assert_eq!(all[3].outcome, Err("it ended".to_owned()));
        assert_eq!(
            (all[0].trial.round, all[0].elapsed_ns),
            (2, 5),
            "half of the time of each start is each cell's"
        );
        let known =
            InHeat { heat: 1, warmup_ns: Some(7), settled: Some(true), turns: Some(5), disturbed: Some(1) };
        assert_eq!(all[2].in_heat, known);
        assert_eq!(all[3].in_heat, InHeat { heat: 1, ..InHeat::default() }, "nothing is known of its cell");
        assert_eq!(observed(&[], &starts), []);
    }
}
