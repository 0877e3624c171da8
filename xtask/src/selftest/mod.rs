//! `cargo xtask selftest`: checks that what drome says is true. Races between servers whose difference is known, since it was
//! made, and the search for the capacity of a server whose capacity is known. Everything is printed; nothing
//! here fails because a machine is slow or noisy, but what is wrong is said at the end.

mod knee;
mod options;
mod parts;
mod queue;
mod races;
mod table;

use anyhow::{Context, Result};
use options::Options;
use races::Races;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Runs the parts that were asked for and prints what came of them.
pub fn selftest(args: &[String]) -> Result<()> {
    let Some(options) = Options::read(args)? else {
        print!("{}", options::help());
        return Ok(());
    };
    crate::run("cargo", &["build", "--release", "--locked", "--quiet", "-p", "drome"])?;
    let drome = Drome { path: crate::root().join("target/release/drome"), home: tempfile::tempdir()? };
    let parts: Vec<_> = options.parts().collect();
    if !parts.is_empty() {
        let log = crate::root().join("target/selftest.jsonl");
        let mut races = Races::new(&drome, &log, options.resume)?;
        println!("{}", table::HEAD);
        for part in parts {
            let outcomes = races.run(part, options.races.unwrap_or(part.races))?;
            println!("{}", table::row(part, &outcomes));
        }
    }
    if options.knee {
        println!("\n{}", knee::measure(&drome)?);
    }
    Ok(())
}

/// The binary that is tested, with a store and a cache of its own.
struct Drome {
    path: PathBuf,
    home: tempfile::TempDir,
}

impl Drome {
    /// The command that starts its server on `{port}` with a fixed service time.
    fn server(&self, spin_ns: u64) -> String {
        format!("{} serve --threads 1 --port {{port}} --spin-ns {spin_ns}", self.path.display())
    }

    /// What it prints as JSON.
    fn json(&self, args: &[&str]) -> Result<serde_json::Value> {
        let mut command = Command::new(&self.path);
        command.args(args).env("DROME_HOME", self.home.path()).env("DROME_CACHE", self.home.path());
        let output = command.stdin(Stdio::null()).output().context("can't run drome")?;
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).with_context(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("`drome {}` ended with {} and said: {text}{said}", args.join(" "), output.status)
        })
    }
}
