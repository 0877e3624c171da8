//! `cargo xtask soak`: checks that drome's processes do not grow. They run for a long time under a steady load and are sampled once a
//! second. Their descriptors, threads and memory must stay constant.

mod misbehaving;
mod options;
mod sample;
mod scenes;
mod slope;
mod ui;

use crate::drome::Drome;
use anyhow::{Result, bail};
use sample::Sample;
use slope::Slope;

pub use options::Options;

/// Runs the selected scenes, one after another, and fails if anything grew.
pub fn run(options: &Options) -> Result<()> {
    let drome = options.drome.clone().map_or_else(Drome::build, Drome::at)?;
    let mut wrong = Vec::new();
    println!("{HEAD}");
    for scene in options.scenes() {
        for watched in scene.run(&drome, options.length())? {
            judge(scene.name, &watched, &mut wrong);
        }
    }
    if options.has_ui() {
        judge("ui", &ui::soak(&drome, options.length())?, &mut wrong);
    }
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("not constant:\n  {}", wrong.join("\n  "))
}

/// A process and its samples at equal distances: one every second, or one after every bout.
pub struct Watched {
    pub name: &'static str,
    pub samples: Vec<Sample>,
}

const HEAD: &str = "\
| scene | process | quantity | start | end | most | a minute, over the last two thirds | constant |
| --- | --- | --- | ---: | ---: | ---: | ---: | --- |";

/// How a quantity is taken from a sample, and the unit in which it is shown.
struct Quantity {
    name: &'static str,
    of: fn(&Sample) -> f64,
    unit: f64,
}

const QUANTITIES: [Quantity; 3] = [
    Quantity { name: "descriptors", of: |s| s.descriptors as f64, unit: 1.0 },
    Quantity { name: "threads", of: |s| s.threads as f64, unit: 1.0 },
    Quantity { name: "memory, KB", of: |s| s.rss_bytes as f64, unit: 1024.0 },
];

/// Prints a line for each quantity of a process, and notes each that is not constant.
fn judge(scene: &str, watched: &Watched, wrong: &mut Vec<String>) {
    for quantity in &QUANTITIES {
        let values: Vec<f64> = watched.samples.iter().map(|s| (quantity.of)(s) / quantity.unit).collect();
        let last = &values[values.len() / 3..];
        let Some(slope) = Slope::of(last) else {
            let (name, samples) = (watched.name, values.len());
            wrong.push(format!("{scene}: {name} has only {samples} samples: raise --duration"));
            return;
        };
        let a_minute = a_minute(&watched.samples[watched.samples.len() / 3..]);
        let [change, error] = [slope.per_sample, slope.error].map(|per_sample| per_sample * a_minute);
        let most = values.iter().copied().fold(0.0, f64::max);
        let ok = slope.is_zero();
        println!(
            "| {scene} | {} | {} | {:.0} | {:.0} | {most:.0} | {change:+.2} ± {error:.2} | {} |",
            watched.name,
            quantity.name,
            values[0],
            values[values.len() - 1],
            if ok { "yes" } else { "**no**" },
        );
        if !ok {
            wrong.push(format!(
                "{scene}: {} of {} change by {change:+.2} ± {error:.2} a minute",
                quantity.name, watched.name
            ));
        }
    }
}

/// The number of samples per minute.
fn a_minute(samples: &[Sample]) -> f64 {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return 0.0 };
    let minutes = last.at.duration_since(first.at).as_secs_f64() / 60.0;
    if minutes > 0.0 { (samples.len() - 1) as f64 / minutes } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn samples_of_bouts_are_fewer_in_a_minute_than_samples_of_seconds() {
        let (at, of) = (Instant::now(), Sample::of(std::process::id()).unwrap());
        let every = |seconds: u64| -> Vec<Sample> {
            (0..40).map(|n| Sample { at: at + Duration::from_secs(n * seconds), ..of }).collect()
        };
        assert!((a_minute(&every(1)) - 60.0).abs() < 1e-9 && (a_minute(&every(12)) - 5.0).abs() < 1e-9);
        assert!(a_minute(&[]).abs() < 1e-9 && a_minute(&every(1)[..1]).abs() < 1e-9);
    }
}
