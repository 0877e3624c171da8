//! `drome-VERSION-MACHINE-linux.tar.gz`: the binary, man pages, completions and licences.

use super::{Parts, Target, VERSION, copy, tar_gz};
use crate::emptied;
use crate::files::entries;
use anyhow::Result;
use std::path::Path;

/// The archive's name without its ending, which is also the name of the folder in it.
pub fn name(target: Target) -> String {
    format!("drome-{VERSION}-{}-linux", target.machine)
}

/// Writes the archive into the folder `out`.
pub fn write(root: &Path, target: Target, binary: &Path, parts: &Parts, out: &Path) -> Result<()> {
    let name = name(target);
    let staged = root.join("target/staged");
    let folder = staged.join(&name);
    emptied(&folder)?;
    copy(binary, &folder.join("drome"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root.join(file), &folder.join(file))?;
    }
    copy(&parts.notices, &folder.join("THIRD-PARTY.md"))?;
    for (from, to) in [(&parts.man, "man"), (&parts.completions, "completions")] {
        for file in entries(from)? {
            copy(&file, &folder.join(to).join(file.file_name().unwrap_or_default()))?;
        }
    }
    tar_gz(&staged, &name, &out.join(format!("{name}.tar.gz")))
}
