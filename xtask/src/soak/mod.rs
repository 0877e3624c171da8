//! `cargo xtask soak`: whether drome stays as small as it begins. Its processes run for long under a steady load, are looked
//! at once a second, and must hold as many descriptors and threads at the end, and as much memory.

mod careless;
mod options;
mod random;
mod sample;
mod scenes;
mod slope;
mod ui;

use anyhow::{Result, bail};
use options::Options;
use sample::Sample;
use slope::Slope;
use std::path::PathBuf;

/// Runs the scenes that were asked for, one after another, and fails where anything grew.
pub fn soak(args: &[String]) -> Result<()> {
    let Some(options) = Options::read(args)? else {
        print!("{}", options::help());
        return Ok(());
    };
    let drome = options.drome.clone().map_or_else(build, Ok)?;
    let mut wrong = Vec::new();
    println!("{HEAD}");
    for scene in &options.scenes {
        for watched in scene.run(&drome, options.length)? {
            judge(scene.name, &watched, &mut wrong);
        }
    }
    if options.is_page {
        judge("ui", &ui::soak(&drome, options.length)?, &mut wrong);
    }
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("not constant:\n  {}", wrong.join("\n  "))
}

fn build() -> Result<PathBuf> {
    crate::run("cargo", &["build", "--release", "--locked", "--quiet", "-p", "drome"])?;
    Ok(crate::root().join("target/release/drome"))
}

/// A process and what was seen of it, once a second.
pub struct Watched {
    pub name: &'static str,
    pub samples: Vec<Sample>,
}

const HEAD: &str = "\
| scene | process | quantity | start | end | most | a minute, over the last two thirds | constant |
| --- | --- | --- | ---: | ---: | ---: | ---: | --- |";

/// How a quantity is taken from a sample, and a bound below which a change is none.
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

/// Prints a line for each quantity of a process.
fn judge(scene: &str, watched: &Watched, wrong: &mut Vec<String>) {
    for quantity in &QUANTITIES {
        let values: Vec<f64> = watched.samples.iter().map(|s| (quantity.of)(s) / quantity.unit).collect();
        let last = &values[values.len() / 3..];
        let Some(slope) = Slope::of(last) else {
            wrong.push(format!(
                "{scene}: {} was seen {} times, which is too few",
                watched.name,
                values.len()
            ));
            return;
        };
        let most = values.iter().copied().fold(0.0, f64::max);
        let ok = slope.is_zero();
        println!(
            "| {scene} | {} | {} | {:.0} | {:.0} | {most:.0} | {:+.2} ± {:.2} | {} |",
            watched.name,
            quantity.name,
            values[0],
            values[values.len() - 1],
            slope.per_sample * 60.0,
            slope.error * 60.0,
            if ok { "yes" } else { "**no**" },
        );
        if !ok {
            let (slope, error) = (slope.per_sample * 60.0, slope.error * 60.0);
            wrong.push(format!(
                "{scene}: {} of {} change by {slope:+.2} ± {error:.2} a minute",
                quantity.name, watched.name
            ));
        }
    }
}
