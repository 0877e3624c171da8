//! The crates as `cargo publish` would upload them. `cargo package` builds each from its package alone, so a file that lies outside
//! of its crate is found missing here.

use super::{VERSION, copy};
use crate::files::entries;
use crate::run;
use anyhow::{Context, Result, bail};
use std::path::Path;

/// Packages that are not published.
const PRIVATE: &[&str] = &["xtask", "drome-bench"];

/// Packs all crates that are published.
pub fn write(root: &Path, out: &Path) -> Result<()> {
    package(&[])?;
    let mut count = 0;
    for file in entries(&root.join("target/package"))? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(&format!("-{VERSION}.crate")) {
            copy(&file, &out.join("crates").join(name))?;
            count += 1;
        }
    }
    if count == 0 {
        bail!("cargo package made no crate");
    }
    let staged = out.join("crates");
    super::tar_gz(out, "crates", &out.join(format!("drome-{VERSION}-crates.tar.gz")))?;
    std::fs::remove_dir_all(&staged).with_context(|| format!("can't remove {}", staged.display()))
}

/// Runs `cargo package` with more options.
pub fn package(options: &[&str]) -> Result<()> {
    let all = ["package", "--workspace", "--locked", "--quiet", "--allow-dirty"];
    let private: Vec<&str> = PRIVATE.iter().flat_map(|name| ["--exclude", *name]).collect();
    run("cargo", &[&all[..], &private, options].concat())
}
