//! The seeds of the fuzz target for targets, and whatever a fuzzer has found wanting, as ordinary tests.

use std::path::Path;

#[test]
fn targets() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds/resolve");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 20, "{} has {} files", folder.display(), files.len());
    for file in files {
        println!("{}", file.display());
        crate::oracle::check_target(&std::fs::read(&file).unwrap());
    }
}
