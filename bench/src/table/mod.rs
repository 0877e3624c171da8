//! `cargo xtask bench`: the cost of drome compared with a bare loop and with other tools, measured on this machine in
//! interleaved rounds, as one Markdown table. A figure that can't be measured is shown as unknown, with the reason; it
//! does not end the run.

mod clients;
mod figure;
mod machine;
mod markdown;
mod model;
mod options;
mod page;
mod record;
mod run;
mod sample;
mod server;
mod versions;
mod works;

use crate::drome::{self, Drome};
use anyhow::{Context, Result};
use record::Record;
use run::Bench;
use std::fs;
use std::path::Path;
use xtask::packages;

pub use options::Options;

/// The programs that drome is compared with, and their packages.
const PACKAGES: &[(&str, &str)] = &[
    ("wrk", "wrk"),
    ("h2load", "nghttp2-client"),
    ("ab", "apache2-utils"),
    ("nginx", "nginx-light"),
    ("node", "nodejs"),
];

/// Measures the selected works and prints a row for each figure; with `--render`, only makes the page again from the stored figures.
pub fn run(options: &Options) -> Result<()> {
    if options.render {
        return page::render(&xtask::root());
    }
    if options.install {
        packages::ensure(PACKAGES)?;
    }
    let bench = Bench::new(options, Drome::build()?, drome::examples()?)?;
    let mut record = bench.record();
    println!("{}", markdown::head(&record));
    let kept = options.export.as_deref().map_or(Ok(None), Record::read)?;
    for work in options.works() {
        let rounds = bench.measure(work);
        for figure in work.figures {
            let row = figure::evaluate(work, figure, &rounds);
            println!("{}", markdown::row(&row));
            record.rows.push(row);
        }
        // After each work, so that an interrupted run keeps what it has.
        let Some(file) = &options.export else { continue };
        write(file, &kept.clone().map_or_else(|| record.clone(), |kept| kept.with(record.clone())))?;
    }
    Ok(())
}

fn write(file: &Path, record: &Record) -> Result<()> {
    let json = serde_json::to_string_pretty(record)? + "\n";
    fs::write(file, json).with_context(|| format!("can't write {}", file.display()))
}
