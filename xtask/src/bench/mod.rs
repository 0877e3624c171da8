//! `cargo xtask bench`: what drome costs beside the least that it could and beside its peers, measured on this
//! machine in interleaved rounds, as one Markdown table. A figure that can't be had is shown as unknown, with the
//! reason; none makes it fail.

mod figure;
mod machine;
mod options;
mod page;
mod peers;
mod process;
mod record;
mod rows;
mod run;
mod server;
mod table;
mod versions;
mod works;

use crate::packages;
use anyhow::{Context, Result};
use options::Options;
use record::{Record, Row};
use run::Bench;
use std::fs;
use std::path::Path;

pub use page::check as check_page;

/// Measures and prints.
pub fn bench(args: &[String]) -> Result<()> {
    let Some(options) = Options::read(args)? else {
        print!("{}", options::help());
        return Ok(());
    };
    if options.render {
        return page::render(&crate::root());
    }
    if options.install {
        packages::ensure(packages::OF_BENCH)?;
    }
    build()?;
    let bench = Bench::new(&options)?;
    let mut record = bench.record();
    println!("{}", table::head(&record));
    let kept = options.json.as_deref().map_or(Ok(None), Record::read)?;
    for work in options.works() {
        let rounds = bench.measure(work);
        for figure in work.figures {
            let row = Row::new(work, figure, &figure::evaluate(figure, &rounds));
            println!("{}", table::row(&row));
            record.rows.push(row);
        }
        // After each work, so that an interrupted run keeps what it has.
        let Some(file) = &options.json else { continue };
        write(file, &kept.clone().map_or_else(|| record.clone(), |kept| kept.with(record.clone())))?;
    }
    Ok(())
}

fn write(file: &Path, record: &Record) -> Result<()> {
    let json = serde_json::to_string_pretty(record)? + "\n";
    fs::write(file, json).with_context(|| format!("can't write {}", file.display()))
}

fn build() -> Result<()> {
    for what in [&["-p", "drome"][..], &["-p", "drome-net", "--examples"]] {
        crate::run("cargo", &[&["build", "--release", "--locked", "--quiet"], what].concat())?;
    }
    Ok(())
}
