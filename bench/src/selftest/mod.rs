//! `cargo xtask selftest`: checks that drome's findings are true, with races between servers whose difference is known, and with the search
//! for the capacity of a server whose capacity is known. Wrong findings are marked in the tables. They don't make the command fail: a
//! machine may be slow or noisy.

mod knee;
mod neighbour;
mod options;
mod parts;
mod queue;
mod races;
mod table;

use crate::release;
use anyhow::{Context, Result};
use races::Races;
use std::path::PathBuf;
use std::process::{Command, Stdio};

pub use options::Options;

/// Runs the selected parts and prints their results.
pub fn run(options: &Options) -> Result<()> {
    let drome = Drome { path: release::drome()?, home: tempfile::tempdir()? };
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

/// The binary under test, with a store and a cache of its own.
struct Drome {
    path: PathBuf,
    home: tempfile::TempDir,
}

impl Drome {
    /// The command that starts its server on `{port}` with a fixed service time.
    fn server(&self, spin_ns: u64) -> String {
        format!("{} serve --threads 1 --port {{port}} --spin {spin_ns}ns", self.path.display())
    }

    /// Runs a command and reads its JSON.
    fn json(&self, args: &[&str]) -> Result<serde_json::Value> {
        let mut command = Command::new(&self.path);
        command.args(args).env("DROME_HOME", self.home.path()).env("DROME_CACHE", self.home.path());
        let output = command.stdin(Stdio::null()).output().context("can't run drome")?;
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).with_context(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            format!("`drome {}` ended with {} and printed: {text}{errors}", args.join(" "), output.status)
        })
    }
}
