//! `cargo xtask docs`: writes the reference pages, the JSON Schemas, the man pages and the shells' completions, from the command line's
//! definition and from the types that serde reads and writes; reference pages of formats are made from their schemas.

mod formats;
mod tables;

use crate::links::Pages;
use crate::{command, emptied, printed, root, run, target};
use anyhow::{Context, Result, bail};
use std::path::Path;

/// The shells with completions, and the names of their files.
const SHELLS: &[(&str, &str)] = &[("bash", "drome"), ("zsh", "_drome"), ("fish", "drome.fish")];

/// Writes everything, and checks the links of all Markdown files.
pub fn docs() -> Result<()> {
    let root = root();
    let reference = root.join("docs/reference");
    // Nothing is emptied before drome is known to be there.
    drome(&["--version"])?;
    let schemas = root.join("docs/schemas");
    emptied(&schemas)?;
    drome(&["generate", "schemas", &schemas.to_string_lossy()])?;
    emptied(&reference)?;
    for (name, text) in formats::pages(&root)? {
        write(&reference.join(name), &text)?;
    }
    drome(&["generate", "reference", &reference.to_string_lossy()])?;
    let man = root.join("target/man");
    emptied(&man)?;
    drome(&["generate", "man", &man.to_string_lossy()])?;
    let completions = root.join("target/completions");
    std::fs::create_dir_all(&completions)?;
    for (shell, file) in SHELLS {
        let text = drome(&["generate", "completions", shell])?;
        write(&completions.join(file), &text)?;
    }
    let broken = Pages::of_project(&root)?.dead_links();
    if !broken.is_empty() {
        bail!("these links are dead; correct the files:\n  {}", broken.join("\n  "));
    }
    eprintln!("written: docs/reference, docs/schemas, target/man, target/completions");
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("can't write {}", path.display()))
}

/// Builds drome, runs it, and returns what it prints.
fn drome(args: &[&str]) -> Result<String> {
    run("cargo", &["build", "--quiet", "--locked", "--package", "drome"])?;
    printed(command(&target().join("debug/drome").to_string_lossy()).args(args))
}
