//! `cargo xtask bench`: what drome costs beside the least that it could and beside its peers, measured on this
//! machine in interleaved rounds, as one Markdown table. A figure that can't be had is shown as unknown, with the
//! reason; none makes it fail.

mod figure;
mod machine;
mod options;
mod peers;
mod process;
mod rows;
mod run;
mod server;
mod table;

use crate::packages;
use anyhow::Result;
use options::Options;
use run::Bench;

/// Measures and prints.
pub fn bench(args: &[String]) -> Result<()> {
    let Some(options) = Options::read(args)? else {
        print!("{}", options::help());
        return Ok(());
    };
    if options.install {
        packages::ensure(packages::OF_BENCH)?;
    }
    build()?;
    let bench = Bench::new(&options)?;
    println!("{}", table::head(&bench, &options));
    for work in options.works() {
        let rounds = bench.measure(work);
        for figure in work.figures {
            println!("{}", table::row(work, figure, &figure::evaluate(figure, &rounds)));
        }
    }
    Ok(())
}

fn build() -> Result<()> {
    for what in
        [&["-p", "drome"][..], &["-p", "net", "--example", "floor_client", "--example", "floor_server"]]
    {
        crate::run("cargo", &[&["build", "--release", "--locked", "--quiet"], what].concat())?;
    }
    Ok(())
}
