//! `cargo xtask selftest`: checks that drome's findings are true, with races between servers whose difference is known, and with the search
//! for the capacity of a server whose capacity is known. Wrong findings are marked in the tables. They don't make the command fail: a
//! machine may be slow or noisy.

mod knee;
mod neighbour;
mod options;
mod parts;
mod races;
mod table;

use crate::drome::Drome;
use anyhow::Result;
use races::Races;

pub use options::Options;

/// Runs the selected parts and prints their results.
pub fn run(options: &Options) -> Result<()> {
    let drome = Drome::build()?;
    let parts: Vec<_> = options.parts().collect();
    if !parts.is_empty() {
        let log = xtask::root().join("target/selftest.jsonl");
        let mut races = Races::new(&drome, &log, options.resume)?;
        println!("{}", table::HEAD);
        for part in parts {
            let outcomes = races.run(part, options.races(part))?;
            println!("{}", table::row(part, &outcomes));
        }
    }
    if options.has_knee() {
        println!("\n{}", knee::measure(&drome)?);
    }
    Ok(())
}

/// The command that starts drome's server on `{port}` with a fixed service time.
fn server(drome: &Drome, spin_ns: u64) -> String {
    format!("{} serve --threads 1 --port {{port}} --spin {spin_ns}ns", drome.path().display())
}
