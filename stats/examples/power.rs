//! How soon a race is decided: over simulated races of many differences, the share that is sure which is faster, and
//! after how many blocks. `cargo run --release -p drome-stats --example power` prints `noise,effect,sure,wrong,blocks` for
//! a plot (docs/simulation.md).

#![allow(clippy::unwrap_used, reason = "a study of one's own may panic")]

#[path = "../tests/simulation/noise.rs"]
mod noise;

use stats::sequential::{LOOKS, Pair, is_sure};

const RACES: u64 = 500;
const SD: f64 = 0.02;
const EFFECTS: [f64; 9] = [0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.10];

fn main() {
    println!("noise,effect,sure,wrong,blocks");
    for noise in noise::ALL {
        for effect in EFFECTS {
            let races: Vec<_> = (0..RACES).map(|seed| race(noise, effect, seed * 31 + 7)).collect();
            let of_all = |n: usize| n as f64 / RACES as f64;
            let sure = of_all(races.iter().filter(|(way, _)| *way != 0).count());
            let wrong =
                of_all(races.iter().filter(|(way, _)| *way < 0 || (*way != 0 && effect == 0.0)).count());
            let mut blocks: Vec<usize> = races.iter().map(|(_, blocks)| *blocks).collect();
            blocks.sort_unstable();
            println!("{noise:?},{effect},{sure:.3},{wrong:.3},{}", blocks[blocks.len() / 2]);
        }
    }
}

/// Which way it was decided (0: not at all), and after how many blocks.
fn race(noise: noise::Noise, effect: f64, seed: u64) -> (i32, usize) {
    let most = *LOOKS.last().unwrap();
    let mut logs = noise::run(noise, 4, most, effect, SD, seed);
    logs[1].iter_mut().for_each(|log| *log += effect);
    let block = |b: usize| Pair { one: vec![logs[0][b], logs[1][b]], other: vec![logs[2][b], logs[3][b]] };
    let pairs: Vec<Pair> = (0..most).map(block).collect();
    let Some(blocks) = LOOKS.iter().find(|n| is_sure(&pairs[..**n], 1, seed)) else {
        return (0, most);
    };
    let sum: f64 = logs[..2].iter().chain(&logs[2..]).enumerate().fold(0.0, |sum, (i, logs)| {
        let of_these: f64 = logs[..*blocks].iter().sum();
        if i < 2 { sum + of_these } else { sum - of_these }
    });
    (if sum > 0.0 { 1 } else { -1 }, *blocks)
}
