//! What observations with a known truth say.

use super::*;
use crate::example;
use model::Trial;
use stats::random;

fn observe(run: &Run, blocks: usize, rate: impl Fn(&Trial) -> Option<f64>) -> Vec<Observation> {
    let mut all = Vec::new();
    for block in 0..blocks {
        for (contender, copies) in
            run.contenders.keys().map(|n| (n, if n == REFERENCE { 2 } else { run.copies }))
        {
            for copy in 0..copies {
                let trial = Trial { block, cell: 0, contender: contender.clone(), copy };
                let rate = rate(&trial);
                all.push(example::observation(trial, rate));
            }
        }
    }
    all
}

/// A machine that drifts by a third, servers that differ by a known factor, a little noise.
fn known(trial: &Trial) -> f64 {
    let drift = 1.0 + 0.1 * (trial.block % 4) as f64;
    let jitter = random::uniform(trial.copy as u64, trial.block as u64 * 7 + trial.contender.len() as u64);
    let speed = match trial.contender.as_str() {
        "half" => 0.5,
        "third" => 1.0 / 3.0,
        _ => 1.0,
    };
    90_000.0 * speed * drift * (1.0 + 0.01 * (jitter - 0.5))
}

#[test]
fn ratios_are_paired_by_block_so_that_drift_cancels() {
    let run = example::run(&["half", "third"]);
    let found = findings(&run, &observe(&run, 6, |t| Some(known(t))), None);
    let cell = &found.cells[0];
    assert_eq!(
        cell.contenders.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        ["reference", "half", "third"]
    );
    let half = cell.contenders[1].of_reference.unwrap();
    assert!(
        (half.median - 0.5).abs() < 0.005 && half.high.unwrap() - half.low.unwrap() < 0.01 + 0.03 * 0.7,
        "{half:?}"
    );
    assert_eq!(cell.contenders.iter().map(|c| c.tier).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert!(found.noise_floor.unwrap() < 0.01);
}

#[test]
fn void_and_failed_trials_are_shown_and_left_out() {
    let run = example::run(&["a"]);
    let mut all = observe(&run, 8, |t| (t.contender != "a" || t.block > 0).then_some(100.0));
    for observation in all.iter_mut().filter(|o| o.trial.contender == "a" && o.trial.block == 1) {
        if let Outcome::Measured(m) = &mut observation.outcome {
            m.tally.completed = 9_999;
            m.verdict.valid = false;
            m.verdict.reasons.push("sends lagged".to_owned());
        }
    }
    let found = findings(&run, &all, None);
    let a = found.cells[0].contenders.iter().find(|c| c.name == "a").unwrap();
    assert_eq!((a.trials, a.void, a.failed), (7, 1, 1));
    assert_eq!(a.rate_per_s.unwrap().high, Some(100.0));
    assert_eq!(a.notes.len(), 2);
}

#[test]
fn what_was_never_measured_is_unknown_not_zero() {
    let run = example::run(&["a"]);
    let found = findings(&run, &observe(&run, 6, |t| (t.contender != "a").then_some(100.0)), None);
    let a = &found.cells[0].contenders[1];
    assert_eq!((a.rate_per_s, a.rss_max_bytes, a.tier, a.of_reference), (None, None, None, None));
    let json = serde_json::to_value(a).unwrap();
    assert!(json["rate_per_s"].is_null() && json["bound"].is_null());
}

#[test]
fn a_first_look_claims_no_ranks() {
    let mut run = example::run(&["half"]);
    run.quick = true;
    let found = findings(&run, &observe(&run, 6, |t| Some(known(t))), None);
    assert!(found.cells[0].contenders.iter().all(|c| c.tier.is_none() && c.rank_low.is_none()));
}

#[test]
fn the_same_observations_give_the_same_findings() {
    let run = example::run(&["half", "third"]);
    let all = observe(&run, 6, |t| Some(known(t)));
    assert_eq!(findings(&run, &all, None), findings(&run, &all, None));
}

#[test]
fn at_an_offered_rate_the_quick_lead_though_all_answer_as_much() {
    let run = example::offered(example::run(&["quick", "slow"]));
    let us = |trial: &Trial| match trial.contender.as_str() {
        "quick" => 500,
        "slow" => 9_000,
        _ => 700,
    };
    let took = |o: Observation| {
        let latency_ns = (us(&o.trial) + o.trial.block as u64) * 1_000;
        example::answered_in(o.trial, latency_ns)
    };
    let all: Vec<Observation> = observe(&run, 6, |_| Some(100.0)).into_iter().map(took).collect();
    let found = findings(&run, &all, None);
    let cell = &found.cells[0];
    assert_eq!(cell.metric.word(), "p99");
    let order: Vec<_> = cell.contenders.iter().map(|c| (c.name.as_str(), c.tier)).collect();
    assert_eq!(order, [("quick", Some(1)), ("reference", Some(2)), ("slow", Some(3))]);
}

/// A run at an offered rate in which `slow` fell behind in the blocks that `behind` names.
fn fallen_behind(behind: impl Fn(usize) -> bool) -> CellFindings {
    let run = example::offered(example::run(&["quick", "slow"]));
    let mut all = observe(&run, 6, |_| Some(100.0));
    for observation in &mut all {
        let (name, block) = (observation.trial.contender.as_str(), observation.trial.block);
        let Outcome::Measured(m) = &mut observation.outcome else { continue };
        m.verdict.kept_up = Some(name != "slow" || !behind(block));
        if m.verdict.fell_behind() {
            m.tally.completed = 60;
        }
    }
    findings(&run, &all, None).cells.remove(0)
}

#[test]
fn a_server_that_did_not_keep_up_has_a_rate_and_no_latency() {
    let cell = fallen_behind(|_| true);
    let slow = cell.contenders.iter().find(|c| c.name == "slow").unwrap();
    assert_eq!((slow.trials, slow.void, slow.failed, slow.fell_behind), (6, 0, 0, 6));
    assert_eq!(slow.rate_per_s.map(|rate| rate.median), Some(60.0));
    assert_eq!((slow.metric, slow.latency_ns_p99, slow.latency_ns_mean, slow.tier), (None, None, None, None));
    let quick = cell.contenders.iter().find(|c| c.name == "quick").unwrap();
    assert!(quick.tier.is_some() && quick.latency_ns_p99.is_some() && quick.fell_behind == 0);
}

#[test]
fn who_fails_more_requests_than_a_percentile_leaves_out_does_not_have_it() {
    let run = example::offered(example::run(&["quick", "slow"]));
    let failing = |failed: u64| {
        let mut all = observe(&run, 6, |_| Some(1000.0));
        for observation in all.iter_mut().filter(|o| o.trial.contender == "slow") {
            let Outcome::Measured(m) = &mut observation.outcome else { continue };
            m.tally.errors.connect = failed;
        }
        let cell = findings(&run, &all, None).cells.remove(0);
        cell.contenders.into_iter().find(|c| c.name == "slow").unwrap()
    };
    let some = failing(50);
    assert_eq!((some.metric, some.latency_ns_p99, some.latency_ns_mean, some.tier), (None, None, None, None));
    assert!(
        some.latency_ns_p50.is_none(),
        "more requests failed than p99 leaves out, so no latency is reported, not even p50"
    );
    assert_eq!((some.rate_per_s.map(|rate| rate.median), some.void), (Some(1000.0), 0));
    assert!(failing(10).latency_ns_p99.is_some() && failing(10).metric.is_some());
}

#[test]
fn latency_of_a_selection_of_the_best_trials_is_none() {
    let slow = |behind: fn(usize) -> bool| {
        fallen_behind(behind).contenders.into_iter().find(|c| c.name == "slow").unwrap()
    };
    assert!(slow(|block| block < 2).latency_ns_p99.is_none(), "a third of its trials");
    let once = slow(|block| block < 1);
    assert!(once.latency_ns_p99.is_some() && once.fell_behind == 1, "{once:?}");
}

#[test]
fn a_rate_that_was_held_back_in_a_third_of_the_trials_is_a_floor() {
    use Bound::{Both, Client, Server};
    let run = example::run(&["a"]);
    let bound_of = |bounds: [Bound; 6]| {
        let mut all = observe(&run, 6, |_| Some(100.0));
        for observation in all.iter_mut().filter(|o| o.trial.contender == "a") {
            let bound = bounds[observation.trial.block];
            let Outcome::Measured(m) = &mut observation.outcome else { continue };
            m.verdict.bound = bound;
        }
        let found = findings(&run, &all, None);
        let a = found.cells[0].contenders.iter().find(|c| c.name == "a").unwrap();
        (a.bound.clone().unwrap(), a.is_held_back())
    };
    assert_eq!(bound_of([Server, Server, Server, Client, Client, Both]), ("client".to_owned(), true));
    assert_eq!(bound_of([Server, Server, Server, Server, Client, Client]), ("client".to_owned(), true));
    assert_eq!(bound_of([Server, Server, Server, Server, Server, Both]), ("server".to_owned(), false));
    assert_eq!(bound_of([Both; 6]), ("both".to_owned(), true));
}

#[test]
fn nobody_leads_before_it_is_decided() {
    let leader = |run: &Run, rate: fn(&Trial) -> f64| {
        let found = findings(run, &observe(run, 6, |t| Some(rate(t))), None);
        found.leader(&found.cells[0]).map(|c| c.name.clone())
    };
    let mut run = example::run(&["half", "third"]);
    assert_eq!(leader(&run, known).as_deref(), Some("half"), "the reference is before it");
    let alike = |t: &Trial| known(&Trial { contender: "half".to_owned(), ..t.clone() });
    assert_eq!(leader(&run, alike), None);
    run.quick = true;
    assert_eq!(leader(&run, known), None, "a first look");
}
