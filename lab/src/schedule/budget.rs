//! The time that a run may take. It is a bound: what would pass it, by what trials took so far, is not begun. Pure.

use super::{block_trials, blocks};
use crate::analyse;
use crate::left::AROUND;
use model::{Observation, Run, Trial};
use std::time::Duration;

/// No smaller budget has room for a block: the load alone of its trials takes so long.
pub fn least_budget(run: &Run) -> Duration {
    let trials = u32::try_from(block_trials(run, 0).len()).unwrap_or(u32::MAX);
    (run.study.design.warmup + run.study.design.measure).saturating_mul(trials)
}

/// Why there is no time for what is still open of a block; `None` where there is.
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
    let short = if trial.block < least { format!(", of at least {least}") } else { String::new() };
    let more = what_it_would_take(run, observations, trial.block, spent);
    Some(format!("the budget of {} is spent {when}{short}{more}", humantime::format_duration(budget)))
}

/// The longest that this contender took in this cell; before it has been there, what a trial took on average; before the first
/// trial, what it takes by design.
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

/// How far the wanted precision is away: an interval becomes narrower by the square root of the blocks.
fn what_it_would_take(run: &Run, observations: &[Observation], blocks: usize, spent: Duration) -> String {
    let wanted = run.study.design.precision;
    let Some(half) = analyse::widest(run, observations, blocks).filter(|half| half.is_finite()) else {
        return String::new();
    };
    let around = |share: f64| format!("±{:.1} %", share * 100.0);
    let needed = (blocks as f64 * (half / wanted).powi(2)).max(run.study.design.blocks[0] as f64);
    let more = needed.ceil() - blocks as f64 + stats::estimate::BLOCKS_AFTER_ENOUGH as f64;
    let minutes = spent.as_secs_f64() / blocks as f64 * more.max(1.0) / 60.0;
    let known = around(half);
    if run.study.design.decide && half <= wanted {
        // Narrow enough, but neither sure of a difference nor all of it within the share.
        return format!("; the least known ratio is known to {known}");
    }
    if needed > run.study.design.blocks[1] as f64 {
        let most = run.study.design.blocks[1];
        return format!(
            "; the least known ratio is known to {known}, and {} is out of reach of {most} blocks",
            around(wanted)
        );
    }
    format!(
        "; the least known ratio is known to {known}, and {} would take about {:.0} more minutes",
        around(wanted),
        minutes.ceil()
    )
}
