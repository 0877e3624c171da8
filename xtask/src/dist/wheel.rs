//! The wheel: `pip install drome-bench` puts the static binary on the path, and the package `drome` of `python/drome` beside it. `drome` is
//! another project on `PyPI`, hence the wheel's name.

use super::tools::Tools;
use super::{Target, VERSION, copy, files};
use crate::{emptied, run};
use anyhow::{Context, Result};
use std::path::Path;

/// Writes it with the tool `wheel`, which adds the list of files with their hashes.
pub fn write(root: &Path, tools: &Tools, target: Target, binary: &Path, out: &Path) -> Result<()> {
    let folder = root.join("target/staged/wheel");
    emptied(&folder)?;
    copy(binary, &folder.join(format!("drome_bench-{VERSION}.data/scripts/drome")))?;
    for file in files(&root.join("python/drome"))?.iter().filter(|file| file.is_file()) {
        copy(file, &folder.join("drome").join(file.file_name().unwrap_or_default()))?;
    }
    let info = folder.join(format!("drome_bench-{VERSION}.dist-info"));
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root.join(file), &info.join("licenses").join(file))?;
    }
    let readme = std::fs::read_to_string(root.join("README.md")).context("can't read README.md")?;
    std::fs::write(info.join("METADATA"), metadata(&readme))?;
    std::fs::write(info.join("WHEEL"), tags(target))?;
    let (folder, out) = (folder.to_string_lossy(), out.to_string_lossy());
    run(&tools.python(), &["-m", "wheel", "pack", &folder, "--dest-dir", &out])
}

/// The core metadata, version 2.4 of Python's packaging specifications.
fn metadata(readme: &str) -> String {
    format!(
        "Metadata-Version: 2.4
Name: drome-bench
Version: {VERSION}
Summary: A racecourse for web servers: which is faster, by how much, and how certain that is
Project-URL: Homepage, https://github.com/drome-bench/drome
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Requires-Python: >=3.10
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
