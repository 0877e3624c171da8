//! Forecasts how long a wanted precision would take, from a run's observations, such as a pilot of a few blocks. Pure.

use crate::findings::analyse;
use model::forecast::{CellForecast, Forecast};
use model::{Observation, Run};
use stats::estimate::BLOCKS_AFTER_ENOUGH;
use stats::precision::{blocks_for, deviation, half_width};

/// Forecasts the time to this precision for the study of this run.
pub fn forecast(run: &Run, observations: &[Observation], precision: f64, most: usize) -> Forecast {
    let cells: Vec<CellForecast> =
        (0..run.study.cells.len()).map(|index| cell(run, observations, index, precision, most)).collect();
    // A block has every cell, so the cell that needs the most blocks decides.
    let blocks = cells.iter().map(|cell| cell.blocks).try_fold(0, |all, blocks| Some(all.max(blocks?)));
    let blocks = blocks.map(|blocks: usize| blocks.max(run.study.design.blocks[0]));
    let all_s: f64 = cells.iter().map(|cell| cell.block_s).sum();
    Forecast {
        schema: 1,
        study: run.name.clone(),
        run: run.id.clone(),
        started_at: run.started_at.clone(),
        blocks_seen: observations.iter().map(|o| o.trial.block + 1).max().unwrap_or(0),
        precision,
        blocks_most: most,
        budget_s: run.study.design.budget.as_secs_f64(),
        cells,
        blocks,
        elapsed_s: blocks.map(|blocks| blocks as f64 * all_s),
    }
}

fn cell(run: &Run, observations: &[Observation], index: usize, precision: f64, most: usize) -> CellForecast {
    let (mut least_known, mut unknown) = (None::<(String, f64)>, Vec::new());
    for (name, logs) in analyse::logs_to_base(run, observations, index) {
        match deviation(&logs) {
            Some(sd) if least_known.as_ref().is_none_or(|(_, most)| sd > *most) => {
                least_known = Some((name, sd));
            }
            Some(_) => {}
            None => unknown.push(name),
        }
    }
    let here = observations.iter().filter(|o| o.trial.cell == index);
    let seconds: f64 = here.clone().map(|o| o.elapsed_ns as f64 / 1e9).sum();
    let blocks = here.map(|o| o.trial.block + 1).max().unwrap_or(1);
    let sd = least_known.as_ref().map(|(_, sd)| *sd);
    CellForecast {
        title: run.study.cells[index].title.clone(),
        least_known: least_known.map(|(name, _)| name),
        deviation: sd,
        // A run goes on for some blocks after it has reached its precision.
        blocks: sd.and_then(|sd| blocks_for(sd, precision)).map(|n| n + BLOCKS_AFTER_ENOUGH),
        block_s: seconds / blocks as f64,
        best: sd.and_then(|sd| half_width(sd, most.saturating_sub(BLOCKS_AFTER_ENOUGH))),
        unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks;
    use crate::example;
    use model::Trial;
    use stats::random;

    /// What this noise does to a trial.
    fn observe(trial: Trial, noise: f64) -> Observation {
        let who = random::derive(&[trial.contender.len() as u64, trial.copy as u64]);
        let gauss = (1..=12).map(|i| random::uniform(who, trial.block as u64 * 12 + i)).sum::<f64>() - 6.0;
        let rate = (trial.contender != "dead").then_some(1e6 * (1.0 + noise * gauss));
        example::observation(trial, rate)
    }

    fn pilot(run: &Run, noise: f64) -> Vec<Observation> {
        let mut seen = Vec::new();
        while let blocks::Next::Trial(trial) = blocks::next(run, &seen) {
            seen.push(observe(trial, noise));
        }
        seen
    }

    #[test]
    fn a_pilot_of_a_few_blocks_foretells_about_what_the_run_takes() {
        let mut run = example::run(&["a", "bb", "ccc"]);
        (run.study.design.blocks, run.quick) = ([15, 15], true);
        let short = pilot(&run, 0.04);
        let told = forecast(&run, &short, 0.02, 60);
        assert_eq!((told.blocks_seen, told.cells[0].block_s), (15, 5.0));
        (run.study.design.blocks, run.quick, run.study.design.precision) = ([6, 60], false, 0.02);
        let took = pilot(&run, 0.04).last().unwrap().trial.block + 1;
        let blocks = told.blocks.unwrap();
        assert!(blocks.abs_diff(took) * 2 <= took, "{blocks} foretold, {took} taken");
        assert_eq!(told.elapsed_s, Some(blocks as f64 * 5.0));
    }

    #[test]
    fn what_can_not_be_foretold_is_unknown() {
        let mut run = example::run(&["a", "dead"]);
        (run.study.design.blocks, run.quick) = ([4, 4], true);
        let told = forecast(&run, &pilot(&run, 0.04), 0.03, 30);
        assert_eq!(told.cells[0].unknown, ["dead"]);
        assert_eq!(told.cells[0].least_known.as_deref(), Some("a"));
        let nothing = forecast(&run, &[], 0.03, 30);
        assert_eq!((nothing.blocks, nothing.elapsed_s, nothing.cells[0].best), (None, None, None));
        assert!(!nothing.is_within_reach());
        let noisy = forecast(&run, &pilot(&run, 0.9), 0.0001, 30);
        assert!(!noisy.is_within_reach() && noisy.cells[0].best.unwrap() > 0.01);
    }
}
