//! The unsent output of a connection: bytes and pieces of files, in the order in which they were handed over.

use crate::socket::send_some;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// The largest part of its files that one connection may send in one go: others wait meanwhile. The pause costs one system
/// call.
const SHARE_BYTES: u64 = 2 * 1024 * 1024;

/// A queue; without memory as long as it is empty.
#[derive(Debug, Default)]
pub struct Unsent(VecDeque<Piece>);

/// A part of what waits.
#[derive(Debug)]
pub enum Piece {
    /// Bytes, of which the first `sent` are gone.
    Bytes { bytes: Vec<u8>, sent: usize },
    /// A piece of a file.
    File(FilePiece),
}

/// What is handed over to be sent: bytes, or a piece of a file.
#[derive(Debug)]
pub enum More<'b> {
    Bytes(&'b [u8]),
    File(FilePiece),
}

/// The rest of a file that is to be sent.
#[derive(Debug)]
pub struct FilePiece {
    /// The file.
    pub file: Arc<OwnedFd>,
    /// Where the rest begins.
    pub offset: u64,
    /// The number of bytes left.
    pub left: u64,
}

/// How far a send got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Everything is in the kernel's hands.
    All,
    /// The socket is full; the kernel reports when it has room again.
    Full,
    /// There may be room, but others come first; no event tells when to go on.
    Paused,
}

impl Unsent {
    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of bytes that wait.
    pub fn bytes(&self) -> u64 {
        let of = |piece: &Piece| match piece {
            Piece::Bytes { bytes, sent } => (bytes.len() - sent) as u64,
            Piece::File(piece) => piece.left,
        };
        self.0.iter().map(of).sum()
    }

    /// Lets `more` wait behind all others.
    pub fn push(&mut self, more: More<'_>) {
        match (more, self.0.back_mut()) {
            (More::Bytes([]), _) => {}
            (More::Bytes(more), Some(Piece::Bytes { bytes, .. })) => bytes.extend_from_slice(more),
            (More::Bytes(more), _) => self.0.push_back(Piece::Bytes { bytes: more.to_vec(), sent: 0 }),
            (More::File(piece), _) if piece.left == 0 => {}
            (More::File(piece), _) => self.0.push_back(Piece::File(piece)),
        }
    }

    /// Lets a piece wait before all others: the rest of what was sent.
    pub fn push_front(&mut self, rest: Piece) {
        let is_empty = match &rest {
            Piece::Bytes { bytes, sent } => bytes.len() == *sent,
            Piece::File(piece) => piece.left == 0,
        };
        if !is_empty {
            self.0.push_front(rest);
        }
    }

    /// Takes the first piece.
    pub fn pop(&mut self) -> Option<Piece> {
        let first = self.0.pop_front();
        if self.0.is_empty() {
            self.0 = VecDeque::new();
        }
        first
    }

    /// Sends at once what the socket takes, of a file up to its share of this turn; the rest waits, and all of it behind what waits already.
    #[inline]
    pub fn send(&mut self, socket: impl AsFd, more: More<'_>, flags: SendFlags) -> Result<Sent, Errno> {
        if !self.is_empty() {
            self.push(more);
            return Ok(Sent::Full);
        }
        match more {
            More::Bytes(bytes) => {
                let n = send_some(socket, bytes, flags)?;
                self.push(More::Bytes(&bytes[n..]));
                Ok(if self.is_empty() { Sent::All } else { Sent::Full })
            }
            More::File(mut piece) => {
                let sent = piece.send(socket, &mut SHARE_BYTES.clone())?;
                self.push(More::File(piece));
                Ok(sent)
            }
        }
    }

    /// As [`Unsent::send`], on a socket on which calls block.
    pub fn send_blocking(
        &mut self,
        socket: &OwnedFd,
        more: More<'_>,
        flags: SendFlags,
    ) -> Result<Sent, Errno> {
        match more {
            More::Bytes(_) => self.send(socket, more, flags),
            More::File(_) => without_waiting(socket, || self.send(socket, more, flags)),
        }
    }

    /// As [`Unsent::flush`], on a socket on which calls block.
    pub fn flush_blocking(&mut self, socket: &OwnedFd) -> Result<Sent, Errno> {
        if self.0.iter().any(|piece| matches!(piece, Piece::File(_))) {
            without_waiting(socket, || self.flush(socket))
        } else {
            self.flush(socket)
        }
    }

    /// Sends what waits.
    pub fn flush(&mut self, socket: impl AsFd) -> Result<Sent, Errno> {
        let mut share = SHARE_BYTES;
        loop {
            let more = if self.0.len() > 1 { SendFlags::MORE } else { SendFlags::empty() };
            let sent = match self.0.front_mut() {
                None => {
                    self.0 = VecDeque::new();
                    return Ok(Sent::All);
                }
                Some(Piece::Bytes { bytes, sent }) => send_rest(&socket, bytes, sent, more)?,
                Some(Piece::File(piece)) => piece.send(&socket, &mut share)?,
            };
            if sent != Sent::All {
                return Ok(sent);
            }
            self.0.pop_front();
        }
    }
}

impl FilePiece {
    /// Sends from the file. An end of the file before that of the piece is an error, because the peer expects more.
    fn send(&mut self, socket: impl AsFd, share: &mut u64) -> Result<Sent, Errno> {
        while self.left > 0 {
            let count = self.left.min(*share);
            if count == 0 {
                return Ok(Sent::Paused);
            }
            // A peer that is gone raises SIGPIPE here, where no flag can prevent it; Rust's start-up code has
            // the signal ignored.
            match rustix::fs::sendfile(&socket, &self.file, Some(&mut self.offset), count as usize) {
                Ok(0) => return Err(Errno::IO),
                Ok(n) => {
                    self.left -= n as u64;
                    *share -= n as u64;
                }
                Err(Errno::INTR) => {}
                // Only this tells that the kernel will report room again: a short count can have other causes.
                Err(Errno::AGAIN) => return Ok(Sent::Full),
                Err(errno) => return Err(errno),
            }
        }
        Ok(Sent::All)
    }
}

fn send_rest(socket: impl AsFd, bytes: &[u8], sent: &mut usize, flags: SendFlags) -> Result<Sent, Errno> {
    while *sent < bytes.len() {
        match send_some(&socket, &bytes[*sent..], flags)? {
            0 => return Ok(Sent::Full),
            n => *sent += n,
        }
    }
    Ok(Sent::All)
}

/// Makes a blocking socket non-blocking while `send` runs: sendfile(2) has no flag for that.
fn without_waiting<T>(socket: &OwnedFd, send: impl FnOnce() -> T) -> T {
    let _ = fcntl_setfl(socket, OFlags::NONBLOCK);
    let result = send();
    let _ = fcntl_setfl(socket, OFlags::empty());
    result
}
