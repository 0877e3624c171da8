//! The served folder: opens what is in it and nothing else. The kernel itself refuses what leads out, links
//! included (openat2(2) with `RESOLVE_BENEATH`); where it can't, links are not followed at all.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// To open a folder only to go on from there.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// To read. Without waiting for a writer where the name is a pipe's, and without making a terminal ours.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Something was renamed while the kernel was on its way: it is asked so often before that is an error.
const ATTEMPTS: usize = 16;

/// A served folder.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    folder: OwnedFd,
    resolver: Resolver,
}

/// Who makes sure that a path stays below the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// The kernel, by one call: links are followed as long as they stay below.
    Kernel,
    /// One call a segment; links are not followed.
    Segments,
}

/// What is at a path.
#[derive(Debug)]
pub enum Opened {
    /// A file that can be read, and which one.
    File(File, Identity),
    /// A folder.
    Folder,
}

/// Why there is nothing to be served at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is nothing, or nothing that may be seen from here.
    NotFound,
    /// There is something that this process may not read.
    Forbidden,
    /// This machine is short of something.
    Unavailable,
}

/// What tells a file and its state from any other, as far as the file system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The device and the number on it.
    pub inode: (u64, u64),
    /// Bytes.
    pub length: u64,
    /// Seconds since 1970 and nanoseconds.
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

    /// Looks the folder up by its name again: it may have been replaced. Without one, the old one stays.
    pub fn refresh(&mut self) {
        if let Ok(folder) = rustix::fs::open(&self.path, FOLDER, Mode::empty()) {
            self.folder = folder;
        }
    }

    /// Opens what is at a path that [`resolve`](crate::resolve::resolve) gave.
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
        // Neither pipes nor devices nor sockets are for the world.
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
        // It can't be: the resolver leaves none. Were there one, this would be the way out.
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
        // Leading out (XDEV, LOOP) is told as what it is from here: nothing.
        _ => Missing::NotFound,
    }
}
