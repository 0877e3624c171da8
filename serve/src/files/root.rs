//! The served folder: opens files in it and nothing else. The kernel itself refuses paths that lead out, links included
//! (openat2(2) with `RESOLVE_BENEATH`); where it can't, links are not followed at all.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The flags to open a folder only as a step to something in it.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The flags to read a file: without waiting for a writer of a pipe, and without taking a terminal over.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// How often the kernel is asked again after a rename while it resolved a path.
const ATTEMPTS: usize = 16;

/// A served folder.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    folder: OwnedFd,
    resolver: Resolver,
}

/// The guard that keeps a path below the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// The kernel, by one call: links are followed as long as they stay below.
    Kernel,
    /// This process, by one call per segment; links are not followed.
    Segments,
}

/// What is at a path.
#[derive(Debug)]
pub enum Opened {
    /// A file that can be read, with its identity.
    File(File, Identity),
    /// A folder.
    Folder,
}

/// Why nothing is served at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is nothing, or nothing that may be seen from here.
    NotFound,
    /// There is something that this process may not read.
    Forbidden,
    /// This machine lacks a resource.
    Unavailable,
}

/// The identity of a file and its state, as far as the file system reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The device and the inode number.
    pub inode: (u64, u64),
    /// The number of bytes.
    pub length: u64,
    /// The time of the last change: seconds since 1970 and nanoseconds.
    pub modified: (i64, i64),
}

impl Root {
    /// Opens a folder to be served, with the best resolver that this kernel has.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let folder = rustix::fs::open(path, FOLDER, Mode::empty())?;
        // A kernel before 5.6 does not know the call, and some sandboxes forbid what they do not know.
        let probe = openat2(&folder, c".", FOLDER, Mode::empty(), ResolveFlags::BENEATH);
        let resolver = if probe.is_ok() { Resolver::Kernel } else { Resolver::Segments };
        Ok(Self { path: path.to_owned(), folder, resolver })
    }

    /// The same folder with another resolver.
    #[must_use]
    pub fn with(self, resolver: Resolver) -> Self {
        Self { resolver, ..self }
    }

    /// The same folder for another thread.
    pub fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self { path: self.path.clone(), folder: self.folder.try_clone()?, resolver: self.resolver })
    }

    /// Opens the folder by its name again, because it may have been replaced. If there is none, the old one stays.
    pub fn refresh(&mut self) {
        if let Ok(folder) = rustix::fs::open(&self.path, FOLDER, Mode::empty()) {
            self.folder = folder;
        }
    }

    /// Opens what is at a path that [`resolve`](crate::files::resolve::resolve) returned.
    pub fn open_below(&self, path: &[u8]) -> Result<Opened, Missing> {
        if path.is_empty() {
            return Ok(Opened::Folder);
        }
        let opened = match self.resolver {
            Resolver::Kernel => by_kernel(&self.folder, path),
            Resolver::Segments => by_segments(&self.folder, path),
        };
        let file = File::from(opened.map_err(why)?);
        let about = file.metadata().map_err(|_| Missing::Unavailable)?;
        if about.is_dir() {
            return Ok(Opened::Folder);
        }
        // Pipes, devices and sockets are not served.
        if !about.is_file() {
            return Err(Missing::NotFound);
        }
        let identity = Identity {
            inode: (about.dev(), about.ino()),
            length: about.len(),
            modified: (about.mtime(), about.mtime_nsec()),
        };
        Ok(Opened::File(file, identity))
    }
}

fn by_kernel(folder: &OwnedFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    let stay = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..ATTEMPTS {
        match openat2(folder, OsStr::from_bytes(path), READ, Mode::empty(), stay) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

fn by_segments(folder: &OwnedFd, path: &[u8]) -> Result<OwnedFd, Errno> {
    let mut at: Option<OwnedFd> = None;
    let mut segments = path.split(|byte| *byte == b'/').filter(|segment| !segment.is_empty()).peekable();
    while let Some(segment) = segments.next() {
        // `resolve` leaves no such segment; if one were left, it would lead out of the folder.
        if segment == b".." {
            return Err(Errno::XDEV);
        }
        let is_last = segments.peek().is_none() && !path.ends_with(b"/");
        let flags = if is_last { READ } else { FOLDER };
        let here: BorrowedFd<'_> = at.as_ref().map_or(folder.as_fd(), OwnedFd::as_fd);
        at = Some(openat(here, OsStr::from_bytes(segment), flags | OFlags::NOFOLLOW, Mode::empty())?);
    }
    at.ok_or(Errno::NOENT)
}

fn why(errno: Errno) -> Missing {
    match errno {
        Errno::ACCESS | Errno::PERM => Missing::Forbidden,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN | Errno::IO => Missing::Unavailable,
        // A path that leads out (XDEV, LOOP) is reported as not found.
        _ => Missing::NotFound,
    }
}
