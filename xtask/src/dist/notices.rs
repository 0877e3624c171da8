//! The licences of all crates that are compiled in, and the software bill of materials.

use super::tools::Tools;
use super::{VERSION, copy};
use crate::run;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Writes both, and returns the path of the licences' text.
pub fn write(root: &Path, tools: &Tools, out: &Path) -> Result<PathBuf> {
    let path = format!("PATH={}", tools.path());
    let notices = out.join("THIRD-PARTY.md");
    let (file, template) = (notices.to_string_lossy(), root.join("packaging/about.hbs"));
    let (template, settings) = (template.to_string_lossy(), root.join("packaging/about.toml"));
    let settings = settings.to_string_lossy();
    let manifest = root.join("app/Cargo.toml");
    let manifest = manifest.to_string_lossy();
    let about = ["generate", "--locked", "--fail", "--config", &settings, "--manifest-path", &manifest];
    run(
        "env",
        &[&[path.as_str(), "cargo", "about"], &about[..], &["--output-file", &file, &template]].concat(),
    )?;
    let bill = ["--format", "json", "--override-filename", "bill-of-materials", "--manifest-path", &manifest];
    run("env", &[&[path.as_str(), "cargo", "cyclonedx"], &bill[..]].concat())?;
    keep_bill(root, out)?;
    Ok(notices)
}

/// The tool writes one bill into each crate's folder; that of the binary has all dependencies.
fn keep_bill(root: &Path, out: &Path) -> Result<()> {
    copy(&root.join("app/bill-of-materials.json"), &out.join(format!("drome-{VERSION}.cdx.json")))?;
    for entry in std::fs::read_dir(root)? {
        let bill = entry?.path().join("bill-of-materials.json");
        if bill.is_file() {
            std::fs::remove_file(&bill).with_context(|| format!("can't remove {}", bill.display()))?;
        }
    }
    Ok(())
}
