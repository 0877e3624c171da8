//! Intervals of a paired ratio, one way beside the other: how often each covers the truth, and how wide it is, over
//! 2,000 simulated runs a row. `cargo run --release -p drome-stats --example simulate` prints the table from which the way
//! that drome takes was chosen; `-- --csv` prints it for a plot (`blocks,noise,way,coverage,width`): docs/simulation.md.

#![allow(clippy::unwrap_used, reason = "a study of one's own may panic")]

#[path = "../tests/simulation/noise.rs"]
mod noise;

use rand::RngExt;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use stats::{centre_interval, median, median_interval, random};

const RUNS: u64 = 2_000;
const EFFECT: f64 = 0.03;
const SD: f64 = 0.02;
const DRAWS: usize = 1_000;

type Way = (&'static str, fn(&[f64], u64) -> (f64, f64));

const WAYS: [Way; 6] = [
    ("signed ranks (drome's)", |x, _| centre_interval(x).unwrap().interval.unwrap()),
    ("order statistics", |x, _| median_interval(x).unwrap().interval.unwrap()),
    ("Student's t", |x, _| students(x)),
    ("bootstrap; median", |x, seed| quantiles(&bootstrap(x, seed, |x| median(x).unwrap()), 0.025, 0.975)),
    ("bootstrap; studentised", studentised),
    ("bootstrap; BCa", bca),
];

fn main() {
    let is_csv = std::env::args_os().any(|arg| arg == "--csv");
    if is_csv {
        println!("blocks,noise,way,coverage,width");
    } else {
        println!("| blocks | noise | way | covers | width |\n| --- | --- | --- | --- | --- |");
    }
    for blocks in [6, 8, 10, 12] {
        for noise in noise::ALL {
            for (name, way) in WAYS {
                let (coverage, width) = judge(noise, blocks, way);
                if is_csv {
                    println!("{blocks},{noise:?},{name},{coverage:.4},{width:.5}");
                } else {
                    let (coverage, width) = (100.0 * coverage, 100.0 * width);
                    println!("| {blocks} | {noise:?} | {name} | {coverage:.1} % | {width:.2} % |");
                }
            }
        }
    }
}

/// How often the truth is covered, and the mean width.
fn judge(noise: noise::Noise, blocks: usize, way: fn(&[f64], u64) -> (f64, f64)) -> (f64, f64) {
    let (mut covered, mut width) = (0_u32, 0.0);
    for run in 0..RUNS {
        let logs = noise::run(noise, 4, blocks, EFFECT, SD, run * 31 + 7);
        let differences: Vec<f64> = logs[0].iter().zip(&logs[1]).map(|(a, b)| a - b).collect();
        let (low, high) = way(&differences, run);
        covered += u32::from(low <= EFFECT && EFFECT <= high);
        width += high - low;
    }
    (f64::from(covered) / RUNS as f64, width / RUNS as f64)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean.
fn error(values: &[f64]) -> f64 {
    let (n, mean) = (values.len() as f64, mean(values));
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt()
}

fn students(values: &[f64]) -> (f64, f64) {
    let t = StudentsT::new(0.0, 1.0, values.len() as f64 - 1.0).unwrap().inverse_cdf(0.975);
    (mean(values) - t * error(values), mean(values) + t * error(values))
}

/// The figure of values drawn again and again, in order.
fn bootstrap(values: &[f64], seed: u64, figure: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut generator = random::generator(seed);
    let mut draw =
        || -> Vec<f64> { values.iter().map(|_| values[generator.random_range(0..values.len())]).collect() };
    let mut figures: Vec<f64> = (0..DRAWS).map(|_| figure(&draw())).collect();
    figures.sort_by(f64::total_cmp);
    figures
}

fn quantiles(sorted: &[f64], low: f64, high: f64) -> (f64, f64) {
    let at = |p: f64| sorted[((p * sorted.len() as f64) as usize).min(sorted.len() - 1)];
    (at(low), at(high))
}

fn studentised(values: &[f64], seed: u64) -> (f64, f64) {
    let (middle, spread) = (mean(values), error(values));
    let t = bootstrap(values, seed, |x| if error(x) > 0.0 { (mean(x) - middle) / error(x) } else { 0.0 });
    let (low, high) = quantiles(&t, 0.025, 0.975);
    (middle - spread * high, middle - spread * low)
}

/// Bias-corrected and accelerated (Efron 1987).
fn bca(values: &[f64], seed: u64) -> (f64, f64) {
    let normal = Normal::new(0.0, 1.0).unwrap();
    let (n, middle) = (values.len() as f64, mean(values));
    let means = bootstrap(values, seed, mean);
    let below = means.iter().filter(|m| **m < middle).count() as f64 / DRAWS as f64;
    let bias = normal.inverse_cdf(below.clamp(0.001, 0.999));
    let left_out: Vec<f64> = values.iter().map(|v| (middle * n - v) / (n - 1.0)).collect();
    let away = |power: i32| left_out.iter().map(|m| (mean(&left_out) - m).powi(power)).sum::<f64>();
    let acceleration = away(3) / (6.0 * away(2).powf(1.5));
    let adjusted = |z: f64| normal.cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
    quantiles(&means, adjusted(-1.96), adjusted(1.96))
}
