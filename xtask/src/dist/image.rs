//! The container image of packaging/Containerfile, for `cargo xtask installs`: built by podman from what `cargo xtask dist` wrote, and
//! tried. No registry is asked: a new Debian from this machine's mirrors takes the place of the base image.

use super::clean_debian::debian;
use super::transcript::{RACE, keep};
use crate::{emptied, packages, printed};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The name that the Containerfile's `FROM debian:stable-slim` stands for.
const BASE: &str = "docker.io/library/debian:stable-slim";

/// The name among the ways to install drome.
pub const NAME: &str = "image";

const IMAGE: &str = "localhost/drome";

/// Needs fonts, which the image has.
const PICTURE: &str =
    "drome report --format png --only-chart ranked-1 --output /tmp/race.png && test -s /tmp/race.png";

/// podman, with all that it keeps in one folder.
struct Podman(PathBuf);

impl Podman {
    /// Runs podman and returns what it printed.
    fn run(&self, args: &[&str]) -> Result<String> {
        let mut command = Command::new("podman");
        for (option, name) in [("--root", "r"), ("--runroot", "q"), ("--tmpdir", "t")] {
            command.arg(option).arg(self.0.join(name));
        }
        let kept = ["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "file"];
        printed(command.args(kept).args(["--runtime", "runc"]).args(args).env("TMPDIR", &self.0))
    }

    fn image_mb(&self, name: &str) -> Result<f64> {
        let bytes = self.run(&["image", "inspect", "--format", "{{.Size}}", name])?;
        Ok(bytes
            .trim()
            .parse::<f64>()
            .with_context(|| format!("podman says that an image has {bytes} bytes"))?
            / 1e6)
    }
}

/// Builds the image, runs a race in it, and returns a row of the table of `cargo xtask installs`.
pub fn try_image(dist: &Path, out: &Path) -> Result<String> {
    packages::ensure(packages::OF_IMAGE)?;
    // A short path: that of a container's socket has room for a hundred bytes.
    let folder = std::env::temp_dir().join("drome-image");
    emptied(&folder)?;
    let row = build_and_race(&Podman(folder.clone()), &folder, dist, out);
    std::fs::remove_dir_all(&folder).with_context(|| format!("can't remove {}", folder.display()))?;
    row
}

fn build_and_race(podman: &Podman, folder: &Path, dist: &Path, out: &Path) -> Result<String> {
    let base = folder.join("base.tar");
    debian(&[], &base)?;
    podman.run(&["import", &base.to_string_lossy(), BASE])?;
    let start = Instant::now();
    let build = ["build", "--pull=never", "--network=host", "--isolation=chroot", "--tag", IMAGE];
    let mut transcript = podman.run(&[&build[..], &[&dist.to_string_lossy()]].concat())?;
    let built_s = start.elapsed().as_secs_f64();
    let size_mb = podman.image_mb(IMAGE)? - podman.image_mb(BASE)?;
    let start = Instant::now();
    // podman's own limits are more than this machine may allow: those of a container in a container, for example.
    let alone = ["run", "--rm", "--network=none", "--ulimit=nofile=20000:20000", "--ulimit=nproc=4096:4096"];
    transcript += &podman.run(&[&alone[..], &[IMAGE, "--version"]].concat())?;
    let script = format!("exec 2>&1; set -ex\n{RACE}\n{PICTURE}");
    transcript += &podman.run(&[&alone[..], &["--entrypoint=/bin/sh", IMAGE, "-c", &script]].concat())?;
    let raced_s = start.elapsed().as_secs_f64();
    keep(NAME, &transcript, out)?;
    Ok(format!("| {NAME} | {built_s:.1} | {raced_s:.1} | {size_mb:.1} |"))
}
