//! The wheel: `pip install drome-bench` puts the static binary on the path, and the package `drome` of `python/drome` beside it. `drome` is
//! another project on `PyPI`, hence the wheel's name.

use super::tools::Tools;
use super::{Parts, Target, VERSION, copy};
use crate::files::entries;
use crate::{emptied, run};
use anyhow::{Context, Result};
use std::path::Path;

/// Licences of drome, and those of everything that is compiled into the binary.
const LICENCES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"];

/// Writes the wheel with the tool `wheel`, which adds the list of files with their hashes.
pub fn write(
    root: &Path,
    tools: &Tools,
    target: Target,
    binary: &Path,
    parts: &Parts,
    out: &Path,
) -> Result<()> {
    let folder = root.join("target/staged/wheel");
    emptied(&folder)?;
    stage(root, target, binary, &parts.notices, &folder)?;
    let (folder, out) = (folder.to_string_lossy(), out.to_string_lossy());
    run(&tools.python(), &["-m", "wheel", "pack", &folder, "--dest-dir", &out])
}

/// Copies everything that the wheel consists of into `folder`, except the list of its files.
fn stage(root: &Path, target: Target, binary: &Path, notices: &Path, folder: &Path) -> Result<()> {
    copy(binary, &folder.join(format!("drome_bench-{VERSION}.data/scripts/drome")))?;
    for file in entries(&root.join("python/drome"))?.iter().filter(|file| file.is_file()) {
        copy(file, &folder.join("drome").join(file.file_name().unwrap_or_default()))?;
    }
    let info = folder.join(format!("drome_bench-{VERSION}.dist-info"));
    for name in LICENCES {
        let from = if *name == "THIRD-PARTY.md" { notices.to_owned() } else { root.join(name) };
        copy(&from, &info.join("licenses").join(name))?;
    }
    let readme = std::fs::read_to_string(root.join("README.md")).context("can't read README.md")?;
    std::fs::write(info.join("METADATA"), metadata(&readme))?;
    std::fs::write(info.join("WHEEL"), tags(target)).context("can't write the wheel's tags")
}

/// The core metadata, version 2.4 of Python's packaging specifications.
fn metadata(readme: &str) -> String {
    let licences: String = LICENCES.iter().map(|name| format!("License-File: {name}\n")).collect();
    format!(
        "Metadata-Version: 2.4
Name: drome-bench
Version: {VERSION}
Summary: A racecourse for web servers: which is faster, by how much, and how certain that is
Project-URL: Homepage, https://github.com/drome-bench/drome
License-Expression: MIT OR Apache-2.0
{licences}Requires-Python: >=3.10
Provides-Extra: pandas
Requires-Dist: pandas; extra == \"pandas\"
Provides-Extra: ray
Requires-Dist: ray>=2.60,<3; extra == \"ray\"
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Benchmark
Description-Content-Type: text/markdown

{readme}"
    )
}

/// A static binary needs no C library, so both kinds of Linux can run it.
fn tags(target: Target) -> String {
    let machine = target.machine;
    format!(
        "Wheel-Version: 1.0
Generator: drome
Root-Is-Purelib: false
Tag: py3-none-manylinux_2_17_{machine}
Tag: py3-none-musllinux_1_1_{machine}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_carries_binary_package_and_all_licences_and_its_metadata_names_them() {
        let staged = tempfile::tempdir().unwrap();
        let (binary, notices) = (staged.path().join("built"), staged.path().join("notices"));
        std::fs::write(&binary, "the binary").unwrap();
        std::fs::write(&notices, "licences of all crates").unwrap();
        let folder = staged.path().join("wheel");
        stage(&crate::root(), super::super::TARGETS[0], &binary, &notices, &folder).unwrap();
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let info = format!("drome_bench-{VERSION}.dist-info");
        assert_eq!(text(&format!("drome_bench-{VERSION}.data/scripts/drome")), "the binary");
        assert!(folder.join("drome/__init__.py").is_file());
        assert_eq!(text(&format!("{info}/licenses/THIRD-PARTY.md")), "licences of all crates");
        let metadata = text(&format!("{info}/METADATA"));
        let named: Vec<&str> =
            metadata.lines().filter_map(|line| line.strip_prefix("License-File: ")).collect();
        let there = entries(&folder.join(&info).join("licenses")).unwrap();
        let there: Vec<_> = there.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(named, there);
        assert!(metadata.contains("\nLicense-File: THIRD-PARTY.md\nRequires-Python: "), "{metadata}");
        assert!(text(&format!("{info}/WHEEL")).contains("manylinux_2_17_x86_64"));
    }
}
