//! The output of a connection, in order: bytes, and pieces of files between them.

use net::{Errno, Io, Slot};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// How many bytes of answers are collected before they are sent.
pub const GATHER_BYTES: usize = 64 * 1024;

/// Collected answers.
#[derive(Debug)]
pub struct Out {
    /// All bytes that are not a file's.
    pub bytes: Vec<u8>,
    files: Vec<Insert>,
    file_bytes: u64,
    each: Each,
    kind: OutputKind,
}

/// What the output is, as far as faults are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputKind {
    /// Answers.
    #[default]
    Answers,
    /// A message of a WebSocket.
    Message,
    /// Nothing that a fault could change: the permission to send a body, control frames of a WebSocket.
    Aside,
}

/// The interim answer to a client that waits for permission to send a body.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How many answers are sent at once, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// As many as there is room for; pieces of files by the kernel.
    Gathered,
    /// Each on its own, all of it bytes: faults may change it.
    Alone,
}

/// A piece of a file and its place: before the byte at `at`.
#[derive(Debug)]
struct Insert {
    at: usize,
    file: Arc<OwnedFd>,
    offset: u64,
    length: u64,
}

impl Out {
    /// An empty output.
    pub fn new(each: Each) -> Self {
        let bytes = Vec::with_capacity(GATHER_BYTES);
        Self { bytes, files: Vec::new(), file_bytes: 0, each, kind: OutputKind::Answers }
    }

    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.files.is_empty()
    }

    /// Whether it is time to send.
    #[inline]
    pub fn is_full(&self) -> bool {
        match self.each {
            Each::Gathered => self.bytes.len() as u64 + self.file_bytes >= GATHER_BYTES as u64,
            Each::Alone => !self.bytes.is_empty(),
        }
    }

    /// Whether a piece of a file could not be read and is missing from the bytes.
    pub fn is_cut(&self) -> bool {
        self.each == Each::Alone && !self.files.is_empty()
    }

    /// Empties it, because everything was sent in another way.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.files.clear();
        self.file_bytes = 0;
        self.kind = OutputKind::Answers;
    }

    /// Adds the permission to send the body. The next thing to be added is the answer, after the body has arrived.
    pub fn say_continue(&mut self) {
        if self.is_empty() {
            self.kind = OutputKind::Aside;
        }
        self.bytes.extend_from_slice(CONTINUE);
    }

    /// What it is; answers, unless something else was said.
    #[inline]
    pub fn kind(&self) -> OutputKind {
        self.kind
    }

    /// Whether each answer is sent on its own.
    #[inline]
    pub fn sends_each_alone(&self) -> bool {
        self.each == Each::Alone
    }

    /// Becomes this, unless there are no bytes of it; takes them.
    pub fn append_as(&mut self, kind: OutputKind, bytes: &mut Vec<u8>) {
        if !bytes.is_empty() {
            self.kind = kind;
            self.bytes.append(bytes);
        }
    }

    /// Adds a piece of a file.
    pub fn file(&mut self, file: &Arc<OwnedFd>, offset: u64, length: u64) {
        if self.each == Each::Alone && self.read(file, offset, length).is_ok() {
            return;
        }
        self.files.push(Insert { at: self.bytes.len(), file: Arc::clone(file), offset, length });
        self.file_bytes += length;
    }

    /// Takes the piece of a file that was added, if it was not read.
    pub fn take_file(&mut self) -> Option<(Arc<OwnedFd>, u64, u64)> {
        self.files.pop().map(|Insert { file, offset, length, .. }| (file, offset, length))
    }

    /// Sends everything and is empty then. False: the peer has to read first.
    #[inline]
    pub fn send(&mut self, io: &mut impl Io, slot: Slot) -> bool {
        let sent = if self.files.is_empty() { io.send(slot, &self.bytes) } else { self.send_files(io, slot) };
        self.bytes.clear();
        self.kind = OutputKind::Answers;
        sent
    }

    /// Adds the bytes of a piece of a file.
    fn read(&mut self, file: &OwnedFd, offset: u64, length: u64) -> Result<(), Errno> {
        let start = self.bytes.len();
        self.bytes.resize(start + length as usize, 0);
        let mut at = 0;
        while at < length as usize {
            match rustix::io::pread(file, &mut self.bytes[start + at..], offset + at as u64) {
                Ok(n) if n > 0 => at += n,
                Err(Errno::INTR) => {}
                other => {
                    self.bytes.truncate(start);
                    return Err(other.err().unwrap_or(Errno::IO));
                }
            }
        }
        Ok(())
    }

    fn send_files(&mut self, io: &mut impl Io, slot: Slot) -> bool {
        let (mut from, mut sent) = (0, true);
        for Insert { at, file, offset, length } in self.files.drain(..) {
            if at > from {
                io.send_more(slot, &self.bytes[from..at]);
                from = at;
            }
            sent = io.send_file(slot, &file, offset, length);
        }
        self.file_bytes = 0;
        if from < self.bytes.len() { io.send(slot, &self.bytes[from..]) } else { sent }
    }
}
