//! The budget of time of a run. It is a bound: what would exceed it, judged by earlier trials, is not started. Pure.

use super::{block_trials, blocks, percent};
use crate::blocks::time_left::AROUND;
use crate::findings::analyse;
use model::{Observation, Run, Trial};
use std::time::Duration;

/// Why the budget has no room for one block, by the time of load in its trials; `None` where it has. To be called before anything is
/// started.
pub fn too_small(run: &Run) -> Option<String> {
    let design = &run.study.design;
    let trials = u32::try_from(block_trials(run, 0).len()).unwrap_or(u32::MAX);
    let least = (design.warmup + design.measure).saturating_mul(trials);
    let written = humantime::format_duration;
    (design.budget < least).then(|| {
        format!(
            "the budget of {} is too short: the load of one block alone takes {}; use a larger --budget",
            written(design.budget),
            written(least)
        )
    })
}

/// Why there is no time for the open trials of a block; `None` where there is.
pub(super) fn exceeded(run: &Run, observations: &[Observation], open: &[Trial]) -> Option<String> {
    let trial = open.first()?;
    let budget = run.study.design.budget;
    let spent: Duration = observations.iter().map(|o| Duration::from_nanos(o.elapsed_ns)).sum();
    let is_begun = observations.iter().any(|o| o.trial.block == trial.block);
    // What a block takes is known after the first; half a block is better than none.
    let ahead: Duration = if is_begun || trial.block == 0 {
        cost(run, observations, trial)
    } else {
        open.iter().map(|trial| cost(run, observations, trial)).sum()
    };
    if spent + ahead <= budget {
        return None;
    }
    let when = if is_begun || trial.block == 0 {
        format!("in block {}", trial.block + 1)
    } else {
        format!("after {}", blocks(trial.block))
    };
    let least = run.study.design.blocks[0];
    let short =
        if trial.block < least { format!("; at least {least} blocks are needed") } else { String::new() };
    let more = what_it_would_take(run, observations, trial.block, spent);
    Some(format!("the budget of {} is spent {when}{short}{more}", humantime::format_duration(budget)))
}

/// The longest that this contender took in this cell; before it was there, the mean of all trials; before the first trial, the time by
/// design.
fn cost(run: &Run, observations: &[Observation], trial: &Trial) -> Duration {
    let is_alike = |o: &&Observation| o.trial.cell == trial.cell && o.trial.contender == trial.contender;
    let longest = observations.iter().filter(is_alike).map(|o| o.elapsed_ns).max();
    let mean = || {
        let all: u64 = observations.iter().map(|o| o.elapsed_ns).sum();
        all.checked_div(observations.len() as u64)
    };
    let by_design = || run.study.design.warmup + run.study.design.measure + AROUND;
    longest.or_else(mean).map_or_else(by_design, Duration::from_nanos)
}

/// How far the wanted precision is away: an interval narrows with the square root of the number of blocks.
fn what_it_would_take(run: &Run, observations: &[Observation], blocks: usize, spent: Duration) -> String {
    let wanted = run.study.design.precision;
    let Some(half) = analyse::widest(run, observations, blocks).filter(|half| half.is_finite()) else {
        return String::new();
    };
    let needed = (blocks as f64 * (half / wanted).powi(2)).max(run.study.design.blocks[0] as f64);
    let more = needed.ceil() - blocks as f64 + stats::estimate::BLOCKS_AFTER_ENOUGH as f64;
    let minutes = spent.as_secs_f64() / blocks as f64 * more.max(1.0) / 60.0;
    let known = format!("±{:.1} %", half * 100.0);
    if run.study.design.decide && half <= wanted {
        // Narrow enough, but neither sure of a difference nor all of it within the share.
        return format!("; the widest interval is {known}");
    }
    if needed > run.study.design.blocks[1] as f64 {
        let most = run.study.design.blocks[1];
        return format!(
            "; the widest interval is {known}; reaching ±{} % needs more than {most} blocks",
            percent(wanted)
        );
    }
    format!(
        "; the widest interval is {known}; reaching ±{} % would take about {:.0} more minutes",
        percent(wanted),
        minutes.ceil()
    )
}
