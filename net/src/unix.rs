//! Listening Unix sockets: the listener creates their file and removes it again.

use crate::socket::{BACKLOG, Blocking, stream};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, bind, connect, listen};
use std::fs;
use std::io::{Error, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The file of a listening socket; removed when this is dropped, unless another file has taken its place.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl SocketFile {
    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|file| identity(&file) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Listens at a path. The file of a server that is gone is removed. The error is of the kind `AddrInUse` when a server listens there,
/// and of the kind `AlreadyExists` when the file is not a socket.
pub fn listener(path: &Path) -> std::io::Result<(OwnedFd, SocketFile)> {
    let address = SocketAddrUnix::new(path)?;
    remove_stale(path, &address)?;
    let socket = stream(AddressFamily::UNIX, Blocking::No)?;
    bind(&socket, &address)?;
    let file = SocketFile { path: path.to_owned(), identity: identity(&fs::symlink_metadata(path)?) };
    listen(&socket, BACKLOG)?;
    Ok((socket, file))
}

/// Removes a stale socket. A socket without a listener refuses connections; only such a file is removed.
fn remove_stale(path: &Path, address: &SocketAddrUnix) -> std::io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(file) if !file.file_type().is_socket() => {
            return Err(Error::new(ErrorKind::AlreadyExists, "the file there is not a socket"));
        }
        Ok(_) => {}
    }
    match connect(stream(AddressFamily::UNIX, Blocking::No)?, address) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path),
        // A full queue belongs to a server that is alive.
        Ok(()) | Err(Errno::AGAIN) => Err(ErrorKind::AddrInUse.into()),
        Err(errno) => Err(errno.into()),
    }
}

fn identity(file: &fs::Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}
