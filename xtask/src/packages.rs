//! What the tests need beside the toolchain: real servers, from Debian's packages. A test that lacks one fails;
//! none passes by skipping.

use crate::run;
use anyhow::{Result, bail};
use std::path::Path;

/// A file that shows that the package, or something as good, is there; and the package.
const NEEDED: &[(&str, &str)] = &[
    ("nginx", "nginx-light"),
    ("node", "nodejs"),
    ("python3", "python3"),
    ("curl", "curl"),
    ("hypnotoad", "libmojolicious-perl"),
];

/// Installs what is missing.
pub fn ensure() -> Result<()> {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(program, _)| !is_there(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !is_there("apt-get") {
        bail!("the tests need {}: install them by this system's own means", missing.join(", "));
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let (program, first): (&str, &[&str]) = if is_root { ("apt-get", &[]) } else { ("sudo", &["apt-get"]) };
    run(program, &[first, &["update", "-q"]].concat())?;
    run(program, &[first, &["install", "-y", "-q", "--no-install-recommends"], &missing[..]].concat())
}

/// On PATH, or where Debian keeps servers, which is not on an ordinary user's PATH.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([Path::new("/usr/sbin").to_owned()])
        .any(|folder| folder.join(program).is_file())
}
