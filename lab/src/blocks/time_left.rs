//! Estimates how much longer a run takes. Pure: from the run and its observations so far, by the rules of the schedule.

use crate::blocks;
use crate::findings::forecast;
use model::{Design, Observation, Run};
use std::time::Duration;

/// About how long it takes to start, verify and stop a server.
pub(crate) const AROUND: Duration = Duration::from_millis(500);

/// About how long this number of trials takes, before any has run.
pub fn guess(design: &Design, trials: usize) -> Duration {
    (design.warmup + design.measure + AROUND).saturating_mul(u32::try_from(trials).unwrap_or(u32::MAX))
}

/// What is left of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    /// The likely time; `None` where the run goes on until it is certain, or too little is known yet.
    pub about: Option<Duration>,
    /// The longest time.
    pub most: Duration,
}

/// Estimates what is left of a run; `None` before the first trial.
pub fn left(run: &Run, observations: &[Observation]) -> Option<TimeLeft> {
    let design = &run.study.design;
    let spent: Duration = observations.iter().map(|o| Duration::from_nanos(o.elapsed_ns)).sum();
    let each = spent.checked_div(u32::try_from(observations.len()).ok()?)?;
    let [least, most] = design.blocks.map(|blocks| {
        let trials = blocks::least_trials(run) / design.blocks[0].max(1) * blocks;
        each.saturating_mul(trials.saturating_sub(observations.len()) as u32)
    });
    let (within, most) = (design.budget.saturating_sub(spent), design.budget.saturating_sub(spent).min(most));
    let least = least.min(within);
    if run.quick || design.blocks[0] == design.blocks[1] {
        return Some(TimeLeft { about: Some(least), most: least });
    }
    let told = || {
        let told = forecast::forecast(run, observations, design.precision, design.blocks[1]);
        let whole = Duration::try_from_secs_f64(told.elapsed_s?).ok()?;
        Some(whole.saturating_sub(spent).clamp(least, most))
    };
    Some(TimeLeft { about: if design.decide { None } else { told() }, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Next;
    use crate::example;

    const SECOND: Duration = Duration::from_secs(1);

    /// This number of trials of a second each, all alike but for a little noise.
    fn observed(run: &Run, trials: usize) -> Vec<Observation> {
        let mut seen = Vec::new();
        while let (Next::Trial(trial), true) = (blocks::next(run, &seen), seen.len() < trials) {
            let rate = 1000.0 + 10.0 * ((seen.len() * 7919) % 5) as f64;
            seen.push(example::observation(trial, Some(rate)));
        }
        seen
    }

    #[test]
    fn a_first_look_takes_what_its_blocks_take() {
        let mut run = example::run(&["a", "b"]);
        assert_eq!(left(&run, &[]), None);
        // Two contenders and two entries of the reference.
        (run.quick, run.study.design.blocks) = (true, [3, 3]);
        let seen = observed(&run, 4);
        assert_eq!(left(&run, &seen), Some(TimeLeft { about: Some(8 * SECOND), most: 8 * SECOND }));
    }

    #[test]
    fn a_study_is_foretold_and_its_budget_is_the_bound() {
        let mut run = example::run(&["a", "b"]);
        run.study.design.budget = 60 * SECOND;
        let left = left(&run, &observed(&run, 16)).unwrap();
        assert_eq!(left.most, 44 * SECOND);
        assert!(left.about.is_some_and(|about| about >= 8 * SECOND && about <= left.most), "{left:?}");
    }

    #[test]
    fn a_race_goes_on_until_it_is_sure_and_its_end_is_not_known() {
        let mut run = example::run(&["a", "b"]);
        (run.study.design.decide, run.study.design.budget) = (true, 20 * SECOND);
        let of = |trials| left(&run, &observed(&run, trials)).unwrap();
        assert_eq!(
            (of(4).about, of(4).most),
            (None, 16 * SECOND),
            "the least blocks would take longer than the budget"
        );
    }
}
