//! The seeds of the fuzz targets, as tests. What a fuzzer found is among them.

#[path = "../oracle/mod.rs"]
mod oracle;

use std::path::Path;

/// Runs a check on every file of one target's seeds, and says which file it was that failed.
fn check_all(target: &str, least: usize, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus-seeds").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= least, "{} has {} files", folder.display(), files.len());
    for file in files {
        println!("{}", file.display());
        check(&std::fs::read(&file).unwrap());
    }
}

#[test]
fn reports() {
    check_all("reports", 12, oracle::check_reports);
}

#[test]
fn pages() {
    check_all("page", 8, oracle::check_page);
}
