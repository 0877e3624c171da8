//! Decides which trial comes next, and when it is enough. Pure: a function of the run and its observations, so that an
//! interrupted run continues where it was.

mod budget;
pub(crate) mod run;
pub mod time_left;

pub use budget::too_small;

use crate::findings::analyse;
use model::study::REFERENCE;
use model::{Metric, Observation, Outcome, Run, Trial};
use stats::random;

/// A contender that failed this often in a cell, and never succeeded there, is not tried again.
const MAX_FAILURES: usize = 3;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run this trial.
    Trial(Trial),
    /// Stop, for this reason.
    Done(String),
}

/// The next trial, or why there is none.
pub fn next(run: &Run, observations: &[Observation]) -> Next {
    let [least, most] = run.study.design.blocks;
    for block in 0..most {
        let open: Vec<Trial> =
            block_trials(run, block).into_iter().filter(|trial| is_open(trial, observations)).collect();
        if let Some(trial) = open.first() {
            return match budget::exceeded(run, observations, &open) {
                Some(why) => Next::Done(why),
                None => Next::Trial(trial.clone()),
            };
        }
        // The stopping rule is applied only at the end of a block, before anything of the next one has begun.
        if block + 1 < least || observations.iter().any(|o| o.trial.block > block) {
            continue;
        }
        if run.quick {
            return Next::Done(format!("a first look: {least} blocks"));
        }
        let precision = percent(run.study.design.precision);
        if run.study.design.decide {
            if let Some(why) = nothing_to_compare(run, observations, block + 1) {
                return Next::Done(why);
            }
            if analyse::is_decided(run, observations, block + 1) {
                let what =
                    format!("it is certain which is {}, or that they are within {precision} %", better(run));
                return Next::Done(format!("{what}, after {}", blocks(block + 1)));
            }
        } else if is_precise_in_time(run, observations, block + 1) {
            return Next::Done(format!(
                "every interval is within ±{precision} % after {}",
                blocks(block + 1)
            ));
        }
    }
    Next::Done(format!("the design's maximum is reached: {most} blocks"))
}

/// Why there is nothing to compare, if so: a race needs two contenders, and the others are compared with the first.
fn nothing_to_compare(run: &Run, observations: &[Observation], blocks: usize) -> Option<String> {
    let without = analyse::without_a_sound_trial(run, observations);
    let racing: Vec<&String> =
        run.contenders.keys().filter(|name| !without.contains(&name.as_str())).collect();
    let is_first_in = run.contenders.keys().next().is_some_and(|first| racing.contains(&first));
    // The latency of a server that falls behind is not used.
    let is_by_latency = matches!(run.study.design.metric, Metric::Latency(_));
    let kept_up = if is_by_latency { " and kept up with the rate" } else { "" };
    (racing.len() < 2 || !is_first_in).then(|| {
        format!(
            "there is nothing to compare: no trial of {} was sound{kept_up}, in {blocks} blocks",
            without.join(" or ")
        )
    })
}

/// A share in percent, without the digits that only its binary form has.
pub fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// The word for a better contender by this metric.
fn better(run: &Run) -> &'static str {
    if run.study.design.metric.is_better_higher() { "faster" } else { "better" }
}

fn blocks(n: usize) -> String {
    if n == 1 { "1 block".to_owned() } else { format!("{n} blocks") }
}

/// Whether every ratio was known well enough a few blocks ago; `blocks` is the number of blocks so far.
fn is_precise_in_time(run: &Run, observations: &[Observation], blocks: usize) -> bool {
    let before = blocks.saturating_sub(stats::estimate::BLOCKS_AFTER_ENOUGH);
    let is_precise = |half: f64| half <= run.study.design.precision;
    before >= run.study.design.blocks[0] && analyse::widest(run, observations, before).is_some_and(is_precise)
}

/// The number of trials in the least number of blocks.
pub fn least_trials(run: &Run) -> usize {
    run.study.design.blocks[0] * run.study.cells.len() * entries(run).len()
}

/// All trials of a block: cell after cell, in each every entry once, in an order that the seed determines.
fn block_trials(run: &Run, block: usize) -> Vec<Trial> {
    let entries = entries(run);
    let mut trials = Vec::new();
    for cell in 0..run.study.cells.len() {
        let seed = random::derive(&[run.seed, block as u64, cell as u64]);
        for i in random::shuffled(entries.len(), seed) {
            let (contender, copy) = entries[i].clone();
            trials.push(Trial { block, cell, contender, copy });
        }
    }
    trials
}

