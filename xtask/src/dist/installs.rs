//! `cargo xtask installs`: installs drome from each package in a clean Debian without a toolchain, and runs a race there; builds the
//! container image, too. Needs root, and what `cargo xtask dist` wrote.

use super::clean_debian::debian;
use super::transcript::{RACE, keep};
use super::{VERSION, archive, image};
use crate::{emptied, packages, printed, root};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What needs certificates and fonts: [`WITHOUT`] has what drome says where there are none, and the commands then fail.
const MESSAGES: &str = "drome load -n 10 https://127.0.0.1:1/ || echo \"exit code $?\"
drome report --format png --output /tmp/race.png || echo \"exit code $?\"";

/// What a package brings, and the words by which drome names the package in a root without it.
const WITHOUT: &[(&str, &str)] = &[
    ("etc/ssl/certs/ca-certificates.crt", "install ca-certificates, or give --cacert FILE"),
    ("usr/share/fonts/truetype", "such as the package fonts-dejavu-core, or use --format svg"),
];

/// Adds to PATH the folders in which the ways to install drome put the program.
const PATHS: &str =
    "for folder in /opt/*/ /opt/venv/bin \"$HOME/.local/bin\"; do PATH=\"$PATH:$folder\"; done; export PATH";

/// A way to install drome.
struct Way {
    name: &'static str,
    /// Debian packages that the machine of a user of this way has.
    needs: &'static [&'static str],
    /// Shell commands in the clean root; /dist has the packages.
    install: String,
}

fn ways() -> Vec<Way> {
    let archive = archive::name(super::TARGETS[0]);
    let venv = "python3 -m venv /opt/venv; export PATH=/opt/venv/bin:$PATH";
    vec![
        Way {
            name: "archive",
            needs: &[],
            install: format!("tar -xzf /dist/{archive}.tar.gz -C /opt; export PATH=/opt/{archive}:$PATH"),
        },
        Way {
            name: "installer",
            needs: &["curl", "ca-certificates"],
            install: "DROME_DOWNLOADS=file:///dist sh /dist/install.sh; export PATH=$HOME/.local/bin:$PATH"
                .to_owned(),
        },
        Way { name: "deb", needs: &[], install: format!("dpkg --install /dist/drome_{VERSION}_amd64.deb") },
        Way {
            name: "wheel",
            needs: &["python3-venv"],
            install: format!("{venv}; pip install --quiet --no-index --find-links /dist drome-bench"),
        },
    ]
}

/// The names of the ways to install drome.
pub fn ways_to_install() -> impl Iterator<Item = &'static str> {
    ways().into_iter().map(|way| way.name).chain([image::NAME])
}

/// Tries every way to install drome, or those that are named; the transcript of each is kept in target/installs.
pub fn installs(wanted: &[String]) -> Result<()> {
    packages::ensure(packages::OF_INSTALLS)?;
    let (dist, out) = (root().join("target/downloads"), root().join("target/installs"));
    if !dist.join("SHA256SUMS").is_file() {
        bail!("there is no target/downloads: run `cargo xtask dist` first");
    }
    emptied(&out)?;
    let ways = ways();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    println!("| way | install, s | race, s | MB on disk |\n| --- | ---: | ---: | ---: |");
    for way in ways.iter().filter(|way| is_wanted(way.name)) {
        let clean = clean_root(way)?;
        let row = try_way(way, &clean, &dist, &out);
        std::fs::remove_dir_all(&clean).with_context(|| format!("can't remove {}", clean.display()))?;
        println!("{}", row?);
    }
    if is_wanted(image::NAME) {
        println!("{}", image::try_image(&dist, &out)?);
    }
    Ok(())
}

/// A clean root for one way to install drome.
fn clean_root(way: &Way) -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("drome-root-{}", way.name));
    debian(way.needs, &folder)?;
    Ok(folder)
}

/// Installs drome and runs the race; returns a row of the table.
fn try_way(way: &Way, clean: &Path, dist: &Path, out: &Path) -> Result<String> {
    let before = disk_mb(clean)?;
    let start = Instant::now();
    let install = format!("set -ex\n{}\ntype drome", way.install);
    let mut transcript = inside(clean, dist, &install)?;
    let installed = start.elapsed().as_secs_f64();
    let size = disk_mb(clean)? - before;
    let start = Instant::now();
    transcript += &inside(clean, dist, &format!("set -e\n{PATHS}\nset -x\n{RACE}\n{MESSAGES}"))?;
    let raced = start.elapsed().as_secs_f64();
    keep(way.name, &transcript, out)?;
    if let Some(words) = unsaid(clean, &transcript) {
        bail!("{}: drome did not say \"{words}\"; see target/installs/{}.txt", way.name, way.name);
    }
    Ok(format!("| {} | {installed:.1} | {raced:.1} | {size:.1} |", way.name))
}

/// What drome should have said for want of certificates or fonts, and did not. Python's own packages bring certificates.
fn unsaid(clean: &Path, transcript: &str) -> Option<&'static str> {
    let text = transcript.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lacking = WITHOUT.iter().filter(|(file, _)| !clean.join(file).exists()).map(|(_, words)| *words);
    lacking.find(|words| !text.contains(words))
}

/// Runs a script in the clean root, with processes, devices and a loopback network of its own, and returns what it printed.
fn inside(clean: &Path, dist: &Path, script: &str) -> Result<String> {
    const ENTER: &str = r#"mount -t proc proc "$0/proc"; mount --rbind /sys "$0/sys"; mkdir -p "$0/dist"; mount --bind "$1" "$0/dist"
        ip link set lo up
        exec env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$0" sh -c "$2""#;
    let args = ["--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-ec", ENTER];
    let script = format!("exec 2>&1\n{script}");
    printed(Command::new("unshare").args(args).arg(clean).arg(dist).arg(&script)).context("in the clean root")
}

/// The space that a folder takes on disk, in megabytes.
fn disk_mb(folder: &Path) -> Result<f64> {
    let text = printed(Command::new("du").args(["-s", "-B1", "--one-file-system"]).arg(folder))?;
    let bytes = text.split_whitespace().next().and_then(|bytes| bytes.parse::<f64>().ok());
    Ok(bytes.context("can't read what du printed")? / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_must_be_named() {
        let clean = tempfile::tempdir().unwrap();
        let said = "drome: this system has no certificate authorities: install ca-certificates, or give\n  --cacert FILE";
        assert_eq!(unsaid(clean.path(), said), Some(WITHOUT[1].1));
        assert_eq!(unsaid(clean.path(), &format!("{said} {}", WITHOUT[1].1)), None);
        std::fs::create_dir_all(clean.path().join(WITHOUT[0].0)).unwrap();
        assert_eq!(unsaid(clean.path(), WITHOUT[1].1), None, "with the fonts installed, nothing is missing");
    }

    #[test]
    fn the_words_are_those_that_drome_prints() {
        let source = |file: &str| {
            let text = std::fs::read_to_string(root().join(file)).unwrap();
            text.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ")
        };
        assert!(source("net/src/tls/identity.rs").contains(WITHOUT[0].1));
        assert!(source("app/src/png.rs").contains(WITHOUT[1].1));
    }
}
