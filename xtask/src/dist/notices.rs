//! The licences of all crates that are compiled in, and the software bill of materials.

use super::tools::Tools;
use super::{VERSION, copy};
use crate::files::entries;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Writes both, and returns the path of the licences' text.
pub fn write(root: &Path, tools: &Tools, out: &Path) -> Result<PathBuf> {
    let notices = out.join("THIRD-PARTY.md");
    let files =
        [root.join("packaging/about.toml"), root.join("app/Cargo.toml"), root.join("packaging/about.hbs")];
    let [settings, manifest, template] = files.each_ref().map(|file| file.to_string_lossy());
    let about =
        ["about", "generate", "--locked", "--fail", "--config", &settings, "--manifest-path", &manifest];
    let to = ["--output-file", &notices.to_string_lossy(), &template];
    tools.run("cargo", &[&about[..], &to].concat(), &[])?;
    let bill = ["cyclonedx", "--format", "json", "--override-filename", "bill-of-materials"];
    tools.run("cargo", &[&bill[..], &["--manifest-path", &manifest]].concat(), &[])?;
    keep_bill(root, out)?;
    Ok(notices)
}

/// The tool writes one bill into each crate's folder; that of the binary has all dependencies.
fn keep_bill(root: &Path, out: &Path) -> Result<()> {
    copy(&root.join("app/bill-of-materials.json"), &out.join(format!("drome-{VERSION}.cdx.json")))?;
    for folder in entries(root)? {
        let bill = folder.join("bill-of-materials.json");
        if bill.is_file() {
            std::fs::remove_file(&bill).with_context(|| format!("can't remove {}", bill.display()))?;
        }
    }
    Ok(())
}
