//! A new Debian, in which nothing is installed but what is asked for.

use crate::files::entries;
use crate::run;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The Debian that every clean root has.
const SUITE: &str = "bookworm";

/// A new, minimal Debian with these packages, from the sources that this machine uses: a folder, or an archive if `to` ends in `.tar`.
pub fn debian(packages: &[&str], to: &Path) -> Result<()> {
    make_debian(&["--variant=minbase"], packages, to)
}

/// A Debian that is made with these options of mmdebstrap.
pub fn make_debian(options: &[&str], packages: &[&str], to: &Path) -> Result<()> {
    let include = format!("--include={}", packages.join(","));
    let include = (!packages.is_empty()).then_some(include.as_str());
    let (shown, sources) = (to.to_string_lossy(), sources()?);
    let from = sources.iter().map(String::as_str);
    let args = options.iter().copied().chain(["--quiet"]).chain(include).chain([SUITE, &shown]).chain(from);
    run("mmdebstrap", &args.collect::<Vec<_>>())
}

/// The files in /etc/apt that name this machine's mirrors of [`SUITE`]; those of others' packages are of no use here.
fn sources() -> Result<Vec<String>> {
    let mut found = vec![PathBuf::from("/etc/apt/sources.list")];
    found.extend(entries(Path::new("/etc/apt/sources.list.d"))?);
    let lists = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        file.extension().is_some_and(|end| end == "list" || end == "sources")
            && text.lines().any(|line| {
                let names = line.starts_with("deb ") || line.starts_with("Suites:");
                names && line.split_whitespace().any(|word| word == SUITE)
            })
    };
    Ok(found.iter().filter(|file| lists(file)).map(|file| file.to_string_lossy().into_owned()).collect())
}
