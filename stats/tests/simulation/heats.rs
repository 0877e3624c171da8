//! The model of heats on simulated studies and races: few runs of what `examples/simulate_heats` does at length.

use crate::world::{self, MANAGED, NATIVE, Noise, World};
use proptest::prelude::*;
use stats::heats::{
    Best, Fit, FitEntrant, FitRules, FitStart, InBoth, LEVEL, Relation, changes, looks, start_rates,
};

fn rules(world: &World) -> FitRules {
    FitRules { hub: world.hub, best: Best::Highest, chance: LEVEL }
}

fn fit(world: &World, rounds: usize, noise: Noise, seed: u64) -> Fit {
    let (starts, _) = world.run(rounds, noise, seed);
    Fit::new(&world.entrants, &starts, &rules(world))
}

/// Twelve contenders, so that 100 studies take a second.
fn small(step: f64) -> World {
    World::study(8, 4, step)
}

fn ranked(world: &World) -> Vec<(usize, usize)> {
    let n = world.truth.len() - usize::from(world.hub.is_some());
    (0..n).flat_map(|one| (one + 1..n).map(move |other| (one, other))).collect()
}

#[test]
fn a_study_of_equals_is_decided_wrongly_in_at_most_one_of_twenty() {
    let world = small(0.0);
    for noise in world::ALL {
        let is_wrong = |seed: &u64| {
            let fit = fit(&world, 4, noise, *seed);
            let is_decided = |v: Relation| v == Relation::Better || v == Relation::Worse;
            ranked(&world).iter().any(|(one, other)| is_decided(fit.pair(*one, *other).unwrap().relation))
        };
        let wrong = (0..100).filter(is_wrong).count();
        println!("{noise:?}, twelve equals, one look: decided in {wrong} of 100 studies");
        assert!(wrong <= 3);
    }
}

#[test]
fn one_pairs_interval_covers_as_often_as_it_says_and_classes_have_their_own_width() {
    let world = small(0.02);
    for noise in [Noise::Normal, Noise::Drift, Noise::Autocorrelated] {
        let (mut covered, mut pairs) = (0.0, 0.0);
        let mut halves = [0.0; 2];
        for seed in 0..80 {
            let fit = fit(&world, 5, noise, seed);
            for (one, other) in ranked(&world) {
                let (pair, truth) =
                    (fit.pair(one, other).unwrap(), world.truth[one].0 - world.truth[other].0);
                covered +=
                    f64::from(u8::from(pair.interval.0 <= truth.exp() && truth.exp() <= pair.interval.1));
                pairs += 1.0;
                assert!(pair.sure.0 <= pair.interval.0 && pair.interval.1 <= pair.sure.1);
            }
            [NATIVE, MANAGED].iter().for_each(|c| halves[*c] += fit.noise_floor(*c).unwrap() / 80.0);
        }
        println!("{noise:?}: covers in {:.1} %, noise floors {halves:.3?}", 100.0 * covered / pairs);
        assert!((0.93..=0.98).contains(&(covered / pairs)));
        assert!(halves[NATIVE] < 0.04 && halves[MANAGED] > 2.0 * halves[NATIVE]);
    }
}

#[test]
fn five_percent_between_native_servers_are_found_and_equals_are_called_equal() {
    let (apart, equal) = (small(0.05_f64.ln_1p()), small(0.0));
    let (mut found, mut same) = (0, 0);
    for seed in 0..40 {
        let fits = (fit(&apart, 6, Noise::Normal, seed), fit(&equal, 9, Noise::Normal, seed));
        found += (0..7).filter(|c| fits.0.is_better(c + 1, *c)).count();
        same += (0..7).filter(|c| fits.1.pair(*c, c + 1).unwrap().relation == Relation::Equal).count();
    }
    assert!(found >= 270 && same >= 200, "of 280: {found} found, {same} called equal");
}

