//! One connection of the ring: what it waits for, what it still has to send, and what becomes of it then. Each is
//! one value, so that no two of them can contradict each other.

use super::entries::Op;
use super::outbox::Parcel;
use crate::Slot;
use crate::unsent::{FilePiece, Unsent};
use crate::wanted::Wanted;
use std::os::fd::OwnedFd;

/// A connection, or the place of one.
#[derive(Default)]
pub struct Connection {
    /// None: it is closed.
    pub socket: Option<OwnedFd>,
    /// Tells a slot's connections apart, so that a completion of a closed one is not taken for its successor's.
    pub generation: u32,
    pub place: Place,
    pub receiving: Receiving,
    pub wanted: Wanted,
    pub sending: Sending,
    pub then: Then,
}

/// What it waits for in the kernel to be opened or to bring bytes: one operation at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receiving {
    /// For nothing: it is closed, or has ended or failed.
    #[default]
    Off,
    /// To be opened.
    Connecting,
    /// For bytes, asked for as `Op` says.
    Armed(Op),
    /// As `Armed`, but it was told to stop: bytes are to be received otherwise from then on.
    Stopping,
    /// For nothing while its last bytes are looked at: that decides how the next ones are asked for.
    Due,
}

/// What of the bytes that were handed over is still here.
#[derive(Debug)]
pub enum Sending {
    /// None, should the kernel take the last parcel whole.
    Clear(Parcel),
    /// What came after a parcel of the same turn: it leaves when it is known that the kernel took that one whole.
    Behind(Parcel, Box<Unsent>),
    /// What the kernel had no room for: a poll waits for it to have some.
    Blocked(Box<Unsent>),
}

/// What becomes of a connection when all that was to be sent is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    #[default]
    GoOn,
    /// The peer is told that this is the end.
    ShutDown,
    /// It is closed; nothing of it is told any more.
    Close,
}

/// Whether a connection has a place in the ring's own table of files, which spares a look-up a send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nothing was sent: it may not last.
    #[default]
    Unknown,
    /// One send: the next makes a place worth its price.
    SentOnce,
    Taken,
    /// The table is full.
    Refused,
}

/// One of a slot's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Of {
    pub slot: Slot,
    pub generation: u32,
}

impl Default for Sending {
    fn default() -> Self {
        Self::Clear(Parcel::default())
    }
}

/// Bytes, or a piece of a file.
pub enum More<'b> {
    Bytes(&'b [u8]),
    File(FilePiece),
}

impl Sending {
    /// More bytes have to wait behind some that the kernel may not have taken.
    #[inline]
    pub fn is_behind(&self, turn: u64) -> bool {
        match self {
            Self::Clear(parcel) => parcel.is_of(turn),
            Self::Behind(..) | Self::Blocked(_) => true,
        }
    }

    /// Lets `more` wait behind what waits already. True: it is the first that waits behind a parcel.
    pub fn wait(&mut self, more: More<'_>) -> bool {
        let is_first = matches!(self, Self::Clear(_));
        if let Self::Clear(parcel) = *self {
            *self = Self::Behind(parcel, Box::default());
        }
        if let Self::Behind(_, unsent) | Self::Blocked(unsent) = self {
            match more {
                More::Bytes(bytes) => unsent.push_bytes(bytes),
                More::File(piece) => unsent.push_file(piece),
            }
        }
        is_first
    }

    /// The parcel of which the kernel may not have taken all.
    pub fn parcel(&self) -> Parcel {
        match self {
            Self::Clear(parcel) | Self::Behind(parcel, _) => *parcel,
            Self::Blocked(_) => Parcel::default(),
        }
    }

    /// Takes what waits, in the order in which it was handed over; nothing waits then.
    pub fn take(&mut self) -> Unsent {
        match std::mem::take(self) {
            Self::Clear(_) => Unsent::default(),
            Self::Behind(_, unsent) | Self::Blocked(unsent) => *unsent,
        }
    }
}

impl Connection {
    /// Its completions are the caller's.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.socket.is_some() && self.then != Then::Close
    }

    /// Nothing of a closed connection is left.
    pub fn is_consistent(&self) -> bool {
        let is_off = self.receiving == Receiving::Off;
        let is_clear = matches!(self.sending, Sending::Clear(_));
        self.socket.is_some() || (is_off && is_clear && self.then == Then::GoOn)
    }
}
