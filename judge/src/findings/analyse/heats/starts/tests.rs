//! Which starts decide what is told of a contender and of a cell.

use crate::example;
use crate::findings::analyse::heats::{findings, world::World};
use model::heat::{HUB, Start};
use model::{Bound, Findings};
use stats::Histogram;

/// Open load with 2,000 answers in each start, which are then changed.
fn percentile(change: impl Fn(&mut Start)) -> &'static str {
    let world = World::of(&[("quick", 100.0), ("slow", 100.0)]);
    let mut kept = world.kept();
    for start in &mut kept.starts {
        for cell in start.cells.values_mut() {
            let tally = &mut cell.measurement.as_mut().unwrap().tally;
            (tally.completed, tally.latency) = (2_000, Histogram::default());
            tally.latency.record(500_000);
        }
        change(start);
    }
    findings(&example::offered(world.run), &kept, None).cells[0].metric.word()
}

/// Leaves a start with this number of answers.
fn answered(start: &mut Start, answers: u64, kept_up: bool) {
    for measurement in start.cells.values_mut().filter_map(|cell| cell.measurement.as_mut()) {
        (measurement.tally.completed, measurement.verdict.kept_up) = (answers, Some(kept_up));
    }
}

#[test]
fn one_start_does_not_change_the_percentile_of_all() {
    let one = |start: &Start| start.contender == "slow" && start.round == 2;
    let few = |kept_up| {
        percentile(|start| {
            if one(start) {
                answered(start, 90, kept_up);
            }
        })
    };
    assert_eq!((few(false), few(true)), ("p99", "p99"));
    let hub = percentile(|start| {
        if start.contender == HUB {
            answered(start, 90, true);
        }
    });
    assert_eq!(hub, "p99", "the hub has no rank");
}

#[test]
fn a_contender_without_a_rank_does_not_change_the_percentile_of_the_others() {
    let unsettled = |name: &'static str| {
        percentile(move |start| {
            if name.is_empty() || start.contender == name {
                start.cells.values_mut().for_each(|cell| cell.settled = Some(false));
                answered(start, 500, true);
            }
        })
    };
    assert_eq!((unsettled("slow"), unsettled("")), ("p99", "p90"));
    let behind = percentile(|start| {
        if start.contender == "slow" {
            answered(start, 500, false);
        }
    });
    assert_eq!(behind, "p99", "its latency is not told");
}

#[test]
fn the_percentile_is_one_that_every_ranked_contender_has_answers_for() {
    let usual = |rounds: usize| {
        percentile(|start| {
            if start.contender == "slow" && start.round < rounds {
                answered(start, 500, true);
            }
        })
    };
    assert_eq!((usual(3), usual(4), usual(6)), ("p99", "p90", "p90"), "of six rounds");
}

/// Closed load, where the load generator was the limit of one contender in this number of rounds.
fn held_back(rounds: usize) -> Findings {
    let world = World::of(&[("fast", 150_000.0), ("slow", 100_000.0)]);
    let mut kept = world.kept();
    for start in kept.starts.iter_mut().filter(|start| start.contender == "slow" && start.round < rounds) {
        for measurement in start.cells.values_mut().filter_map(|cell| cell.measurement.as_mut()) {
            measurement.verdict.bound = Bound::Client;
        }
    }
    world.findings_from(&kept)
}

#[test]
fn one_that_was_held_back_in_a_third_of_its_starts_has_a_floor_and_nobody_is_surely_faster() {
    for (rounds, is_floor) in [(1, false), (2, true), (3, true)] {
        let found = held_back(rounds);
        let of = |name: &str| found.cells[0].contenders.iter().find(|c| c.name == name).unwrap();
        assert_eq!(of("slow").is_held_back(), is_floor, "{rounds} of 6");
        assert_eq!(of("slow").rank_low, Some(if is_floor { 1 } else { 3 }), "{rounds} of 6");
    }
}