#[test]
fn an_outlying_start_is_never_trimmed_and_never_decides() {
    let world = small(0.0);
    let (mut starts, _) = world.run(4, Noise::Normal, 1);
    let before = Fit::new(&world.entrants, &starts, &rules(&world));
    let first = starts.iter().position(|s| s.contender == 2).unwrap();
    starts[first].log_figure -= 0.4;
    let after = Fit::new(&world.entrants, &starts, &rules(&world));
    let loss = (before.ratio(2, 3).unwrap() / after.ratio(2, 3).unwrap()).ln();
    assert!((0.08..0.12).contains(&loss), "one start in four that loses 0.4 costs 0.1, not {loss}");
    assert!((0..8).all(|c| c == 2 || after.pair(c, 2).unwrap().relation == Relation::Open));
}

#[test]
fn slices_of_a_restless_machine_make_figures_that_keep_the_error() {
    let world = World::study(6, 0, 0.0);
    for trouble in ["bursts", "a third of the slices missing"] {
        let is_wrong = |seed: &u64| {
            let (mut starts, ends) = world.run(4, Noise::Normal, *seed);
            for (round, end) in ends.iter().enumerate() {
                let heat = &mut starts[end - 7..*end];
                let logs: Vec<f64> = heat.iter().map(|s| s.log_figure).collect();
                let found = start_rates(&world::slices(&logs, trouble, seed * 10 + round as u64), &[true; 7]);
                heat.iter_mut().zip(found).for_each(|(start, f)| start.log_figure = f.unwrap().log_rate);
            }
            let fit = Fit::new(&world.entrants, &starts, &rules(&world));
            (0..6).any(|one| (0..6).any(|other| fit.is_better(one, other)))
        };
        let wrong = (0..60).filter(is_wrong).count();
        assert!(wrong <= 4, "{trouble}: {wrong} of 60");
    }
}

/// Every contender in every heat, without noise but for a thousandth that alternates.
fn exact(levels: &[f64], heats: usize) -> Vec<FitStart> {
    let wobble = |c: usize, h: usize| if (c + h).is_multiple_of(2) { 0.001 } else { -0.001 };
    let start = |h: usize, c: usize| FitStart { contender: c, heat: h, log_figure: levels[c] + wobble(c, h) };
    (0..heats).flat_map(|h| (0..levels.len()).map(move |c| start(h, c))).collect()
}

#[test]
fn clear_figures_give_ranks_letters_leaders_and_figures() {
    let levels = [0.0, 0.10, 0.1001, 0.30, 5.0];
    let mut entrants = vec![FitEntrant::of_class(0); 5];
    entrants[4].is_ranked = false;
    let rules = FitRules { hub: Some(4), best: Best::Highest, chance: 0.0125 };
    let fit = Fit::new(&entrants, &exact(&levels, 6), &rules);
    let places: Vec<_> = fit.places().iter().flatten().map(|p| (p.best, p.worst)).collect();
    assert_eq!(places, [(4, 4), (2, 3), (2, 3), (1, 1)]);
    assert_eq!(fit.order(), [3, 2, 1, 0]);
    let letters: Vec<_> = fit.letters().into_iter().map(Option::unwrap_or_default).collect();
    assert_eq!(letters, ["c", "b", "b", "a", ""]);
    assert_eq!(fit.pair(1, 2).unwrap().relation, Relation::Equal);
    assert_eq!(fit.pair(4, 3).unwrap().relation, Relation::Open);
    assert!((fit.figure(3).unwrap() - 0.3_f64.exp()).abs() < 1e-3 && fit.pair(3, 0).unwrap().error < 0.002);
    assert!((fit.ratio(0, 3).unwrap() * fit.ratio(3, 0).unwrap() - 1.0).abs() < 1e-12);
    assert_eq!((fit.noise_floor(0), fit.noise_floor(7)), (Some(0.01), None));
    let lowest = Fit::new(&entrants, &exact(&levels, 6), &FitRules { best: Best::Lowest, ..rules });
    assert_eq!(lowest.order(), [0, 1, 2, 3]);
    assert_eq!(lowest.places()[0].map(|p| (p.best, p.worst)), Some((1, 1)));
}

