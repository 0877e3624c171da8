//! One connection of the ring: what it waits for, what it still has to send, and what happens to it then. Each is one
//! value, so that no two of them can contradict each other.

use super::entries::Op;
use super::outbox::Parcel;
use crate::Slot;
use crate::unsent::{More, Unsent};
use crate::wanted::Wanted;
use std::os::fd::OwnedFd;

/// A connection, or a place for one.
#[derive(Default)]
pub struct Connection {
    /// The socket; `None`: the connection is closed.
    pub socket: Option<OwnedFd>,
    /// Distinguishes a slot's connections, so that a completion of a closed one is not taken for its successor's.
    pub generation: u32,
    pub place: Place,
    pub receiving: Receiving,
    pub wanted: Wanted,
    pub sending: Sending,
    pub then: Then,
}

/// What it waits for in the kernel, to be opened or to receive bytes: one operation at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receiving {
    /// It waits for nothing: it is closed, or has ended or failed.
    #[default]
    Off,
    /// It waits to be opened.
    Connecting,
    /// It waits for bytes, requested as `Op` says.
    Armed(Op),
    /// It is `Armed` and was told to stop: bytes are to be received in another way from then on.
    Stopping,
    /// It waits for nothing while its last bytes are read, which decides how the next ones are requested.
    Due,
}

/// The part of the handed-over bytes that is still here.
#[derive(Debug)]
pub enum Sending {
    /// None, provided that the kernel takes the last parcel (the bytes of one send) whole.
    Clear(Parcel),
    /// Bytes after a parcel of the same turn, which leave when it is known that the kernel took that parcel whole.
    Behind(Parcel, Box<Unsent>),
    /// Bytes for which the kernel had no room: a poll waits for it.
    Blocked(Box<Unsent>),
}

/// What happens to a connection when everything has been sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    #[default]
    GoOn,
    /// The end is announced to the peer.
    ShutDown,
    /// It is closed; no further completion of it is returned.
    Close,
}

/// Whether a connection has a place in the ring's own table of files, which spares a look-up per send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Nothing was sent: the connection may not last.
    #[default]
    Unknown,
    /// One send was made: with the next one a place is worth its price.
    SentOnce,
    Taken,
    /// The table is full.
    Refused,
}

/// A particular connection of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Of {
    pub slot: Slot,
    pub generation: u32,
}

/// Connections with bytes to send, or to close, once it is known whether the sends of a turn were taken whole. The kernel tells of those that
/// were not before the next turn ends.
#[derive(Default)]
pub struct AfterSends {
    of_this_turn: Vec<Of>,
    of_last_turn: Vec<Of>,
}

impl AfterSends {
    /// Lets a connection wait for what becomes of this turn's sends.
    pub fn wait(&mut self, of: Of) {
        self.of_this_turn.push(of);
    }

    /// Whether connections wait for nothing more, because they waited for the last turn's sends.
    pub fn has_known(&self) -> bool {
        !self.of_last_turn.is_empty()
    }

    /// Takes one of those.
    pub fn take_known(&mut self) -> Option<Of> {
        self.of_last_turn.pop()
    }

    /// Ends the turn, when all of those are taken.
    pub fn end_turn(&mut self) {
        std::mem::swap(&mut self.of_this_turn, &mut self.of_last_turn);
    }
}

impl Receiving {
    /// What waits in the kernel. A receive that was told to stop is no longer there, or soon will not be.
    pub fn waits(self) -> Option<Op> {
        match self {
            Self::Connecting => Some(Op::Connect),
            Self::Armed(op) => Some(op),
            Self::Off | Self::Stopping | Self::Due => None,
        }
    }
}

impl Default for Sending {
    fn default() -> Self {
        Self::Clear(Parcel::default())
    }
}

impl Sending {
    /// Whether more bytes have to wait behind some that the kernel may not have taken.
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
            unsent.push(more);
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

    /// The number of bytes that wait.
    pub fn unsent(&self) -> u64 {
        match self {
            Self::Clear(_) => 0,
            Self::Behind(_, unsent) | Self::Blocked(unsent) => unsent.bytes(),
        }
    }

    /// Takes what waits, in the order in which it was handed over.
    pub fn take(&mut self) -> Unsent {
        match std::mem::take(self) {
            Self::Clear(_) => Unsent::default(),
            Self::Behind(_, unsent) | Self::Blocked(unsent) => *unsent,
        }
    }
}

impl Connection {
    /// Whether its completions are the caller's.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.socket.is_some() && self.then != Then::Close
    }

    /// Whether nothing is left of a closed connection.
    pub fn is_consistent(&self) -> bool {
        let is_off = self.receiving == Receiving::Off;
        let is_clear = matches!(self.sending, Sending::Clear(_));
        self.socket.is_some() || (is_off && is_clear && self.then == Then::GoOn)
    }
}
