//! What changes are found over the starts of a race, and how often one is found where there is none, by simulation.

use super::*;
use crate::random::uniform;
use proptest::prelude::*;

/// The slices of a start in a race.
const SLICES: usize = 5;
/// The starts of a contender in a heat.
const COPIES: usize = 2;

/// How turns and heats scatter: turns by 4 %, as measured, and the machine by 3 % within half a second.
struct Noise {
    of_slices: [f64; 2],
    of_heats: f64,
    /// The probability that a slice loses 30 % to a pause.
    pauses: f64,
}

const USUAL: Noise = Noise { of_slices: [0.04; 2], of_heats: 0.03, pauses: 0.0 };

/// A race of two contenders over this many rounds, whose rates follow these courses: from 0 at a start's first slice to 1 at its last.
fn race(seed: u64, rounds: usize, noise: &Noise, rates: [fn(f64) -> f64; 2]) -> BTreeMap<usize, Drift> {
    let mut nth = 0;
    let mut random = || {
        nth += 1;
        uniform(seed, nth)
    };
    let mut gauss = move || (0..12).map(|_| random()).sum::<f64>() - 6.0;
    let mut starts = Vec::new();
    for heat in 0..rounds {
        let machine = noise.of_heats * gauss();
        for (contender, (rate_at, of_slices)) in rates.iter().zip(noise.of_slices).enumerate() {
            for copy in 0..COPIES {
                let slice = |cycle: usize| {
                    let at = cycle as f64 / (SLICES - 1) as f64;
                    let key = ((heat * 2 + contender) * COPIES + copy) * SLICES + cycle;
                    let paused = uniform(seed ^ 0x5eed, key as u64) < noise.pauses;
                    let rate = rate_at(at).ln() + machine * at + of_slices * gauss();
                    (cycle, rate - if paused { 0.3 } else { 0.0 })
                };
                let slices: Vec<(usize, f64)> = (0..SLICES).map(slice).collect();
                starts.push((contender, heat, StartChange::of(&slices).unwrap()));
            }
        }
    }
    drifts(&starts)
}

/// In how many of a thousand races the first contender is shown to change, and in how many its starts would have been found cold.
fn found(rounds: usize, noise: &Noise, rates: [fn(f64) -> f64; 2]) -> (usize, usize) {
    let all: Vec<Drift> = (0..1_000).map(|seed| race(seed, rounds, noise, rates)[&0]).collect();
    (all.iter().filter(|d| d.is_shown).count(), all.iter().filter(|d| d.is_level()).count())
}

const LEVEL: fn(f64) -> f64 = |_| 1e5;
/// By 10 % within the measured half second.
const RISING: fn(f64) -> f64 = |at| 1e5 * (0.0953 * at).exp();
/// By 100 %, as a server that is being compiled.
const COLD: fn(f64) -> f64 = |at| 5e3 * (0.69 * at).exp();

#[test]
fn a_level_rate_is_seldom_taken_for_a_change() {
    for noise in [
        USUAL,
        Noise { of_slices: [0.02; 2], ..USUAL },
        Noise { of_heats: 0.06, ..USUAL },
        Noise { pauses: 0.1, ..USUAL },
        Noise { of_slices: [0.12, 0.04], ..USUAL },
        Noise { of_slices: [0.04, 0.12], ..USUAL },
    ] {
        for rounds in [2, 3, 4, 10] {
            let (shown, _) = found(rounds, &noise, [LEVEL; 2]);
            assert!(shown <= 15, "{shown} of 1,000 after {rounds} rounds");
        }
    }
}

#[test]
fn one_that_is_cold_is_found_after_a_few_rounds_and_is_never_called_warm() {
    for rates in [[COLD; 2], [COLD, LEVEL]] {
        let by_rounds: Vec<(usize, usize)> =
            [2, 3, 4, 6].iter().map(|rounds| found(*rounds, &USUAL, rates)).collect();
        assert!(by_rounds.iter().all(|(_, level)| *level == 0), "{by_rounds:?}");
        assert!(by_rounds[1..].iter().all(|(shown, _)| *shown >= 990), "{by_rounds:?}");
        // Falling is a change as well.
        let falling: fn(f64) -> f64 = |at| 5e3 * (-0.69 * at).exp();
        assert!(found(4, &USUAL, [falling, LEVEL]).0 >= 990);
    }
}

#[test]
fn a_rise_of_a_tenth_passes_as_level_in_fewer_than_one_of_twenty_races() {
    for rounds in [2, 3, 4, 6, 10] {
        for rates in [[RISING; 2], [RISING, LEVEL]] {
            let (_, level) = found(rounds, &USUAL, rates);
            assert!(level <= 50, "{level} of 1,000 after {rounds} rounds");
        }
    }
    assert!(found(10, &USUAL, [RISING; 2]).0 >= 900);
}

#[test]
fn a_level_rate_is_known_to_be_one_after_a_few_rounds() {
    let level = |rounds, noise: &Noise| found(rounds, noise, [LEVEL; 2]).1;
    assert!(level(2, &USUAL) >= 350 && level(4, &USUAL) >= 900 && level(6, &USUAL) >= 980);
    assert!(level(3, &Noise { of_slices: [0.02; 2], ..USUAL }) >= 900);
}

#[test]
fn one_heat_or_too_few_slices_show_nothing() {
    assert!(race(1, 1, &USUAL, [LEVEL; 2]).is_empty());
    assert_eq!(StartChange::of(&[(0, 1.0), (1, 1.0), (2, 1.0)]), None);
    assert_eq!(StartChange::of(&[(3, 1.0); 9]), None);
    assert_eq!(StartChange::of(&[(0, f64::NEG_INFINITY); 9]), None);
    let two = StartChange::of(&[(0, 1.0), (1, 1.1), (2, 1.2), (4, 1.4)]).unwrap();
    assert!((two.change - 0.4).abs() < 1e-12, "{two:?}");
}

proptest! {
    #[test]
    fn no_values_panic(all in prop::collection::vec((0_usize..3, 0_usize..3, prop::collection::vec((0_usize..9, any::<f64>()), 0..9)), 0..9)) {
        let of = |(contender, heat, slices): &(usize, usize, Vec<(usize, f64)>)| Some((*contender, *heat, StartChange::of(slices)?));
        let starts: Vec<(usize, usize, StartChange)> = all.iter().filter_map(of).collect();
        let _ = drifts(&starts);
    }
}
