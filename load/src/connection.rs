//! One connection of the load: where its request stands. No buffer of its own.

use crate::check::Check;
use model::Expect;
use wire::ResponseParser;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not open. It is opened when a request needs it, not before: a connection that says nothing
    /// would block a server that handles one at a time.
    Closed,
    /// On its way, with a request waiting for it.
    Connecting,
    /// Open and free.
    Idle,
    /// A request is on its way and the answer is not whole.
    Waiting,
    /// The last answer is whole and the server has said that it will close: it goes first, so that its
    /// side, not ours, keeps the port busy afterwards.
    Draining,
}

/// A connection and the request on it. Times are nanoseconds of the monotonic clock.
#[derive(Debug)]
pub struct Connection {
    /// Where it stands.
    pub phase: Phase,
    /// Since when it stands there (`Connecting`, `Idle`, `Draining`).
    pub since_ns: u64,
    /// When the request was due (open load) or sent (closed load).
    pub due_ns: u64,
    /// When the request was sent.
    pub sent_ns: u64,
    /// When the answer's first bytes came; 0: not yet.
    pub first_byte_ns: u64,
    /// Reads the answers.
    pub parser: ResponseParser,
    /// Judges the answer.
    pub check: Check,
    /// Requests on the connection as it is now open.
    pub asked: usize,
    /// Whole answers within the window, over all times that it was opened.
    pub served: u64,
}

impl Connection {
    /// Not yet open.
    pub fn new(expect: &Expect) -> Self {
        Self {
            phase: Phase::Closed,
            since_ns: 0,
            due_ns: 0,
            sent_ns: 0,
            first_byte_ns: 0,
            parser: ResponseParser::new(),
            check: Check::new(expect),
            asked: 0,
            served: 0,
        }
    }

    /// As it is when it has just been closed.
    pub fn reset(&mut self) {
        self.phase = Phase::Closed;
        self.parser = ResponseParser::new();
        self.asked = 0;
    }
}