#[test]
fn a_difference_below_1_percent_is_never_decided_however_well_it_is_known() {
    let rules = FitRules { hub: None, best: Best::Highest, chance: 0.0125 };
    let verdict = |apart: f64| {
        let starts = exact(&[apart.ln_1p(), 0.0, 0.2], 12);
        let pair = Fit::new(&[FitEntrant::of_class(0); 3], &starts, &rules).pair(0, 1).unwrap();
        assert!(pair.sure.0 > 1.005 && pair.sure.1 < 1.015, "it is known well: {pair:?}");
        pair.relation
    };
    assert_eq!(verdict(0.009), Relation::Equal, "the way a server was linked makes as much");
    assert_eq!(verdict(0.011), Relation::Better);
}

#[test]
fn nobody_is_surely_faster_than_a_floor_nor_equal_to_it_but_a_floor_may_be_faster() {
    let mut entrants = vec![FitEntrant::of_class(0); 4];
    entrants[1].is_floor = true;
    let rules = FitRules { hub: None, best: Best::Highest, chance: 0.0125 };
    let fit = Fit::new(&entrants, &exact(&[0.5, 0.3, 0.3, 0.0], 6), &rules);
    let verdicts: Vec<_> = [0, 2, 3].iter().map(|c| fit.pair(1, *c).unwrap().relation).collect();
    assert_eq!(verdicts, [Relation::Open, Relation::Open, Relation::Better]);
    assert!(fit.is_better(0, 2), "others are compared as if it were not there");
    assert_eq!(fit.places()[1].map(|p| (p.best, p.worst)), Some((1, 3)));
}

#[test]
fn a_floor_does_not_disturb_the_others_however_its_bound_moves() {
    let mut starts = exact(&[0.2, 0.1, 0.0, 0.5], 6);
    let mut entrants = vec![FitEntrant::of_class(0); 4];
    entrants[3].is_floor = true;
    let rules = FitRules { hub: Some(0), best: Best::Highest, chance: 0.0125 };
    let calm = Fit::new(&entrants, &starts, &rules).pair(1, 2);
    starts.iter_mut().filter(|s| s.contender == 3).for_each(|s| s.log_figure -= 0.1 * s.heat as f64);
    let moved = Fit::new(&entrants, &starts, &rules);
    assert_eq!(moved.pair(1, 2), calm);
    assert!((moved.ratio(3, 2).unwrap().ln() - 0.25).abs() < 0.01 && moved.pair(3, 2).unwrap().error > 0.05);
}

#[test]
fn contenders_that_no_chain_of_heats_ties_together_are_unknown() {
    let mut starts = exact(&[0.0, 0.1, 0.2], 4);
    let elsewhere = exact(&[0.0, 0.4], 4);
    starts.extend(elsewhere.iter().map(|s| FitStart { contender: s.contender + 3, heat: s.heat + 90, ..*s }));
    let rules = FitRules { hub: Some(0), best: Best::Highest, chance: 0.0125 };
    let fit = Fit::new(&[FitEntrant::of_class(0); 6], &starts, &rules);
    assert_eq!((fit.pair(1, 3), fit.ratio(1, 3), fit.pair(1, 5), fit.figure(5)), (None, None, None, None));
    assert!(fit.is_better(4, 3) && fit.is_better(2, 1));
    assert!(fit.places()[3..].iter().all(Option::is_none), "ranks are given where the hub is");
}

#[test]
fn a_race_of_10_percent_is_soon_over_and_equals_are_equal_soon() {
    for (apart, rounds, verdict) in [(0.10, 3, Relation::Better), (0.0, 5, Relation::Equal)] {
        let world = World::race(2, apart, 0.005);
        let right = (0..50).filter(|seed| {
            let (starts, _) = world.run(rounds, Noise::Normal, *seed);
            let fit = Fit::new(&world.entrants, &starts, &rules(&world));
            fit.pair(0, 1).unwrap().relation == verdict
        });
        assert!(right.count() >= 40);
    }
}

