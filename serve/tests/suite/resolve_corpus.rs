//! Runs the seeds of the fuzz target `resolve`, which parses request targets, as ordinary tests. Inputs on which the fuzzer
//! found a failure are among the seeds.

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
