//! Are changes over many runs found where they are, and only there?

use crate::world::gauss;
use stats::e_divisive::{SearchOptions, change_points};
use stats::random;

const SERIES: u64 = 500;
const RUNS: usize = 30;
const SD: f64 = 0.02;

/// Whether the change points of a series with these steps (first run after, how much) are as wanted, in percent of all.
fn share(draw: Draw, steps: &[(usize, f64)], series: u64, holds: impl Fn(&[usize]) -> bool) -> f64 {
    let holds_in = |seed: &u64| {
        let mut values = draws(draw, RUNS, SD, seed * 31 + 7);
        for (at, step) in steps {
            values[*at..].iter_mut().for_each(|v| *v += step);
        }
        let found = change_points(&values, SearchOptions { level: 0.05, least: 3, seed: *seed });
        holds(&found.iter().map(|change| change.at).collect::<Vec<_>>())
    };
    (0..series).filter(holds_in).count() as f64 * 100.0 / series as f64
}

fn is_near(found: &[usize], at: usize) -> bool {
    found.iter().any(|f| f.abs_diff(at) <= 1)
}

#[test]
fn no_change_is_called_one_in_at_most_one_of_twenty() {
    for draw in [Draw::Normal, Draw::HeavyTailed] {
        let wrong = share(draw, &[], 2_000, |found| !found.is_empty());
        println!("{draw:?}, {RUNS} runs without a change: one is seen in {wrong:.1} %");
        // By chance, a true rate of 5 % is counted as more than 6 % in one of fifty simulations.
        assert!(wrong <= 6.0);
    }
}

#[test]
fn a_step_of_five_percent_is_found_to_within_a_run() {
    for draw in [Draw::Normal, Draw::HeavyTailed] {
        // Near an end least squares, the best there is for this noise, come to 91 % as well.
        for (at, least) in [(8, 88.0), (15, 90.0), (22, 88.0)] {
            let found = share(draw, &[(at, 0.05)], SERIES, |found| is_near(found, at));
            let only = share(draw, &[(at, 0.05)], SERIES, |found| found.len() == 1);
            println!(
                "{draw:?}, 5 % at 2 % noise after {at} of {RUNS} runs: found in {found:.1} %, and nothing else in {only:.1} %"
            );
            assert!(found >= least && only >= 90.0);
        }
    }
}

#[test]
fn two_steps_are_both_found_even_if_the_second_takes_the_first_back() {
    for (first, second) in [(-0.06, 0.06), (0.06, 0.06)] {
        let both = share(Draw::Normal, &[(10, first), (20, second)], SERIES, |found| {
            is_near(found, 10) && is_near(found, 20)
        });
        println!("two steps of 6 % at 2 % noise ({first}, {second}): both found in {both:.1} %");
        assert!(both >= 90.0);
    }
}

/// What independent values are drawn from.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// The normal distribution.
    Normal,
    /// Student's t distribution with three degrees of freedom: now and then far off.
    HeavyTailed,
}

/// Independent values around 0 of this standard deviation.
pub fn draws(draw: Draw, n: usize, sd: f64, seed: u64) -> Vec<f64> {
    let mut generator = random::generator(seed);
    let mut one = || {
        let own = gauss(&mut generator);
        match draw {
            Draw::Normal => own,
            // Its variance is 3, so this one's is 1.
            Draw::HeavyTailed => own / (0..3).map(|_| gauss(&mut generator).powi(2)).sum::<f64>().sqrt(),
        }
    };
    (0..n).map(|_| sd * one()).collect()
}
