//! The Debian package: the static binary, so it depends on nothing.

use super::{Parts, Target, VERSION, copy};
use crate::files::entries;
use crate::{emptied, run};
use anyhow::{Context, Result};
use std::path::Path;

/// Writes the package with dpkg-deb.
pub fn write(root: &Path, target: Target, binary: &Path, parts: &Parts, out: &Path) -> Result<()> {
    let folder = root.join("target/staged/deb");
    emptied(&folder)?;
    copy(binary, &folder.join("usr/bin/drome"))?;
    for page in entries(&parts.man)? {
        let to = folder.join("usr/share/man/man1").join(page.file_name().unwrap_or_default());
        copy(&page, &to)?;
        run("gzip", &["-9n", &to.to_string_lossy()])?;
    }
    let completions = [
        ("drome", "usr/share/bash-completion/completions/drome"),
        ("_drome", "usr/share/zsh/vendor-completions/_drome"),
        ("drome.fish", "usr/share/fish/vendor_completions.d/drome.fish"),
    ];
    for (name, to) in completions {
        copy(&parts.completions.join(name), &folder.join(to))?;
    }
    copy(&parts.notices, &folder.join("usr/share/doc/drome/THIRD-PARTY.md"))?;
    copy(&root.join("packaging/copyright"), &folder.join("usr/share/doc/drome/copyright"))?;
    let size_kb = std::fs::metadata(binary)?.len().div_ceil(1024);
    let control = folder.join("DEBIAN/control");
    std::fs::create_dir_all(folder.join("DEBIAN"))?;
    std::fs::write(&control, fields(target, size_kb)).context("can't write the package's fields")?;
    let file = out.join(format!("drome_{VERSION}_{}.deb", target.debian));
    run("dpkg-deb", &["--root-owner-group", "--build", &folder.to_string_lossy(), &file.to_string_lossy()])
}

/// The fields of `DEBIAN/control`; the size is in KiB.
fn fields(target: Target, size_kb: u64) -> String {
    format!(
        "Package: drome
Version: {VERSION}
Architecture: {}
Maintainer: The drome authors <drome-bench@users.noreply.github.com>
Installed-Size: {size_kb}
Recommends: ca-certificates, fonts-dejavu-core
Section: web
Priority: optional
Homepage: https://github.com/drome-bench/drome
Description: racecourse for web servers
 drome starts web servers, drives load at them, and says which is faster, by
 how much, how certain that is, and how far each is from what the machine could
 do.
",
        target.debian
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_one_line_and_the_text_below_is_indented() {
        let text = fields(super::super::TARGETS[1], 12);
        let (head, below) = text.split_at(text.find("\n drome starts").unwrap());
        assert!(head.lines().all(|line| line.contains(": ")), "{head}");
        assert!(head.contains("Architecture: arm64\n") && head.contains("Installed-Size: 12\n"), "{head}");
        assert!(below.trim_matches('\n').lines().all(|line| line.starts_with(' ')), "{below}");
    }
}
