//! Are trials called unsteady that are, and only those?

use crate::noise::{self, Noise};
use stats::steady::settling;

const TRIALS: u64 = 2_000;
const STEPS: usize = 40;

/// The share of trials, in percent, that are called unsteady: 40 steps of 5,000 answers with this noise, and this course.
fn unsteady(noise: Noise, sd: f64, course: impl Fn(usize) -> f64) -> f64 {
    let is_unsteady = |seed: &u64| {
        let logs = noise::run(noise, 1, STEPS, 0.0, sd, seed * 31 + 7).remove(0);
        let answers: Vec<u64> =
            logs.iter().enumerate().map(|(k, log)| (5_000.0 * course(k) * log.exp()) as u64).collect();
        !settling(&answers, 0).unwrap().is_steady
    };
    (0..TRIALS).filter(is_unsteady).count() as f64 * 100.0 / TRIALS as f64
}

#[test]
fn a_steady_trial_is_called_unsteady_in_at_most_one_of_twenty() {
    for noise in [Noise::Independent, Noise::Autocorrelated, Noise::HeavyTailed] {
        for sd in [0.01, 0.02, 0.05] {
            let wrong = unsteady(noise, sd, |_| 1.0);
            println!("{noise:?}, {} % noise: a steady trial is called unsteady in {wrong:.1} %", sd * 100.0);
            assert!(wrong <= 5.0);
        }
    }
}

#[test]
fn a_server_that_warms_up_in_the_window_is_found() {
    let slowly = |k: usize| 1.0 - 0.3 * (-(k as f64) / 15.0).exp();
    let at_once = |k: usize| if k < 18 { 0.85 } else { 1.0 };
    for noise in [Noise::Independent, Noise::Autocorrelated, Noise::HeavyTailed] {
        let (slow, step) = (unsteady(noise, 0.03, slowly), unsteady(noise, 0.03, at_once));
        println!(
            "{noise:?}, 3 % noise: a rise of 30 % is found in {slow:.1} %, a step of 15 % in {step:.1} %"
        );
        // The contender is labelled where most of its trials are.
        assert!(slow >= 80.0 && step >= 65.0);
    }
}
