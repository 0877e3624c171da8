//! The seeds of the fuzz targets, and whatever bytes a fuzzer has found wanting, as ordinary tests.

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
fn responses() {
    check_all("response", 20, crate::oracle::check_responses);
}

#[test]
fn requests() {
    check_all("request", 10, crate::oracle::check_requests);
}

#[test]
fn chunked() {
    check_all("chunked", 10, crate::oracle::check_chunked);
}

#[test]
fn hpack() {
    check_all("hpack", 5, crate::oracle::http2::check_hpack);
}

#[test]
fn http2() {
    check_all("http2", 10, crate::oracle::http2::check_http2);
}

#[test]
fn websocket() {
    check_all("websocket", 20, crate::oracle::websocket::check_websocket);
}

#[test]
fn http2_server() {
    check_all("http2_server", 10, crate::oracle::http2_server::check_http2_server);
}
