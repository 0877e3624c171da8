//! `cargo xtask dist`: everything that a release consists of, in target/downloads. One binary for each machine is built, and every
//! package carries that same file.

mod archive;
mod binary;
mod clean_debian;
mod crates;
mod deb;
mod emulated;
mod image;
mod installs;
mod notices;
mod sizes;
mod tools;
mod transcript;
mod virtual_machine;
mod wheel;

pub use crates::package;
pub use emulated::emulated;
pub use installs::{installs, ways_to_install};
pub use tools::cargo_tool;

use crate::files::entries;
use crate::{docs, emptied, printed, root, run_command};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of every package.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A kind of machine for which packages are made.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Rust's name.
    triple: &'static str,
    /// The kernel's name, as `uname -m` prints it.
    machine: &'static str,
    /// Debian's name.
    debian: &'static str,
}

/// All machines for which packages are made.
const TARGETS: &[Target] = &[
    Target { triple: "x86_64-unknown-linux-musl", machine: "x86_64", debian: "amd64" },
    Target { triple: "aarch64-unknown-linux-musl", machine: "aarch64", debian: "arm64" },
];

/// What packages contain besides the binary.
struct Parts {
    /// Man pages, one file each.
    man: PathBuf,
    /// Completions of bash, zsh and fish, as `cargo xtask docs` names them.
    completions: PathBuf,
    /// Licences of all crates that are compiled in.
    notices: PathBuf,
}

/// Rust's names of the kinds of machines.
pub fn triples() -> impl Iterator<Item = &'static str> {
    TARGETS.iter().map(|target| target.triple)
}

/// Builds everything, for all kinds of machines or those that are named.
pub fn dist(triples: &[String]) -> Result<()> {
    let root = root();
    let out = root.join("target/downloads");
    emptied(&out)?;
    let tools = tools::ensure(&root)?;
    docs::docs()?;
    let parts = Parts {
        man: root.join("target/man"),
        completions: root.join("target/completions"),
        notices: notices::write(&root, &tools, &out)?,
    };
    let mut binaries = Vec::new();
    let is_wanted = |target: &Target| triples.is_empty() || triples.iter().any(|name| name == target.triple);
    for target in TARGETS.iter().copied().filter(is_wanted) {
        let binary = binary::build(&root, &tools, target)?;
        binaries.push((format!("{}/drome", target.machine), binary.clone()));
        archive::write(&root, target, &binary, &parts, &out)?;
        deb::write(&root, target, &binary, &parts, &out)?;
        wheel::write(&root, &tools, target, &binary, &parts, &out)?;
    }
    crates::write(&root, &out)?;
    copy(&root.join("packaging/install.sh"), &out.join("install.sh"))?;
    copy(&root.join("packaging/Containerfile"), &out.join("Containerfile"))?;
    checksums(&out)?;
    let readme = std::fs::read_to_string(root.join("README.md")).context("can't read README.md")?;
    sizes::check(&out, &binaries, &readme)
}

/// `SHA256SUMS`, as `sha256sum --check` reads it.
fn checksums(out: &Path) -> Result<()> {
    let files = entries(out)?;
    let names = files.iter().filter_map(|file| file.file_name());
    let sums = printed(Command::new("sha256sum").args(names).current_dir(out))?;
    std::fs::write(out.join("SHA256SUMS"), sums).context("can't write SHA256SUMS")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))?;
    }
    std::fs::copy(from, to).with_context(|| format!("can't copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Packs a folder reproducibly: sorted, with no owner, and with the time of the last commit.
fn tar_gz(folder: &Path, name: &str, file: &Path) -> Result<()> {
    let time = printed(Command::new("git").args(["log", "-1", "--format=--mtime=@%ct"]).current_dir(root()))?;
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", time.trim()]);
    tar.arg("--use-compress-program=gzip -9n").arg("-C").arg(folder).arg("-cf").arg(file).arg(name);
    run_command(tar.current_dir(root()))
}