#[test]
fn what_differs_from_heat_to_heat_for_one_command_only_is_in_the_error_of_a_race() {
    for (heat_share, rounds, least) in
        [(0.0, 4, 1.0), (0.5, 2, 0.95), (0.5, 8, 0.95), (1.0, 2, 0.85), (1.0, 8, 0.9)]
    {
        let world = World { heat_share, ..World::race(2, 0.0, 0.01) };
        let (mut squares, mut errors) = (0.0, 0.0);
        for seed in 0..400 {
            let (starts, _) = world.run(rounds, Noise::Normal, seed);
            let pair = Fit::new(&world.entrants, &starts, &rules(&world)).pair(0, 1).unwrap();
            (squares, errors) = (squares + pair.ratio.ln().powi(2), errors + pair.error.powi(2));
        }
        let share = (errors / squares).sqrt();
        println!(
            "contender × heat {heat_share}, {rounds} rounds: the standard error is {share:.2} of the truth"
        );
        assert!(share >= least);
    }
}

/// Whether a race of equals decides any pair after one of these numbers of rounds.
fn decides(world: &World, rounds: &[usize], seed: u64) -> bool {
    let n = world.truth.len();
    let (starts, ends) = world.run(*rounds.last().unwrap(), Noise::Normal, seed);
    rounds.iter().any(|rounds| {
        let fit = Fit::new(&world.entrants, &starts[..ends[rounds - 1]], &rules(world));
        (0..n).any(|one| (0..n).any(|other| fit.is_better(one, other)))
    })
}

#[test]
fn races_of_equals_are_decided_in_at_most_one_of_twenty_whenever_they_are_looked_at() {
    let (at_looks, always) = (looks([2, 40]), (2..=40).collect::<Vec<_>>());
    for (commands, heat_share, rounds, races) in [
        (2, 0.0, &at_looks, 300),
        (2, 0.5, &at_looks, 300),
        (2, 1.0, &at_looks, 300),
        (3, 0.5, &at_looks, 200),
        (2, 0.5, &always, 200),
    ] {
        let world = World { heat_share, ..World::race(commands, 0.0, 0.03) };
        let wrong = (0..races).filter(|seed| decides(&world, rounds, *seed)).count();
        let looks = rounds.len();
        println!(
            "{commands} commands, contender × heat {heat_share}, {looks} looks: wrong in {wrong} of {races}"
        );
        assert!(wrong as u64 * 20 <= races);
    }
}

fn in_both(before: usize, after: usize) -> InBoth {
    InBoth { before, after, turn_deviation: None }
}

#[test]
fn two_runs_differ_where_the_contender_does() {
    let (before, mut now) = (small(0.02), small(0.02));
    now.truth[3].0 += 0.10;
    let (mut found, mut wrong) = (0, 0);
    let both: Vec<InBoth> = (0..12).map(|c| in_both(c, c)).collect();
    for seed in 0..40 {
        let runs = (fit(&before, 6, Noise::Normal, seed), fit(&now, 6, Noise::Normal, seed + 500));
        let all = changes(&runs.0, &runs.1, (12, 12), &both, 0).all;
        found +=
            usize::from(all[3].is_some_and(|change| change.relation.is_difference() && change.ratio > 1.05));
        wrong += usize::from((0..12).any(|c| c != 3 && all[c].unwrap().relation.is_difference()));
    }
    assert!(found >= 39 && wrong <= 5, "found {found}, wrong {wrong} of 40");
    let fit = fit(&before, 4, Noise::Normal, 1);
    assert_eq!(
        changes(&fit, &fit, (12, 12), &[in_both(12, 12), in_both(0, 99), in_both(99, 0)], 0).all,
        [None, None, None]
    );
}

#[test]
fn a_hub_that_follows_the_machine_imperfectly_makes_no_contender_a_changed_one() {
    let before = small(0.02);
    let both: Vec<InBoth> = (0..12).map(|c| in_both(c, c)).collect();
    let (mut wrong, mut found) = (0, 0);
    for seed in 0..40 {
        // The machine is faster now, by 8 % more for these servers than for the hub, and by 3 % more or less for each of them.
        let mut now = before.clone();
        for (c, truth) in now.truth.iter_mut().enumerate().take(12) {
            truth.0 += 0.08 + if c % 2 == 0 { 0.03 } else { -0.03 };
        }
        let runs = (fit(&before, 6, Noise::Normal, seed), fit(&now, 6, Noise::Normal, seed + 500));
        let changes_now = changes(&runs.0, &runs.1, (12, 12), &both, 0);
        assert!(changes_now.movement.unwrap() > 0.05);
        wrong += usize::from(changes_now.all.iter().flatten().any(|change| change.relation.is_difference()));
        now.truth[3].0 -= 1.0;
        let now = fit(&now, 6, Noise::Normal, seed + 900);
        found +=
            usize::from(changes(&runs.0, &now, (12, 12), &both, 0).all[3].unwrap().relation.is_difference());
    }
    assert!(wrong <= 2 && found >= 38, "wrong {wrong}, found {found} of 40");
}

