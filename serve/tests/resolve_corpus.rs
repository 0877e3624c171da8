//! The seeds of the fuzz target for targets, and whatever a fuzzer has found wanting, as ordinary tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod oracle;

use std::path::Path;

#[test]
fn targets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds/resolve");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20, "{} has {} files", folder.display(), files.len());
    for file in files {
        println!("{}", file.display());
        oracle::check_target(&std::fs::read(&file).unwrap());
    }
}
