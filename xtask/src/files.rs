//! Finds the source files that the checks read.

use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// All Rust files in a folder and below it.
pub fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.ends_with("target") {
            continue; // What was built, not what was written.
        }
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}
