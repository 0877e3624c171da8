//! Checks beyond those of the compiler's lints: the length of files and their first lines, the dependencies between crates and circles
//! of imports, unsafe code, the compiler's version, test binaries, refused phrases and left-overs.

use crate::files::{entries, files};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// The largest number of lines that a file may have.
const MAX_LINES: usize = 500;

/// Each crate, and the crates of the workspace on which it may depend.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("stats", &[]),
    ("wire", &[]),
    ("net", &[]),
    ("model", &["stats"]),
    ("bodies", &["model"]),
    ("catalog", &[]),
    ("report", &["model", "stats"]),
    ("dialects", &["model", "stats"]),
    ("load", &["model", "net", "stats", "wire"]),
    ("serve", &["net", "stats", "wire"]),
    ("judge", &["model", "stats"]),
    ("control", &["agent", "bodies", "catalog", "judge", "load", "model", "net", "stats", "wire"]),
    ("store", &["model"]),
    ("lab", &["agent", "control", "judge", "load", "model", "net", "stats", "store"]),
    ("profile", &["net"]),
    ("agent", &["net"]),
    (
        "app",
        &[
            "agent", "control", "dialects", "judge", "lab", "load", "model", "net", "profile", "report",
            "serve", "stats", "store",
        ],
    ),
    ("xtask", &[]),
    ("bench", &["net", "stats", "xtask"]),
    ("fuzz", &["agent", "control", "dialects", "lab", "model", "serve", "store", "wire"]),
];

/// Marks of unfinished work.
const LEFT_OVER: &[&str] = &["TODO", "FIXME", "XXX", "todo!", "unimplemented!", "dbg!"];

/// Checks everything, and lists all problems.
pub fn check(root: &Path) -> Result<()> {
    let mut wrong = Vec::new();
    for (name, may_know) in MAY_KNOW {
        check_crate(root, name, may_know, &mut wrong)?;
    }
    check_members(root, &mut wrong)?;
    check_compiler(root, &mut wrong)?;
    crate::circles::check(root, &mut wrong)?;
    crate::suites::check(root, &mut wrong)?;
    crate::english::check(root, &mut wrong)?;
    if wrong.is_empty() {
        return Ok(());
    }
    bail!("not tidy:\n  {}", wrong.join("\n  "))
}

fn check_crate(root: &Path, name: &str, may_know: &[&str], wrong: &mut Vec<String>) -> Result<()> {
    let manifest = root.join(name).join("Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| format!("can't read {}", manifest.display()))?;
    // Tests may depend on any crate: the one that counts allocations needs the load engine.
    let text =
        text.split("[dependencies]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap_or_default();
    for other in MAY_KNOW.iter().map(|(other, _)| *other).filter(|other| !may_know.contains(other)) {
        let names = [format!("{other}.workspace"), format!("{other} = "), format!("drome-{other}.workspace")];
        if text.lines().any(|line| names.iter().any(|name| line.starts_with(name.as_str()))) {
            wrong.push(format!("{name} must not depend on {other}"));
        }
    }
    // The servers in the catalog are not drome's own code.
    let folder = if name == "catalog" { root.join("catalog/src") } else { root.join(name) };
    for file in files(&folder, "rs")? {
        check_file(root, name, &file, wrong)?;
    }
    Ok(())
}

fn check_file(root: &Path, name: &str, file: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
    let shown = file.strip_prefix(root).unwrap_or(file).display();
    let lines = text.lines().count();
    if lines > MAX_LINES {
        wrong.push(format!("{shown} has {lines} lines, more than {MAX_LINES}"));
    }
    if !text.starts_with("//!") {
        wrong.push(format!("{shown} does not say what it owns: begin with //!"));
    }
    let is_this_list = file.ends_with("xtask/src/tidy.rs");
    for word in LEFT_OVER.iter().filter(|word| !is_this_list && text.contains(**word)) {
        wrong.push(format!("{shown} has a {word}"));
    }
    // A server that is measured is not drome's own code.
    let is_measured = file.ends_with("bench/src/profiles/spins.rs");
    if name != "net" && !is_this_list && !is_measured && text.contains("unsafe ") {
        wrong.push(format!("{shown} has unsafe code, which only net may have: move it there"));
    }
    Ok(())
}

/// Checks that the oldest compiler that is promised is the one that everything is tested with.
fn check_compiler(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    let value = |file: &str, key: &str| {
        let text = fs::read_to_string(root.join(file)).with_context(|| format!("can't read {file}"))?;
        let line = text.lines().find(|line| line.starts_with(&format!("{key} = ")));
        let value = line.and_then(|line| line.split('"').nth(1)).map(str::to_owned);
        value.with_context(|| format!("{file} has no {key}"))
    };
    let promised = value("Cargo.toml", "rust-version")?;
    let used = value("rust-toolchain.toml", "channel")?;
    // 1.95 is 1.95.0.
    if used != promised && used != format!("{promised}.0") {
        wrong.push(format!(
            "Cargo.toml has rust-version {promised}, and rust-toolchain.toml has channel {used}: nobody tests the older one"
        ));
    }
    Ok(())
}

/// Checks that every member of the workspace is in the table above.
fn check_members(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    for entry in entries(root)? {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if entry.join("Cargo.toml").is_file() && !MAY_KNOW.iter().any(|(known, _)| *known == name) {
            wrong.push(format!("{name} is not in tidy's table of crates"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promised_compiler_is_the_one_that_is_used() {
        let root = tempfile::tempdir().unwrap();
        let complaints = |promised: &str, used: &str| {
            let manifest = format!("[workspace.package]\nrust-version = \"{promised}\"\n");
            fs::write(root.path().join("Cargo.toml"), manifest).unwrap();
            let channel = format!("[toolchain]\nchannel = \"{used}\"\n");
            fs::write(root.path().join("rust-toolchain.toml"), channel).unwrap();
            let mut wrong = Vec::new();
            check_compiler(root.path(), &mut wrong).unwrap();
            wrong
        };
        assert!(complaints("1.95", "1.95.0").is_empty() && complaints("1.95.1", "1.95.1").is_empty());
        let wrong = complaints("1.94", "1.95.0");
        assert!(wrong[0].contains("rust-version 1.94") && wrong[0].contains("channel 1.95.0"), "{wrong:?}");
        assert_eq!(complaints("1.95", "stable").len(), 1);
    }
}
