//! The gate of a race (`--fail-if-slower`): how often it errs about a slowdown that is exactly the margin, over all looks together, and how soon
//! it knows what is clearly within or beyond.

use crate::world::{self, Noise, World};
use stats::heats::{Best, Fit, FitRules, LEVEL, looks};
use stats::margin::{Judged, judge};

const MARGIN: f64 = 0.02;

/// A race of the first command with others that are all so much slower: what is said of each in the end, and after how many rounds.
fn race(others: usize, slowdown: f64, sd: f64, noise: Noise, seed: u64) -> (Vec<Judged>, usize) {
    let mut world = World::race(1 + others, 0.0, sd);
    world.truth[1..].iter_mut().for_each(|truth| truth.0 = (1.0 - slowdown).ln());
    let most = 60;
    let (starts, ends) = world.run(most, noise, seed);
    let rules = FitRules { hub: None, best: Best::Highest, chance: LEVEL };
    let mut judged = Vec::new();
    for look in looks([2, most]) {
        let fit = Fit::new(&world.entrants, &starts[..ends[look - 1]], &rules);
        judged = (1..=others).map(|c| judge(fit.pair(c, 0).unwrap().sure, MARGIN)).collect();
        if !judged.contains(&Judged::Open) {
            return (judged, look);
        }
    }
    (judged, most)
}

#[test]
fn a_slowdown_at_the_margin_is_called_beyond_or_within_in_at_most_one_race_of_twenty_each() {
    const RACES: u64 = 1_000;
    // With Noise::TwoRatios the true ratio is another one for as long as the machine keeps its speed.
    let noises = world::ALL.into_iter().filter(|noise| *noise != Noise::TwoRatios);
    let all = noises.map(|noise| (1, 0.01, noise));
    for (others, sd, noise) in all.chain([(1, 0.03, Noise::Normal), (3, 0.03, Noise::Normal)]) {
        let (mut beyond, mut within) = (0, 0);
        for seed in 0..RACES {
            let (judged, _) = race(others, MARGIN, sd, noise, seed * 31 + 7);
            beyond += usize::from(judged.contains(&Judged::Beyond));
            within += usize::from(judged.iter().all(|of| *of == Judged::Within));
        }
        let percent = |n: usize| n as f64 * 100.0 / RACES as f64;
        println!(
            "{noise:?}, starts vary by {} %, {others} at a margin of 2 %: called beyond in {:.1} %, within in {:.1} %",
            sd * 100.0,
            percent(beyond),
            percent(within)
        );
        assert!(percent(beyond) <= 5.0 && percent(within) <= 5.0);
    }
}

#[test]
fn what_is_clearly_within_or_beyond_the_margin_is_soon_known() {
    const RACES: usize = 200;
    for (sd, most) in [(0.005, 6), (0.01, 16)] {
        for (slowdown, truth) in [(0.0, Judged::Within), (0.05, Judged::Beyond)] {
            let races: Vec<_> =
                (0..RACES as u64).map(|seed| race(1, slowdown, sd, Noise::Normal, seed * 31 + 7)).collect();
            let mut rounds: Vec<usize> = races.iter().map(|race| race.1).collect();
            rounds.sort_unstable();
            let right = races.iter().filter(|(judged, _)| *judged == [truth]).count();
            let soon = races.iter().filter(|(judged, rounds)| *judged == [truth] && *rounds <= most).count();
            println!(
                "{} % slower, starts vary by {} %: {truth:?} in {:.1} %, rounds: median {}, 90 % {}, most {}",
                slowdown * 100.0,
                sd * 100.0,
                right as f64 * 100.0 / RACES as f64,
                rounds[RACES / 2],
                rounds[RACES * 9 / 10],
                rounds[RACES - 1]
            );
            assert!(soon * 10 >= RACES * 9 && right * 100 >= RACES * 99, "{soon} and {right} of {RACES}");
        }
    }
}
