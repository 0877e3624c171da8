//! What is needed beside the toolchain, from Debian's packages: real servers for the tests, peers for the
//! bench. A test that lacks one fails; none passes by skipping.

use crate::run;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// For the tests: a file that shows that the package, or something as good, is there; and the package.
pub const OF_TESTS: &[(&str, &str)] = &[
    ("nginx", "nginx-light"),
    ("node", "nodejs"),
    ("python3", "python3"),
    ("curl", "curl"),
    ("ab", "apache2-utils"),
    ("hypnotoad", "libmojolicious-perl"),
];

/// For the bench: the programs that drome is compared with.
pub const OF_BENCH: &[(&str, &str)] =
    &[("wrk", "wrk"), ("h2load", "nghttp2-client"), ("ab", "apache2-utils"), ("nginx", "nginx-light")];

/// Installs what is missing.
pub fn ensure(needed: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<&str> =
        needed.iter().filter(|(program, _)| find(program).is_none()).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if find("apt-get").is_none() {
        bail!("{} missing: install by this system's own means", missing.join(", "));
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0);
    let (program, first): (&str, &[&str]) = if is_root { ("apt-get", &[]) } else { ("sudo", &["apt-get"]) };
    run(program, &[first, &["update", "-q"]].concat())?;
    run(program, &[first, &["install", "-y", "-q", "--no-install-recommends"], &missing[..]].concat())
}

/// On PATH, or where Debian keeps servers, which is not on an ordinary user's PATH.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain([Path::new("/usr/sbin").to_owned()]);
    folders.find_map(|folder| Some(folder.join(program)).filter(|file| file.is_file()))
}