#[test]
fn what_the_starts_of_a_run_have_in_common_makes_no_contender_a_changed_one_however_few_there_are() {
    for contenders in [2, 5, 9] {
        let world = World::study(contenders, 0, 0.02);
        let both: Vec<InBoth> = (0..contenders).map(|c| in_both(c, c)).collect();
        let run = |seed: u64| {
            let mut own = world.clone();
            let mut generator = stats::random::generator(stats::random::derive(&[seed, 3]));
            // A variance of 0.6 of that between starts.
            own.truth.iter_mut().for_each(|(level, sd)| *level += 0.775 * *sd * world::gauss(&mut generator));
            fit(&own, 5, Noise::Normal, seed)
        };
        let is_wrong = |seed: &u64| {
            let all = changes(&run(*seed), &run(seed + 1_000), (contenders, contenders), &both, 0).all;
            all.iter().flatten().any(|change| change.relation.is_difference())
        };
        let wrong = (0..400).filter(is_wrong).count();
        println!("{contenders} contenders: one is called changed in {wrong} of 400 comparisons");
        assert!(wrong <= 20);
    }
}

#[test]
fn contenders_that_move_are_seldom_called_changed_however_few_are_compared() {
    // The standard deviation of each one's own movement from run to run, and what all have in common, from the hub.
    for (contenders, own, common) in
        [(1, 0.05, 0.0), (1, 0.03, 0.05), (4, 0.02, 0.0), (4, 0.05, 0.0), (4, 0.0, 0.05)]
    {
        let (before, hub) = (World::study(contenders, 0, 0.02), contenders);
        let both: Vec<InBoth> = (0..contenders).map(|c| in_both(c, c)).collect();
        let is_wrong = |seed: &u64| {
            let mut now = before.clone();
            let mut generator = stats::random::generator(stats::random::derive(&[*seed, 4]));
            now.truth[..hub]
                .iter_mut()
                .for_each(|truth| truth.0 += own * world::gauss(&mut generator) + common);
            let runs = (fit(&before, 5, Noise::Normal, *seed), fit(&now, 5, Noise::Normal, seed + 1_000));
            // As many comparisons as two cells have together.
            let all = changes(&runs.0, &runs.1, (hub, hub), &both, 2 * contenders).all;
            all.iter().flatten().any(|change| change.relation.is_difference())
        };
        let wrong = (0..200).filter(is_wrong).count();
        println!(
            "{contenders} contenders that move by {own} each and {common} together: wrong in {wrong} of 200"
        );
        assert!(wrong <= 10);
    }
}

#[test]
fn a_contender_whose_turns_vary_much_moves_further_and_is_not_called_changed() {
    // From one run to the next, every fourth contender moves by 25 %, the others by 3 %.
    let (before, hub) = (small(0.02), 12);
    let varies = |c: usize| c % 4 == 3;
    let both = |knows: bool| -> Vec<InBoth> {
        let turn_deviation = |c: usize| Some(if varies(c) { 0.14 } else { 0.07 }).filter(|_| knows);
        (0..hub).map(|c| InBoth { turn_deviation: turn_deviation(c), ..in_both(c, c) }).collect()
    };
    let (mut wrong, mut wrong_unaware, mut found) = (0, 0, 0);
    for seed in 0..40 {
        let mut now = before.clone();
        for (c, truth) in now.truth.iter_mut().enumerate().take(hub) {
            let up = stats::random::uniform(seed, c as u64) < 0.5;
            truth.0 += if varies(c) { 0.25 } else { 0.03 } * if up { 1.0 } else { -1.0 };
        }
        let (one, two) = (fit(&before, 6, Noise::Normal, seed), fit(&now, 6, Noise::Normal, seed + 500));
        let any = |knows| {
            let all = changes(&one, &two, (hub, hub), &both(knows), 0).all;
            usize::from(all.iter().flatten().any(|change| change.relation.is_difference()))
        };
        (wrong, wrong_unaware) = (wrong + any(true), wrong_unaware + any(false));
        now.truth[0].0 -= 0.4;
        let lost = fit(&now, 6, Noise::Normal, seed + 900);
        let all = changes(&one, &lost, (hub, hub), &both(true), 0).all;
        found += usize::from(all[0].is_some_and(|change| change.relation.is_difference()));
    }
    assert!(wrong <= 2 && wrong_unaware >= 30 && found >= 38, "{wrong}, {wrong_unaware}, {found} of 40");
}