/// Every contender that takes part, as often as it enters a block.
fn entries(run: &Run) -> Vec<(String, usize)> {
    let takes_part = run.contenders.iter().filter(|(_, entrant)| entrant.missing.is_none());
    takes_part
        .flat_map(|(name, _)| {
            let copies = if name == REFERENCE { 2 } else { run.copies };
            (0..copies).map(|copy| (name.clone(), copy))
        })
        .collect()
}

/// Whether a trial is neither observed nor given up.
fn is_open(trial: &Trial, observations: &[Observation]) -> bool {
    let here =
        observations.iter().filter(|o| o.trial.cell == trial.cell && o.trial.contender == trial.contender);
    let (mut failed, mut measured) = (0, false);
    for observation in here {
        if observation.trial == *trial {
            return false;
        }
        match observation.outcome {
            Outcome::Failed(_) => failed += 1,
            Outcome::Measured(_) => measured = true,
        }
    }
    measured || failed < MAX_FAILURES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use std::time::Duration;

    fn walk(run: &Run, rate: impl Fn(&Trial) -> Option<f64>) -> (Vec<Observation>, String) {
        let mut seen = Vec::new();
        loop {
            match next(run, &seen) {
                Next::Trial(trial) => {
                    let rate = rate(&trial);
                    seen.push(example::observation(trial, rate));
                }
                Next::Done(why) => return (seen, why),
            }
        }
    }

    #[test]
    fn every_block_has_every_contender_once_and_the_reference_twice_in_an_order_of_its_own() {
        let run = example::run(&["a", "b", "c"]);
        let (seen, why) = walk(&run, |_| Some(100.0));
        assert!(why.starts_with("every interval is within"), "{why}");
        assert_eq!(seen.len(), 8 * 5);
        let mut orders = Vec::new();
        for block in seen.chunks(5) {
            let order: Vec<_> = block.iter().map(|o| (o.trial.contender.clone(), o.trial.copy)).collect();
            let mut sorted = order.clone();
            sorted.sort();
            let expected = [("a", 0), ("b", 0), ("c", 0), ("reference", 0), ("reference", 1)];
            assert_eq!(sorted, expected.map(|(name, copy)| (name.to_owned(), copy)));
            orders.push(order);
        }
        orders.dedup();
        assert!(orders.len() > 1, "every block had the same order");
    }

    #[test]
    fn the_walk_is_the_same_when_it_is_cut_anywhere() {
        let run = example::run(&["a", "b"]);
        let (whole, _) = walk(&run, |t| Some(100.0 + t.block as f64));
        for cut in 0..whole.len() {
            assert_eq!(next(&run, &whole[..cut]), Next::Trial(whole[cut].trial.clone()), "{cut}");
        }
    }

    /// A race of two, each twice a block, of which the second is slower by this share.
    fn race(slower: f64) -> (usize, String) {
        let mut run = example::run(&["a", "b"]);
        run.contenders.remove("reference");
        (run.copies, run.study.design.decide, run.study.design.blocks) = (2, true, [3, 60]);
        run.study.design.precision = 0.02;
        let (seen, why) = walk(&run, |t| {
            let who = random::derive(&[t.copy as u64, u64::from(t.contender == "b")]);
            let noise = 0.04 * (random::uniform(who, t.block as u64) - 0.5);
            Some(100_000.0 * (1.0 + noise) * if t.contender == "b" { 1.0 - slower } else { 1.0 })
        });
        (seen.len() / 4, why)
    }

    #[test]
    fn a_race_is_over_as_soon_as_it_is_sure_which_is_faster() {
        let sure = "it is certain which is faster, or that they are within 2 %, after";
        assert_eq!(race(0.2), (3, format!("{sure} 3 blocks")));
        for (slower, blocks) in [(0.02, 4..60), (0.0, 6..60)] {
            let (took, why) = race(slower);
            assert!(blocks.contains(&took) && why.starts_with(sure), "{took}: {why}");
        }
    }

    #[test]
    fn a_race_in_which_one_has_no_sound_trial_ends_and_says_so() {
        let mut run = example::run(&["a", "b"]);
        run.contenders.remove("reference");
        (run.copies, run.study.design.decide, run.study.design.blocks) = (2, true, [3, 60]);
        let (seen, why) = walk(&run, |t| (t.contender == "a").then_some(100.0));
        assert_eq!(why, "there is nothing to compare: no trial of b was sound, in 3 blocks");
        assert_eq!(seen.len(), 6 + MAX_FAILURES);
        let (_, why) = walk(&run, |_| None);
        assert_eq!(why, "there is nothing to compare: no trial of a or b was sound, in 3 blocks");
        // One that crashes in every other trial is raced all the same.
        let (_, why) = walk(&run, |t| {
            let rate = if t.contender == "a" { 100.0 } else { 50.0 };
            (t.contender == "a" || t.copy == 0).then_some(rate + t.block as f64)
        });
        assert!(why.starts_with("it is certain which is faster"), "{why}");
    }

    #[test]
    fn noise_goes_on_until_the_budget_is_spent() {
        let mut run = example::run(&["a"]);
        run.study.design.budget = Duration::from_secs(24);
        let noisy =
            |t: &Trial| Some(if t.contender == "a" { 100.0 + 90.0 * ((t.block % 3) as f64) } else { 100.0 });
        let (seen, why) = walk(&run, noisy);
        assert!(why.contains("budget of 24s is spent after 8 blocks; the widest interval is ±"), "{why}");
        assert!(why.ends_with("reaching ±3 % needs more than 30 blocks"), "{why}");
        assert_eq!(seen.len(), 24);
    }

    /// What the trials of a walk took, and why it ended, where each trial of `a` takes two seconds and the others one.
    fn walk_of_budget(blocks: [usize; 2], budget: Duration) -> (Vec<Observation>, Duration, String) {
        let mut run = example::run(&["a"]);
        (run.study.design.blocks, run.study.design.budget) = (blocks, budget);
        (run.study.design.measure, run.study.design.warmup) = (Duration::from_millis(800), Duration::ZERO);
        let mut seen: Vec<Observation> = Vec::new();
        loop {
            match next(&run, &seen) {
                Next::Trial(trial) => {
                    let elapsed_ns = if trial.contender == "a" { 2_000_000_000 } else { 1_000_000_000 };
                    // Never known well enough.
                    let rate = 100.0 + 90.0 * (trial.block % 3) as f64 * f64::from(trial.contender == "a");
                    seen.push(Observation { elapsed_ns, ..example::observation(trial, Some(rate)) });
                }
                Next::Done(why) => {
                    let took = seen.iter().map(|o| Duration::from_nanos(o.elapsed_ns)).sum();
                    return (seen, took, why);
                }
            }
        }
    }

    #[test]
    fn a_budget_is_a_bound() {
        // A block takes four seconds. Whatever the budget, it is not passed, and no block is begun that would pass it.
        for budget in 5..40 {
            let (seen, took, why) = walk_of_budget([2, 30], Duration::from_secs(budget));
            assert!(took <= Duration::from_secs(budget), "{took:?} of {budget} s: {why}");
            assert_eq!(seen.len() as u64, budget / 4 * 3, "{budget} s: {why}");
            assert!(why.starts_with(&format!("the budget of {budget}s is spent after ")), "{why}");
        }
        let (_, _, why) = walk_of_budget([8, 30], Duration::from_secs(9));
        assert!(
            why.starts_with("the budget of 9s is spent after 2 blocks; at least 8 blocks are needed"),
            "{why}"
        );
        // In the first block it goes trial after trial, as long as one fits by what is known: only a contender's first may pass it.
        let (seen, _, why) = walk_of_budget([2, 30], Duration::from_secs(2));
        assert!((1..3).contains(&seen.len()), "{why}");
        assert!(
            why.starts_with("the budget of 2s is spent in block 1; at least 2 blocks are needed"),
            "{why}"
        );
        let (seen, _, why) = walk_of_budget([2, 30], Duration::from_millis(1));
        assert!(seen.is_empty() && why.starts_with("the budget of 1ms is spent in block 1"), "{why}");
    }

    #[test]
    fn a_budget_that_was_too_small_says_what_it_would_have_taken() {
        let mut run = example::run(&["a"]);
        run.study.design.budget = Duration::from_secs(24);
        let noisy =
            |t: &Trial| Some(if t.contender == "a" { 100.0 + 8.0 * ((t.block % 3) as f64) } else { 100.0 });
        let (_, why) = walk(&run, noisy);
        assert!(
            why.contains("interval is ±") && why.ends_with("±3 % would take about 2 more minutes"),
            "{why}"
        );
    }

    #[test]
    fn one_that_only_fails_is_given_up_after_three_times() {
        let run = example::run(&["a", "bad"]);
        let (seen, _) = walk(&run, |t| (t.contender != "bad").then_some(100.0));
        assert_eq!(seen.iter().filter(|o| o.trial.contender == "bad").count(), MAX_FAILURES);
    }
}
