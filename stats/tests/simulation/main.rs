//! Do the figures hold what they promise? Over thousands of runs on machines whose noise and whose truth are known.
//! `cargo test -p drome-stats --test simulation -- --nocapture` prints the rates.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod changes;
mod gate;
mod heats;
mod recorded;
mod world;

use changes::{Draw, draws};
use stats::median_interval;

const RUNS: u64 = 2_000;

#[test]
fn an_interval_of_a_median_covers_it() {
    for draw in [Draw::Normal, Draw::HeavyTailed] {
        for n in [6, 9, 12] {
            let covers = |seed: &u64| {
                let (low, high) =
                    median_interval(&draws(draw, n, 0.02, seed * 31 + 7)).unwrap().interval.unwrap();
                low <= 0.0 && 0.0 <= high
            };
            let coverage = (0..RUNS).filter(covers).count() as f64 * 100.0 / RUNS as f64;
            println!("{draw:?}, {n} starts: the median is covered in {coverage:.1} %");
            assert!((93.0..=97.0).contains(&coverage));
        }
    }
}
