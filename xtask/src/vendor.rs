//! Builds Monkey and `OpenResty` from their sources, if these are in a folder next to the checkout, and verifies
//! them like every other contender. No package registry has these two.

use crate::{built_drome, command, packages, root, run, run_command};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// The usual folder of their sources, from the workspace. It has a script `build PREFIX`.
const SOURCES: &str = "../shared/vendor";

/// The environment variable that names another folder with the script.
const VARIABLE: &str = "DROME_VENDOR";

/// Where they are installed, and kept for the next time.
const PREFIX: &str = "target/vendor";

/// What the build needs: a file that shows that the package is installed, and the package.
const NEEDED: &[(&str, &str)] = &[
    ("gcc", "gcc"),
    ("make", "make"),
    ("cmake", "cmake"),
    ("/usr/include/pcre2.h", "libpcre2-dev"),
    ("/usr/include/zlib.h", "zlib1g-dev"),
];

/// Builds both once, and checks all their answers with `drome verify`. Prints a message if the sources are missing.
pub fn verify() -> Result<()> {
    let folder = std::env::var_os(VARIABLE).map_or_else(|| root().join(SOURCES), PathBuf::from);
    let script = folder.join("build");
    if !script.is_file() {
        if std::env::var_os(VARIABLE).is_some() {
            bail!(
                "{VARIABLE} is {}, which has no script `build`: unset it, or name another folder",
                folder.display()
            );
        }
        eprintln!("xtask: Monkey and OpenResty are not verified: {} has no script `build`", folder.display());
        return Ok(());
    }
    let prefix = root().join(PREFIX);
    if !is_built(&prefix) {
        packages::ensure(NEEDED)?;
        run(&script.display().to_string(), &[&prefix.display().to_string()])?;
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", prefix.join("bin").display());
    let drome = built_drome()?;
    let verify = ["verify", "monkey", "openresty"];
    run_command(command(&drome.to_string_lossy()).args(verify).env("PATH", path).current_dir(root()))
}

fn is_built(prefix: &Path) -> bool {
    ["monkey", "openresty"].iter().all(|name| prefix.join("bin").join(name).is_file())
}
