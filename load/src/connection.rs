//! One connection of the load: where it stands, and the requests on it. No buffer of its own.

use crate::check::Check;
use std::collections::VecDeque;
use wire::ResponseParser;

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Not open. It is opened when a request needs it, not before: a connection that says nothing
    /// would block a server that handles one at a time.
    Closed,
    /// Waits for its turn to be opened, where connections are opened at a rate.
    Queued,
    /// On its way, with requests waiting for it.
    Connecting,
    /// Open, and the TLS handshake is under way.
    Securing,
    /// Open for requests.
    Open,
    /// The last answer is whole and the server has said that it will close: it goes first, so that its
    /// side, not ours, keeps the port busy afterwards.
    Draining,
}

/// A request that was begun and has no whole answer yet. Times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// When it was due (open load) or sent (closed load).
    pub due_ns: u64,
    /// When it was sent; 0: not yet.
    pub sent_ns: u64,
    /// Which of the plan's requests it is.
    pub ask: u32,
}

/// A connection and the requests on it.
#[derive(Debug)]
pub struct Connection {
    /// Where it stands.
    pub phase: Phase,
    /// Since when it stands there, or is free.
    pub since_ns: u64,
    /// When it was last begun.
    pub began_ns: u64,
    /// Its place among all that were begun; the worker's index is in the upper half.
    pub number: u64,
    /// When it was open and its handshake over; 0: not yet.
    pub opened_ns: u64,
    /// The requests on it, the oldest first; answers come in this order.
    pub flights: VecDeque<Flight>,
    /// How many of them, the last ones, are not sent yet.
    pub unsent: usize,
    /// When the first bytes of the oldest one's answer came; 0: not yet.
    pub first_byte_ns: u64,
    /// Reads the answers.
    pub parser: ResponseParser,
    /// Judges the answer.
    pub check: Check,
    /// Requests begun on the connection as it is now open.
    pub asked: usize,
    /// Whole answers on the connection as it is now open.
    pub answered: usize,
    /// Whole answers within the window, over all times that it was opened.
    pub served: u64,
    /// Open load: it stands in the line of those with room for a request.
    pub is_in_line: bool,
    /// Closed load: it was answered and has not thought about it yet, however the connection fares meanwhile.
    pub has_to_think: bool,
    /// Closed load: it waits before it asks again.
    pub is_thinking: bool,
}

impl Connection {
    /// Not yet open, with room for so many requests at once.
    pub fn new(pipeline: usize, has_digest: bool) -> Self {
        Self {
            phase: Phase::Closed,
            since_ns: 0,
            began_ns: 0,
            number: 0,
            opened_ns: 0,
            flights: VecDeque::with_capacity(pipeline),
            unsent: 0,
            first_byte_ns: 0,
            parser: ResponseParser::new(),
            check: Check::new(has_digest),
            asked: 0,
            answered: 0,
            served: 0,
            is_in_line: false,
            has_to_think: false,
            is_thinking: false,
        }
    }

    /// Requests on their way.
    pub fn in_flight(&self) -> usize {
        self.flights.len() - self.unsent
    }

    /// As it is when it has just been closed; what was on it is gone.
    pub fn reset(&mut self) {
        self.phase = Phase::Closed;
        self.opened_ns = 0;
        self.flights.clear();
        self.unsent = 0;
        self.first_byte_ns = 0;
        self.parser = ResponseParser::new();
        self.check.clear();
        self.asked = 0;
        self.answered = 0;
    }
}

/// How many of them are open.
pub fn open(connections: &[Connection]) -> u64 {
    let is_open = |c: &&Connection| matches!(c.phase, Phase::Open | Phase::Draining);
    connections.iter().filter(is_open).count() as u64
}
