//! The files of Unix sockets come and go with their listeners.

use net::unix::listener;
use std::io::ErrorKind;
use std::path::PathBuf;

/// A path of its own, where nothing is.
fn path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("drome-unix-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn the_file_goes_with_its_listener() {
    let path = path("goes");
    let (_socket, file) = listener(&path).unwrap();
    assert!(path.exists() && file.path() == path);
    drop(file);
    assert!(!path.exists());
}

#[test]
fn what_nobody_listens_at_is_replaced_and_what_somebody_does_is_not() {
    let path = path("stale");
    let (socket, file) = listener(&path).unwrap();
    assert_eq!(listener(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
    drop(socket);
    std::mem::forget(file); // As if the server had been killed: its file is left.
    let (_socket, file) = listener(&path).unwrap();
    drop(file);
    assert!(!path.exists());
}

#[test]
fn what_another_has_put_in_its_place_stays() {
    let (path, aside) = (path("place"), path("aside"));
    let (_socket, file) = listener(&path).unwrap();
    std::fs::rename(&path, &aside).unwrap();
    let (_socket, other) = listener(&path).unwrap();
    drop(file);
    assert!(path.exists(), "the file is the second one's now");
    drop(other);
    std::fs::remove_file(aside).unwrap();
}

#[test]
fn a_file_that_is_no_socket_stays() {
    let path = path("file");
    std::fs::write(&path, "precious").unwrap();
    assert_eq!(listener(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"precious");
    std::fs::remove_file(path).unwrap();
    assert!(listener(&PathBuf::from("x".repeat(200))).is_err());
}
