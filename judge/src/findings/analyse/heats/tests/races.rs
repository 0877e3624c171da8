//! Races in heats.

use super::*;
use model::findings::{Decided, RaceFindings};
use model::gate::Gate;
use model::run::Raced;
use stats::margin::Judged;

/// What a race of these commands comes to, each twice in a heat without a hub, and what its last look knows.
fn race(rates: &[(&'static str, f64)], rounds: usize, between_starts: f64) -> (RaceFindings, Vec<Standing>) {
    let world = World { rounds, between_starts, ..World::race(rates) };
    let kept = world.kept();
    assert!(kept.heats.iter().all(|heat| !heat.hub && heat.servers().len() == 2 * rates.len()));
    let known = neighbours(&world.run, &kept, rounds);
    (world.findings_from(&kept).race.unwrap(), known.into_iter().map(|n| n.standing).collect())
}

/// Races of a command that is as much slower than the first as a margin allows: what its last look knows, and what the gate says then.
fn gated(slowdown: f64, rounds: usize, seed: u64) -> (Standing, Gate, Figure) {
    let rates = [("A", 100_000.0), ("B", 100_000.0 * (1.0 - slowdown))];
    let mut world = World { rounds, seed, between_starts: 0.01, ..World::race(&rates) };
    world.run.study.design.margin = Some(0.02);
    let kept = world.kept();
    let (known, found) = (neighbours(&world.run, &kept, rounds), world.findings_from(&kept));
    let single = found.race.as_ref().unwrap().pairs[0].ratio.unwrap();
    (known[0].standing, Gate::of_race(&found, 0.02), single)
}

#[test]
fn the_gate_of_a_race_goes_by_the_interval_of_its_looks_as_its_end_does() {
    let mut were_open = 0;
    for seed in 0..20 {
        for slowdown in [0.0, 0.01, 0.03, 0.06] {
            let (standing, gate, single) = gated(slowdown, 4, seed);
            let speed = gate.changes[0].speed;
            assert!(speed.low < single.low && single.high < speed.high, "{speed:?} {single:?}");
            let is_known = gate.changes[0].judged != Judged::Open;
            assert_eq!(is_known, standing == Standing::Decided, "{standing:?} {gate:?}");
            let by_one_pair = model::gate::judged(single, 0.02);
            were_open += usize::from(!is_known && by_one_pair != Judged::Open);
        }
    }
    assert!(were_open > 0, "none of these was near the margin");
}

#[test]
fn a_race_in_one_heat_is_decided_by_the_same_model() {
    let (apart, known) = race(&[("A", 100_000.0), ("B", 90_000.0)], 4, 0.005);
    assert_eq!((apart.faster.as_deref(), apart.rounds), (Some("A"), 4));
    assert!(holds(apart.ratio, 0.9) && known == [Standing::Decided]);
    let (equal, known) = race(&[("A", 100_000.0), ("B", 100_000.0)], 9, 0.005);
    assert_eq!(equal.decided, Some(Decided::Equal));
    assert!(holds(equal.ratio, 1.0) && known == [Standing::Equal]);
    let (open, _) = race(&[("A", 100_000.0), ("B", 99_000.0)], 3, 0.05);
    assert_eq!((open.decided, open.faster), (None, None));
}

#[test]
fn a_race_of_servers_that_already_ran_is_decided_by_one_start_of_each_in_a_round() {
    let rates = [("A", 100_000.0), ("B", 90_000.0)];
    let mut world = World { rounds: 6, between_starts: 0.005, ..World::race(&rates) };
    world.run.race = Some(Raced { running: true, ..Raced::default() });
    (world.run.copies, world.run.study.design.rounds) = (1, [6, 108]);
    let kept = world.kept();
    assert!(kept.heats.iter().all(|heat| !heat.hub && heat.servers().len() == 2));
    let found = world.findings_from(&kept).race.unwrap();
    assert_eq!((found.faster.as_deref(), found.running), (Some("A"), true));
    assert!(found.ratio.is_some_and(|ratio| (0.88..0.92).contains(&ratio.median)), "{:?}", found.ratio);
    assert!(found.held_equal.server_cpus.is_empty(), "drome did not pin them");
}

#[test]
fn a_race_in_which_the_load_generator_held_all_back_has_figures_and_ends() {
    let most = |_: &str| 60_000.0;
    let world = World { most, rounds: 3, ..World::race(&[("A", 150_000.0), ("B", 140_000.0)]) };
    let found = world.findings();
    assert!(holds(of(&found, "A").rate_per_s, 60_000.0), "{:?}", of(&found, "A").rate_per_s);
    let race = found.race.as_ref().unwrap();
    assert_eq!((race.decided, race.ratio), (None, None), "of two floors nothing is known");
    let known = neighbours(&world.run, &world.kept(), 3);
    assert!(known.iter().all(|n| n.standing == Standing::HeldBack) && known.len() == 1, "{known:?}");
}

#[test]
fn each_of_three_in_a_race_is_judged() {
    let rates = [("A", 100_000.0), ("B", 110_000.0), ("C", 100_000.0)];
    let (found, known) = race(&rates, 9, 0.003);
    assert_eq!((found.decided, found.faster.as_deref()), (Some(Decided::Faster), Some("B")));
    let pairs: Vec<_> =
        found.pairs.iter().map(|p| (p.contender.as_str(), p.decided, p.faster.as_deref())).collect();
    let faster = Some(Decided::Faster);
    assert_eq!(
        pairs,
        [("B", faster, Some("B")), ("C", Some(Decided::Equal), None), ("C", faster, Some("B"))]
    );
    assert!(holds(found.pairs[0].ratio, 1.1) && found.ratio.is_none());
    let with_first: Vec<&str> = found.with_first().map(|pair| pair.contender.as_str()).collect();
    assert_eq!(with_first, ["B", "C"]);
    assert_eq!(known, [Standing::Decided, Standing::Decided, Standing::Equal]);
}

#[test]
fn two_that_are_equal_to_the_first_are_not_equal_to_each_other() {
    let rates = [("A", 100_000.0), ("B", 100_900.0), ("C", 99_100.0)];
    let (found, known) = race(&rates, 13, 0.002);
    assert!(found.with_first().all(|pair| pair.decided == Some(Decided::Equal)), "{:?}", found.pairs);
    let last = &found.pairs[2];
    assert_eq!(
        (last.contender.as_str(), last.against.as_str(), last.faster.as_deref()),
        ("C", "B", Some("B"))
    );
    assert_eq!(
        (found.decided, found.faster),
        (None, None),
        "neither are all equal, nor is one better than all"
    );
    assert_eq!(known.len(), 3);
    // With too few rounds to tell these two, the race is not over.
    let (_, early) = race(&rates, 2, 0.01);
    assert!(early.iter().any(|standing| matches!(standing, Standing::Open(_))), "{early:?}");
}

#[test]
fn the_level_of_a_run_is_shared_by_all_cells_that_are_judged_together() {
    let mut world = World::of(&[("A", 100_000.0), ("B", 100_000.0)]);
    let alone = world.run.level();
    assert!((alone * world.run.study.cells.len() as f64 - stats::heats::LEVEL).abs() < 1e-12);
    world.run.race = Some(Raced { cells: Some(4), ..Raced::default() });
    assert!((world.run.level() * 4.0 - alone).abs() < 1e-12);
    let width = |world: &World| {
        let ratio = world.findings().race.unwrap().pairs[0].sure.unwrap();
        ratio.high.unwrap() / ratio.low.unwrap()
    };
    let together = width(&world);
    world.run.race = Some(Raced::default());
    assert!(width(&world) < together);
}

#[test]
fn races_of_equals_are_seldom_decided() {
    let equals = |seed: u64| {
        let mut world = World {
            rounds: 3,
            seed,
            between_starts: 0.02,
            ..World::of(&[("A", 100_000.0), ("B", 100_000.0)])
        };
        world.run.contenders.remove("reference");
        (world.run.race, world.run.copies) = (Some(Raced::default()), 2);
        world.run.study.design.decide = true;
        world.findings().race.unwrap().faster.is_some()
    };
    let wrong = (0..40).filter(|seed| equals(*seed)).count();
    assert!(wrong <= 2, "{wrong} of 40, at a level of 0.8 %");
}