proptest! {
    #[test]
    fn no_starts_panic(
        starts in prop::collection::vec((0..7_usize, 0..6_usize, -5.0..5.0_f64), 0..40),
        entrants in prop::collection::vec((0..3_usize, any::<bool>(), any::<bool>()), 0..6),
        hub in prop::option::of(0..7_usize),
    ) {
        let starts: Vec<FitStart> = starts.into_iter().map(|(contender, heat, log_figure)| FitStart { contender, heat: heat * 1_000_000_007, log_figure }).collect();
        let entrants: Vec<FitEntrant> = entrants.into_iter().map(|(class, is_ranked, is_floor)| FitEntrant { class, is_ranked, is_floor }).collect();
        let fit = Fit::new(&entrants, &starts, &FitRules { hub, best: Best::Lowest, chance: 0.01 });
        let n = entrants.len();
        for one in 0..=n {
            for other in 0..=n {
                let pair = fit.pair(one, other);
                prop_assert_eq!(pair.is_some(), fit.pair(other, one).is_some());
                prop_assert!(pair.is_none_or(|p| p.sure.0 <= p.ratio && p.ratio <= p.sure.1 && p.error > 0.0));
            }
        }
        let count = fit.order().len();
        prop_assert!(fit.places().iter().flatten().all(|p| 1 <= p.best && p.best <= p.worst && p.worst <= count));
        let _ = (fit.letters(), fit.noise_floor(0), fit.figure(0));
    }
}

/// The interval of a race of two commands that ends when it is decided, equal, or known to ±3 %, and the number of rounds that it took.
fn until_narrow(world: &World, noise: Noise, seed: u64) -> ((f64, f64), usize) {
    let last = 60;
    let (starts, ends) = world.run(last, noise, seed);
    for look in looks([2, last]) {
        let fit = Fit::new(&world.entrants, &starts[..ends[look - 1]], &rules(world));
        let pair = fit.pair(0, 1).unwrap();
        if pair.relation != Relation::Open || pair.sure_half_width() <= 0.03 || look == last {
            return (pair.interval, look);
        }
    }
    unreachable!("the last look ends a race")
}

/// A race that ends early is one whose starts happened to agree: its interval covers a little less often than the 95 % of any one look.
#[test]
fn an_interval_covers_nearly_as_often_where_the_race_ends_when_it_is_narrow_enough() {
    for (sd, apart) in [(0.01, 0.0), (0.02, 0.0), (0.03, 0.0), (0.03, 0.03)] {
        for noise in [Noise::Normal, Noise::Drift, Noise::HeavyTailed] {
            let world = World::race(2, apart, sd);
            let races: Vec<_> = (0..1_000).map(|seed| until_narrow(&world, noise, seed)).collect();
            let covers = |((low, high), _): &&((f64, f64), usize)| (*low..=*high).contains(&apart.exp());
            let covered = races.iter().filter(covers).count();
            let mut rounds: Vec<usize> = races.iter().map(|race| race.1).collect();
            rounds.sort_unstable();
            println!(
                "{noise:?}, starts vary by {sd}, {apart} apart, until ±3 %: covers in {covered} of 1,000 after {} rounds",
                rounds[500]
            );
            assert!(covered >= 900, "{noise:?}: {covered}");
        }
    }
}
